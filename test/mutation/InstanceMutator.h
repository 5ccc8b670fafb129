//===- InstanceMutator.h - Statements broken at random ----------*- C++ -*-===//

#ifndef COIL_TEST_MUTATION_INSTANCEMUTATOR_H
#define COIL_TEST_MUTATION_INSTANCEMUTATOR_H

#include "compiler/semantics/Instance.h"

#include <random>

namespace coil {

enum class InstanceMutation : uint8_t {
  Drop,
  Duplicate,
  Swap,
  Move,
  RetargetRank,
  RetargetChunk,
  ChangeBuffer,
  ChangeVerb,
  DropOperand,
  DuplicateOperand,
  ChangeExchange, ///< a statement leaves an exchange, or two become one
};
inline constexpr int numInstanceMutations = 11;
const char *nameOf(InstanceMutation mutation);

/// Changes something in the instance, at random. Ranks stay in range, and scratch within what there
/// is, as expansion promises. Each statement gets its number, from 1 on, as its location. False if
/// the instance has nothing of the kind.
bool mutate(Instance &instance, InstanceMutation mutation, std::mt19937 &random);

/// A statement a line, with all that decides what it means.
std::string printInstance(const Instance &instance);

} // namespace coil

#endif // COIL_TEST_MUTATION_INSTANCEMUTATOR_H
