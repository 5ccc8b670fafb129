//===- ProgramReader.h - From a program's text to what it means -*- C++ -*-===//

#ifndef COIL_TEST_MUTATION_PROGRAMREADER_H
#define COIL_TEST_MUTATION_PROGRAMREADER_H

#include "compiler/schedule/ExecProgram.h"
#include "compiler/semantics/CollectiveVerifier.h"
#include "compiler/semantics/Expand.h"

#include <mlir/IR/MLIRContext.h>
#include <optional>
#include <string>
#include <vector>

namespace coil {

class ProgramReader {
public:
  ProgramReader(const ProgramReader &) = delete;
  ProgramReader &operator=(const ProgramReader &) = delete;
  ~ProgramReader();
  ProgramReader();

  /// The instance of the one algorithm in a text, its statements numbered from 1 on by their
  /// locations. None if the compiler refuses the text before it proves anything; refusal() then
  /// says why. Files that it imports are looked for in the folder.
  std::optional<Instance> read(const std::string &text, const std::string &folder,
                               const InstanceRequest &request);
  const std::string &refusal() const { return refused; }

private:
  /// Where the text lies for the frontend, which reads files.
  std::string path;
  mlir::MLIRContext context;
  std::string refused;
};

/// What the compiler makes of a proved instance: a plan of one variant for each form (out of place
/// and in place where there are both), over p2p, and staged over channels of 1 and of 4 slots. Of
/// programs that cannot be lowered, `refusal` is set.
std::vector<ExecPlan> lowerInstance(const Instance &instance, const CollectiveProof &proof,
                                    std::string &refusal);

} // namespace coil

#endif // COIL_TEST_MUTATION_PROGRAMREADER_H
