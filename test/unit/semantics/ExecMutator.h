//===- ExecMutator.h - Rank programs broken at random -----------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_SEMANTICS_EXECMUTATOR_H
#define COIL_TEST_UNIT_SEMANTICS_EXECMUTATOR_H

#include "compiler/schedule/ExecProgram.h"

#include <random>

namespace coil {

enum class ExecMutation : uint8_t {
  DropSignal,
  DropWait,
  DropAccess,
  DropBarrier, ///< or a meeting
  DropPair,    ///< a signal with its wait, or a barrier of each worker
  DropOperand,
  DuplicateSignal, ///< or a wait, a barrier, a meeting
  DuplicateAccess,
  MoveSignal, ///< or a barrier, a meeting
  MoveWait,
  MoveAccess,
  Swap, ///< two neighbours
  ChangeChannel,
  ChangePlace,
  ChangeCompletion, ///< or whom a rank meets
  ChangeSlots,
};
inline constexpr int numExecMutations = 16;
const char *nameOf(ExecMutation mutation);

/// Changes something in the plan's first variant, at random. The result is still what the
/// dialect's verifiers accept: bounds, the ends of channels and the operations of a transport stay.
/// False if the program has nothing of the kind; it is unchanged then.
bool mutate(ExecPlan &plan, ExecMutation mutation, std::mt19937 &random);

} // namespace coil

#endif // COIL_TEST_UNIT_SEMANTICS_EXECMUTATOR_H
