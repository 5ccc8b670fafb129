//===- Phases.h - The phases of compilation, by name ------------*- C++ -*-===//
//
// The table of contents of the compiler. Each phase is a form that a program can
// be seen in (coilc --emit=NAME), and a point where compilation may begin or end.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_PIPELINE_PHASES_H
#define COIL_COMPILER_PIPELINE_PHASES_H

#include <optional>
#include <span>
#include <string_view>

namespace coil {

enum class Phase {
  Ast,     ///< the checked tree of the program's text
  Coil,    ///< the coil dialect, for any number of ranks
  Matched, ///< the exec dialect with matched sends and receives
  Exec,    ///< the exec dialect with transports fixed, proved
  Plan,    ///< the plan file
};

struct PhaseFacts {
  Phase phase;
  std::string_view name;
  /// One sentence for --help.
  std::string_view summary;
};

/// All phases, in their order.
std::span<const PhaseFacts> allPhases();
std::string_view nameOf(Phase phase);
std::optional<Phase> parsePhase(std::string_view name);

} // namespace coil

#endif // COIL_COMPILER_PIPELINE_PHASES_H
