//===- PlanJson.h - Plans for programs to read ------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_PLAN_PLANJSON_H
#define COIL_TOOLS_COIL_PLAN_PLANJSON_H

#include "runtime/plan/Plan.h"

#include <cstddef>
#include <optional>
#include <string>

namespace coil {

/// A JSON object with the fields of plan.fbs under their names, and besides:
/// "format_version"; "digest", a string of 16 hexadecimal digits; each variant's
/// "number"; and in an operation its "operands" themselves instead of the run,
/// and only the fields that it uses. Holds all variants, or the one asked for.
/// Wants a plan that validatePlan accepts.
std::string planJson(const Plan &plan, std::optional<size_t> onlyVariant = std::nullopt);

} // namespace coil

#endif // COIL_TOOLS_COIL_PLAN_PLANJSON_H
