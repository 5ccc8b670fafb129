//===- Problems.h - What a run has found wrong ------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_PROBLEMS_H
#define COIL_RUNTIME_KERNELS_EMULATION_PROBLEMS_H

#include "runtime/kernels/device/Platform.h"
#include "runtime/kernels/emulation/Emulation.h"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace coil::emulation {

/// Collects problems from all threads of a run.
class Problems {
public:
  /// Keeps the first problem of each `key`, and no more than a page of them.
  void report(ProblemKind kind, const std::string &key, std::string text);
  /// Reports the problem, and ends the run.
  void reportAndStop(ProblemKind kind, std::string text);
  bool mustStop() const { return stop.load(std::memory_order_relaxed); }
  std::vector<Problem> take();

private:
  std::mutex mutex;
  std::set<std::string> keys;
  std::vector<Problem> found;
  std::atomic<bool> stop = false;
};

/// The place as a reader of a report looks for it: "device/Worker.h:12".
std::string text(Site site);

} // namespace coil::emulation

#endif // COIL_RUNTIME_KERNELS_EMULATION_PROBLEMS_H
