//===- AllRanks.h - A program for every rank --------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_PLAN_ALLRANKS_H
#define COIL_RUNTIME_PLAN_ALLRANKS_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

namespace coil {

/// Operations of all ranks and variants together that a plan may have to be run.
inline constexpr uint64_t maxOperationsOfAllRanks = uint64_t(1) << 25;

/// The same plan without symmetry: channels for all their images, and a program for every
/// rank. Fails with Unsupported if it has more than maxOperationsOfAllRanks operations.
Result<Plan> withAllRanks(const Plan &plan);

} // namespace coil

#endif // COIL_RUNTIME_PLAN_ALLRANKS_H
