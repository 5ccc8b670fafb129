//===- Launching.h - From ranks' calls to a kernel's launch -----*- C++ -*-===//
//
// A launch runs one rank's call or, where ranks share a device, those of all of
// them, so that they are resident together.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_LAUNCHING_H
#define COIL_RUNTIME_EXECUTOR_CUDA_LAUNCHING_H

#include "runtime/channel/Group.h"
#include "runtime/executor/cuda/CallLog.h"
#include "runtime/executor/cuda/Memory.h"

#include <condition_variable>
#include <functional>
#include <span>

namespace coil::cuda {

/// A kernel on a device.
struct LoadedKernel {
  Module module;
  DriverFunction *function = nullptr;
  uint32_t threads = 0;     ///< of a block
  uint32_t sharedBytes = 0; ///< of a block
  /// Blocks that the device holds at a time.
  uint32_t residentBlocks = 0;
  uint32_t registers = 0; ///< of a thread
};

/// One rank's call.
struct LaunchPart {
  uint32_t rank = 0;
  CallFacts facts;
  uint64_t tiles = 1;
  uint64_t timeoutNanoseconds = 0;
  device::RankCall call{}; ///< all but firstBlock
  std::shared_ptr<const LoadedKernel> kernel;
  DriverStream *stream = nullptr;
  bool isCaptured = false;
};

/// Puts the parts, which agree, into `stream` as one launch. Errors: Unsupported if
/// the device does not hold all blocks at a time, what the driver says.
Status launch(const DeviceContext &device, std::span<const LaunchPart> parts, DriverStream *stream);

/// Where the ranks of a communicator that share a device bring their calls.
class SharedLaunch {
public:
  /// The one of communicator `communicatorId` on `device`, of these ranks.
  static Result<std::shared_ptr<SharedLaunch>> find(uint64_t communicatorId,
                                                    std::shared_ptr<DeviceContext> device,
                                                    const std::vector<uint32_t> &ranks);

  /// Waits until all ranks have come; the last launches. All get the same error:
  /// InvalidUsage if they disagree, Unsupported, what the driver says. An error of
  /// this rank alone: Timeout, what `interrupted` says.
  Status join(const Group &group, LaunchPart part, const std::function<Status()> &interrupted);

private:
  SharedLaunch(std::shared_ptr<DeviceContext> device, std::vector<uint32_t> ranks)
      : device(std::move(device)), ranks(std::move(ranks)), parts(this->ranks.size()),
        ready(this->ranks.size()) {}
  Status launchAll();
  Status launchInOrder();
  std::string describeMissing() const;

  std::shared_ptr<DeviceContext> device;
  std::vector<uint32_t> ranks;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<LaunchPart> parts; ///< by position in `ranks`
  std::vector<bool> ready;
  size_t arrived = 0;
  uint64_t generation = 0;
  StatusCode lastCode = StatusCode::Ok; ///< of the last generation
  std::string lastMessage;
  std::vector<Event> before;
  Event after;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_LAUNCHING_H
