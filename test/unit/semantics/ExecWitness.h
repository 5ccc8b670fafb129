//===- ExecWitness.h - Runs that show what a finding says -------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_SEMANTICS_EXECWITNESS_H
#define COIL_TEST_UNIT_SEMANTICS_EXECWITNESS_H

#include "compiler/semantics/Findings.h"
#include "test/unit/semantics/ExecTrial.h"

namespace coil {

/// Gives every operation of the plan's first variant a location of its own, from 1 on, so that a
/// finding names operations; all else gets location 0.
void numberOperations(ExecPlan &plan);

/// Takes the finding, of verifyExec about the plan's first variant with its operations numbered, as
/// the description of a run, and runs it: of a race both orders of the two accesses, of a deadlock
/// a run that stops where the cycle says, of an access outside the call one before the owner enters
/// or after it leaves, of a wrong value one that comes to it. Returns what could not be shown.
std::optional<std::string> replay(const ExecPlan &plan, const Finding &finding, int tiles,
                                  int calls);

} // namespace coil

#endif // COIL_TEST_UNIT_SEMANTICS_EXECWITNESS_H
