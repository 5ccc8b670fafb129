//===- PlanSource.h - A plan from a program or a plan file ------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_PLANSOURCE_H
#define COIL_TOOLS_COIL_RUN_PLANSOURCE_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"
#include "tools/coil-run/Options.h"

#include <optional>

namespace coil::run {

/// Reads the plan that `options.file` holds, or compiles the program that it
/// holds; which of the two it is, the first bytes tell. InvalidArgument: the
/// options do not fit the file. None: the program has errors, which were written
/// to standard error.
Result<std::optional<Plan>> obtainPlan(const Options &options);

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_PLANSOURCE_H
