//===- ExecJudge.h - Tries a program out ------------------------*- C++ -*-===//
//
// A second opinion on verifyExec that shares no idea with it: it runs several
// tiles and calls on memory whose chunks say which inputs of which tile and call
// they hold, and finds what nothing orders by holding one operation back while
// all others run on. It takes quadratic time, for small programs.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_UNIT_SEMANTICS_EXECJUDGE_H
#define COIL_TEST_UNIT_SEMANTICS_EXECJUDGE_H

#include "compiler/schedule/ExecProgram.h"

#include <optional>
#include <string>

namespace coil {

/// Why the plan's first variant is wrong, if it is. Knows the collectives of
/// rightPrograms().
std::optional<std::string> judgeExec(const ExecPlan &plan, int tiles, int calls);

} // namespace coil

#endif // COIL_TEST_UNIT_SEMANTICS_EXECJUDGE_H
