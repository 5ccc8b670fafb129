//===- ExecJudge.h - Tries a program out ------------------------*- C++ -*-===//
//
// A second opinion on verifyExec that shares no idea with it: it runs several tiles and calls of
// a program, and finds what nothing orders by holding one operation back while all others run on.
// For small programs a third one goes through every state that any run can reach.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_UNIT_SEMANTICS_EXECJUDGE_H
#define COIL_TEST_UNIT_SEMANTICS_EXECJUDGE_H

#include "test/unit/semantics/ExecTrial.h"

#include <random>

namespace coil {

/// Why the plan's first variant is wrong, if it is. Takes quadratic time.
std::optional<std::string> judgeExec(const ExecPlan &plan, int tiles, int calls);

/// The same opinion from one run in each of `runs` random orders: what it says against a program
/// is true, but it may miss a fault.
std::optional<std::string> sampleExec(const ExecPlan &plan, int tiles, int calls, int runs,
                                      std::mt19937 &random);

struct Exploration {
  /// False if there were more states than was allowed; nothing is known then.
  bool isComplete = false;
  std::optional<std::string> complaint;
};

/// The same opinion from all states that all runs reach, if they are no more than `mostStates`: in
/// none may two conflicting accesses both be next, and from each the end must be reached.
Exploration exploreExec(const ExecPlan &plan, int tiles, int calls, size_t mostStates);

/// True if the two events access one chunk of memory and one of them writes it.
bool doConflict(const TrialEvent &a, const TrialEvent &b);

} // namespace coil

#endif // COIL_TEST_UNIT_SEMANTICS_EXECJUDGE_H
