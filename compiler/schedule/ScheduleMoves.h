//===- ScheduleMoves.h - Moves into an order for each rank ------*- C++ -*-===//

#ifndef COIL_COMPILER_SCHEDULE_SCHEDULEMOVES_H
#define COIL_COMPILER_SCHEDULE_SCHEDULEMOVES_H

#include "compiler/schedule/Moves.h"
#include "compiler/semantics/Collectives.h"

namespace coil {

/// Orders moves into the workers of each rank, with matched sends and receives over
/// one channel a worker and pair of ranks (more where one move takes several messages
/// from one rank).
///
/// Moves go into *steps*: a move stands one step after the writes that it reads
/// or overwrites, so that what is independent runs in the same step on all ranks, and
/// no two messages of one channel stand in one step, so that what is cut into slices
/// goes on slice by slice. In a step all sends of a rank come before its receives.
/// Messages of one channel that an exchange block puts into one step are spread over
/// *rounds* of the step, one a round. Every wait is then for something of an earlier
/// round, or of an earlier half of the same one, whatever the number of slots of a
/// channel: no deadlock.
ExecVariant scheduleMoves(const CollectiveShape &shape, MoveProgram program, bool inPlace);

} // namespace coil

#endif // COIL_COMPILER_SCHEDULE_SCHEDULEMOVES_H
