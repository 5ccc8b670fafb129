//===- PlanText.h - Plans for people to read --------------------*- C++ -*-===//
//
// All functions want a plan that validatePlan accepts.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TOOLS_COIL_PLAN_PLANTEXT_H
#define COIL_TOOLS_COIL_PLAN_PLANTEXT_H

#include "runtime/plan/Plan.h"

#include <cstddef>
#include <optional>
#include <string>

namespace coil {

/// The whole plan, or one variant of it, in the exec dialect's words: an
/// operation a line, with the source location that it comes from. Places are on
/// the program's own rank unless they say "on R"; "c3" is the variant's channel 3.
std::string planText(const Plan &plan, std::optional<size_t> onlyVariant = std::nullopt);

/// Name, sizes, digest, and a line a variant.
std::string planInfo(const Plan &plan);

/// One line: what the plan is for, how big it is, its digest.
std::string planSummary(const Plan &plan);

} // namespace coil

#endif // COIL_TOOLS_COIL_PLAN_PLANTEXT_H
