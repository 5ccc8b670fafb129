//===- FailureText.h - What a device's failure report means -----*- C++ -*-===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_FAILURETEXT_H
#define COIL_RUNTIME_EXECUTOR_CUDA_FAILURETEXT_H

#include "runtime/executor/cuda/CallLog.h"

#include <vector>

namespace coil::cuda {

/// Who reports, and what is known of the calls that were running.
struct FailureContext {
  const Plan &plan;
  uint32_t rank;
  uint64_t timeoutMs;
  /// Every rank's log.
  const std::vector<const CallLog *> &logs;
};

/// "rank 1 in wait (ring.coil:13:1), worker 0, instance 2".
std::string describeWait(const FailureContext &context, const device::FailureReport &report);

/// The error of a rank whose kernel gave up. An Aborted is as the host wanted it:
/// its error says where the kernel was, not why.
Status failureOf(const FailureContext &context, const device::FailureReport &report);

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_FAILURETEXT_H
