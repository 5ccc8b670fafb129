//===- ExecText.h - Rank programs as short texts for tests ------*- C++ -*-===//
//
//   plan allreduce ranks 2 chunks 1 transport staged scratch 1 1
//   channel c0 from 0 to 1 slots 2          ends are RANK or RANK:WORKER
//   rank 0                                  or rank 0 worker 1
//     push input[0] -> @c0
//     pop_reduce input[0], @c1 -> output[0] complete
//
// `prologue`, `tiles` (where a worker begins) and `epilogue` switch sections; the
// plan line may say `in_place` and `root 1`; places of peers are `input[0]@1`;
// operations may say `length 1`, by default that of the first user buffer's chunk.
// Locations are line numbers, the plan line being 1 and the variant's location.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_UNIT_SEMANTICS_EXECTEXT_H
#define COIL_TEST_UNIT_SEMANTICS_EXECTEXT_H

#include "compiler/schedule/ExecProgram.h"

#include <string>
#include <string_view>

namespace coil {

/// The plan with its one variant. Empty lines at the beginning do not count.
ExecPlan parseExec(std::string_view text);

/// The text of a plan's first variant, as parseExec reads it.
std::string printExec(const ExecPlan &plan);

} // namespace coil

#endif // COIL_TEST_UNIT_SEMANTICS_EXECTEXT_H
