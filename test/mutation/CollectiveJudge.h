//===- CollectiveJudge.h - Tries an algorithm out ---------------*- C++ -*-===//
//
// A second opinion on verifyCollective that shares no idea, and no code, with it: it executes the
// statements one after another as docs/language.md says, on places that hold how often each input
// chunk was combined into them.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_MUTATION_COLLECTIVEJUDGE_H
#define COIL_TEST_MUTATION_COLLECTIVEJUDGE_H

#include "compiler/semantics/Instance.h"

#include <optional>
#include <string>
#include <vector>

namespace coil {

/// What is wrong, and at which statement; in the end, at none.
struct CollectiveFault {
  std::string message;
  std::optional<size_t> statement;
};

/// All that is wrong with the instance: of its statements if any of these is wrong, else of what
/// its outputs end with. The value of a wrong statement is unknown, and nothing is said about what
/// is made of it.
std::vector<CollectiveFault> judgeCollective(const Instance &instance);

} // namespace coil

#endif // COIL_TEST_MUTATION_COLLECTIVEJUDGE_H
