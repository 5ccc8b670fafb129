//===- Reader.h - What all readers of topologies share ----------*- C++ -*-===//
//
// A reader is total: for any text it gives a topology or reports at least one error that
// says where, what was expected and what was found. What is odd but usable is a warning.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_READER_H
#define COIL_COMPILER_TOPOLOGY_READER_H

#include "compiler/frontend/Diagnostics.h"
#include "compiler/topology/Json.h"
#include "compiler/topology/Topology.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace coil::topology {

struct ReadResult {
  Topology topology;
  /// What the source itself says, before anything is made of it: an object whose `kind` names the
  /// format.
  Json facts = Json::object();
};

/// Reports about one file, and keeps the number of warnings within reason.
class Reporter {
public:
  static constexpr size_t maxWarnings = 100;

  Reporter(const SourceFile &file, DiagnosticEngine &diagnostics)
      : file(file), diagnostics(diagnostics) {}

  template <typename... Args>
  void error(SourceRange range, fmt::format_string<Args...> format, Args &&...args) {
    diagnostics.error(range, format, std::forward<Args>(args)...);
    failed = true;
  }
  template <typename... Args>
  void warning(SourceRange range, fmt::format_string<Args...> format, Args &&...args) {
    if (++warnings <= maxWarnings)
      diagnostics.warning(range, format, std::forward<Args>(args)...);
    else if (warnings == maxWarnings + 1)
      diagnostics.warning({&file}, "too many warnings; the first {} are shown", maxWarnings);
  }

  bool hasFailed() const { return failed; }
  const SourceFile &source() const { return file; }
  SourceRange range(size_t begin, size_t end) const {
    return {&file, uint32_t(begin), uint32_t(end)};
  }
  /// The file as a whole.
  SourceRange whole() const { return {&file, 0, 0}; }
  uint32_t lineOf(SourceRange range) const { return file.position(range.begin).line; }

private:
  const SourceFile &file;
  DiagnosticEngine &diagnostics;
  size_t warnings = 0;
  bool failed = false;
};

/// A text of unknown origin as a message or a name can show it: without control characters, and
/// not longer than `most` bytes.
std::string shown(std::string_view text, size_t most = 60);

/// A whole number within bounds that is all of a text, blanks around it aside; hexadecimal after
/// "0x".
std::optional<int64_t> wholeNumber(std::string_view text, int64_t least, int64_t most);
/// A finite number in plain or scientific notation that is all of a text.
std::optional<double> realNumber(std::string_view text);
std::string_view trimmed(std::string_view text);
std::string lowerCase(std::string_view text);

/// Makes the names of a graph's vertices unique: "nic", "nic#2", "nic#3".
class Names {
public:
  std::string unique(std::string_view name);

private:
  std::set<std::string> taken;
  std::map<std::string, uint32_t> next;
};

/// A PCI bus id in one form: lower case, its domain of 4 digits or as many as it needs. Texts that
/// are no bus ids are only lowered.
std::string normalBusId(std::string_view text);
/// Whether a text in normal form is domain:bus:device.function or domain:bus:device.
bool isBusId(std::string_view text);

/// A list of processors such as "0-19,40-59", from a mask in groups of 32 bits, most significant
/// first, as "fffff,00000fff". Nothing if the text is no mask.
std::optional<std::string> processorsOfMask(std::string_view mask);
/// The mask of a list; empty if the text is no list.
std::string maskOfProcessors(std::string_view list);
/// The ranges of a list, in ascending order; nothing if the text is no list.
std::optional<std::vector<std::pair<uint32_t, uint32_t>>> rangesOfList(std::string_view list);
/// Whether two lists share a processor; false if one of them is no list.
bool listsOverlap(std::string_view a, std::string_view b);

/// Links all CPUs of a machine with each other.
void connectSockets(Graph &graph);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_READER_H
