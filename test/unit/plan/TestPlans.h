//===- TestPlans.h - Small plans made by hand -------------------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_PLAN_TESTPLANS_H
#define COIL_TEST_UNIT_PLAN_TESTPLANS_H

#include "runtime/plan/Plan.h"

#include <initializer_list>
#include <utility>

namespace coil {

PlanOperand inputOf(uint32_t rank, uint32_t index);
PlanOperand outputOf(uint32_t rank, uint32_t index);
PlanOperand scratchOf(uint32_t rank, uint32_t index);
PlanOperand slotOf(uint32_t rank, uint32_t channel);

/// An operation that moves data, appended to one of `worker`'s sections with its
/// operands.
PlanOp &addMove(PlanWorker &worker, std::vector<PlanOp> &section, OpKind kind, uint32_t length,
                std::initializer_list<PlanOperand> operands, PlanOperand destination = {});
/// A Signal or Wait.
PlanOp &addSync(std::vector<PlanOp> &section, OpKind kind, uint32_t channel);
PlanOp &addMeet(PlanWorker &worker, std::initializer_list<uint32_t> ranks);
PlanOp &addBarrier(std::vector<PlanOp> &section);

/// All-reduce of 2 ranks through peers' memory: each reduces one half and gets
/// the other.
Plan directAllReduce();

/// All-reduce of 2 ranks through FIFOs: both push all and combine.
Plan stagedAllReduce();

/// Broadcast of 3 ranks along a chain, for the roots 0 and 1.
Plan chainBroadcast();

/// All-reduce of 2 ranks that has every kind of operation: variant 0 is p2p with
/// two workers a rank, variant 1 staged.
Plan everyOperation();

/// A contract of 2 ranks' own: input segment 1 of rank 1 goes to output segment 2 of
/// rank 0, and the sum of both ranks' segments 0 to output segment 0 of rank 1.
Plan ownContract();

/// All-reduce of 3 ranks along a ring, staged and through peers' memory: the program of
/// rank 0, which stands for all.
Plan symmetricRing();

/// The above with a name for each.
std::vector<std::pair<const char *, Plan>> allTestPlans();

} // namespace coil

#endif // COIL_TEST_UNIT_PLAN_TESTPLANS_H
