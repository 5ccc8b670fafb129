//===- PlanWriter.h - Writing plan files ------------------------*- C++ -*-===//
//
// The counterpart of runtime/plan/PlanFile.h, which only compilers need.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TARGET_PLAN_PLANWRITER_H
#define COIL_COMPILER_TARGET_PLAN_PLANWRITER_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <cstdint>
#include <vector>

namespace coil {

/// The bytes of a plan file, which are a function of the plan alone (but not of
/// `plan.digest`, which readers compute). Fails with InvalidPlan on what
/// validatePlan refuses, so that no plan is written that cannot be read, and
/// with Unsupported where the plan exceeds the format's 2 GiB.
Result<std::vector<uint8_t>> writePlan(const Plan &plan);

/// Stores equal programs of a variant once, numbered in the order of the first
/// kind of ranks that runs each, and drops programs that none runs. Requires every
/// entry of `programOfKind` to be in bounds.
void shareEqualPrograms(PlanVariant &variant);

} // namespace coil

#endif // COIL_COMPILER_TARGET_PLAN_PLANWRITER_H
