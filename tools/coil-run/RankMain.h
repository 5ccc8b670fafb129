//===- RankMain.h - What one rank does --------------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_RANKMAIN_H
#define COIL_TOOLS_COIL_RUN_RANKMAIN_H

#include "tools/coil-run/Board.h"
#include "tools/coil-run/Job.h"

namespace coil::run {

/// Runs all rows of the job as rank `rank`, using nothing of Coil but its C API,
/// and leaves the outcomes on the board. False if the rank failed, of which it has
/// then told standard error and the board.
bool runRank(const Job &job, Board &board, int rank);

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_RANKMAIN_H
