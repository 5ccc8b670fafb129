//===- Phases.cpp - The phases of compilation, by name --------------------===//

#include "compiler/pipeline/Phases.h"

#include <array>

namespace coil {

static constexpr std::array<PhaseFacts, 5> phases{{
    {Phase::Ast, "ast", "the checked tree of the program's text"},
    {Phase::Coil, "coil", "the coil dialect: the program for any number of ranks"},
    {Phase::Matched, "matched", "the exec dialect: rank programs with matched sends and receives"},
    {Phase::Exec, "exec", "the exec dialect with transports fixed, proved"},
    {Phase::Plan, "plan", "the plan file that the runtime executes"},
}};

std::span<const PhaseFacts> allPhases() { return phases; }

std::string_view nameOf(Phase phase) { return phases[static_cast<size_t>(phase)].name; }

std::optional<Phase> parsePhase(std::string_view name) {
  for (const PhaseFacts &facts : phases)
    if (facts.name == name)
      return facts.phase;
  return std::nullopt;
}

} // namespace coil
