//===- FunctionWriter.h - The function of one worker ------------*- C++ -*-===//

#ifndef COIL_RUNTIME_CODEGEN_FUNCTIONWRITER_H
#define COIL_RUNTIME_CODEGEN_FUNCTIONWRITER_H

#include "runtime/codegen/KernelForm.h"
#include "runtime/codegen/TextLines.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coil::codegen {

/// Writes the statements of a worker's function.
class FunctionWriter {
public:
  /// `locations` are the plan's, as comments show them ("ring.coil:17:7").
  explicit FunctionWriter(const std::vector<std::string> &locations) : locations(locations) {}

  /// The statements, from the function's first to its last, without indentation.
  TextLines write(const WorkerForm &worker);

private:
  /// Names for expressions in a block and those around it.
  using Names = std::vector<std::pair<std::string, std::string>>;

  void writeNodes(TextLines &lines, const std::vector<CallNode> &nodes, size_t indent);
  void writeLoop(TextLines &lines, const CallNode &loop, size_t indent);
  void writeCall(TextLines &lines, const CallForm &call, size_t indent);
  void writeLongReduce(TextLines &lines, const CallForm &call, size_t indent);
  void writeSelection(TextLines &lines, const std::vector<OperandForm> &operands, size_t indent);
  void writePlaces(TextLines &lines, const std::vector<OperandForm> &operands,
                   const std::string &position, size_t &next, size_t indent);
  void writeComment(TextLines &lines, uint32_t location, size_t indent);

  void nameRepeated(TextLines &lines, const CallForm &call, size_t indent);
  std::string text(const Number &number);
  std::string placeText(const PlaceForm &place);
  std::vector<std::string> operandTexts(const std::vector<OperandForm> &operands);

  const std::vector<std::string> &locations;
  std::vector<std::string> stepNames; ///< of the loops around, outermost first
  size_t callLoops = 0;               ///< of them, those that are not among operands
  Names names;
  std::optional<uint32_t> shownLocation;
  bool usesRank = false;
};

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_FUNCTIONWRITER_H
