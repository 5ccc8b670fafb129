//===- ExportPlan.h - From rank programs to a plan --------------*- C++ -*-===//

#ifndef COIL_COMPILER_TARGET_PLAN_EXPORTPLAN_H
#define COIL_COMPILER_TARGET_PLAN_EXPORTPLAN_H

#include "compiler/schedule/ExecProgram.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <vector>

namespace coil {

/// The plan of proved programs, all of whose variants have a transport;
/// `locations` is what their LocationIndex names. Fails with InvalidPlan on a
/// variant that is still matched, and with Unsupported where a number does not
/// fit in the format.
Result<Plan> exportPlan(const ExecPlan &programs, std::vector<PlanLocation> locations);

} // namespace coil

#endif // COIL_COMPILER_TARGET_PLAN_EXPORTPLAN_H
