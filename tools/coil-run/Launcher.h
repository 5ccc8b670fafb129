//===- Launcher.h - Starts the ranks and watches over them ------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_LAUNCHER_H
#define COIL_TOOLS_COIL_RUN_LAUNCHER_H

#include "runtime/base/Status.h"
#include "tools/coil-run/Job.h"
#include "tools/coil-run/Report.h"

namespace coil::run {

/// How the ranks ended.
struct RunEnd {
  /// A rank failed, or died, or had to be killed; it was said on standard error.
  bool failed = false;
  /// The signal that ended the run from outside, or 0.
  int signal = 0;
};

/// Forks the ranks, hands each finished row to `report`, and returns when every
/// process has ended. Must be called while the program has no second thread. No
/// process outlives the call, nor the caller if it is killed.
Result<RunEnd> runRanks(const Job &job, Report &report);

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_LAUNCHER_H
