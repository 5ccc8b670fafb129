//===- ExecVerifier.h - Proof of rank programs ------------------*- C++ -*-===//
//
// Proves a variant of an exec plan as it will run, transport fixed: no deadlock,
// no race, every message and signal matched, nothing accessed outside the call,
// and the collective's promise kept, for any number of tiles and calls.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_EXECVERIFIER_H
#define COIL_COMPILER_SEMANTICS_EXECVERIFIER_H

#include "compiler/schedule/ExecProgram.h"
#include "compiler/semantics/Findings.h"

#include <vector>

namespace coil {

/// Findings against `variant`, none if it is proved. Structure (bounds, channel
/// ends, operations of the transport) must have been checked by the dialect's
/// verifiers. A variant of a collective with one form is proved for calls in place
/// and out of place.
std::vector<Finding> verifyExec(const ExecPlan &plan, const ExecVariant &variant);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXECVERIFIER_H
