//===- LowerProtocol.h - Transports for matched programs --------*- C++ -*-===//

#ifndef COIL_COMPILER_SCHEDULE_LOWERPROTOCOL_H
#define COIL_COMPILER_SCHEDULE_LOWERPROTOCOL_H

#include "compiler/schedule/ExecProgram.h"
#include "compiler/semantics/Findings.h"

#include <optional>

namespace coil {

/// The matched variant over bounded FIFOs: each send becomes a push, each
/// receive a pop. A channel gets `slots` slots.
ExecVariant lowerToStaged(const ExecVariant &matched, int64_t slots);

/// The matched variant over peer memory. The receiving side reads from where the
/// value lies on the sending side; signals and waits are added where a
/// dependence between two workers is not yet ordered by others, and the
/// handshakes that keep every access inside the owner's call. Where the sender
/// overwrites the place at a time that the receiver's read cannot be ordered
/// before, the value is first copied to scratch.
///
/// None if the matched programs deadlock even with unbounded channels; the
/// finding then names an operation of the cycle.
std::optional<ExecVariant> lowerToP2P(const ExecPlan &plan, const ExecVariant &matched,
                                      Finding &deadlock);

} // namespace coil

#endif // COIL_COMPILER_SCHEDULE_LOWERPROTOCOL_H
