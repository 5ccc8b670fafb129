//===- RankInside.h - What stands behind a rank on a GPU --------*- C++ -*-===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_RANKINSIDE_H
#define COIL_RUNTIME_EXECUTOR_CUDA_RANKINSIDE_H

#include "runtime/executor/cuda/PlanState.h"
#include "runtime/executor/cuda/Watchdog.h"

namespace coil::cuda {

struct CudaRank::State {
  State(std::shared_ptr<DeviceContext> device, const Group &group, SetupExchange &exchange,
        const CudaConfig &config)
      : device(std::move(device)), group(group), exchange(exchange), config(config) {}

  /// Collective.
  Status meet();
  /// Collective: checkLl128(), once it was well for good.
  Status requireLl128(const char *call);

  uint32_t rank() const { return static_cast<uint32_t>(group.rank); }

  //===--------------------------------------------------------------------===//
  // Calls in flight (Flight.cpp)
  //===--------------------------------------------------------------------===//

  /// Finds what has gone wrong, tells the group and ends the calls in flight.
  /// True if there are any. Any thread.
  bool look();
  void add(LoadedCudaPlan::State &plan);
  void remove(LoadedCudaPlan::State &plan);
  /// Waits until a plan's calls, or those of all plans, have ended or failed.
  void settle(const LoadedCudaPlan::State &plan);
  void settle();
  /// Tells all plans of a table of windows that has moved.
  Status writeWindows();
  Status poison() const { return group.mine().poison.status(); }
  void abortAll();

  std::shared_ptr<DeviceContext> device;
  const Group &group;
  SetupExchange &exchange;
  CudaConfig config;
  Stream stream; ///< for set-up
  std::unique_ptr<Peers> peers;
  std::vector<PeerSegment> logSegments;
  std::vector<const CallLog *> logs;
  CallLog *log = nullptr;
  std::unique_ptr<DeviceWindows> windows;
  size_t sendHint = 0, receiveHint = 0;
  std::shared_ptr<SharedLaunch> sharedLaunch; ///< null: the device is this rank's alone
  std::shared_ptr<KernelStore> kernels;
  bool ll128Works = false;
  std::unique_ptr<Watchdog> watchdog;

private:
  using Clock = std::chrono::steady_clock;

  Status findFailure();
  Status findReport();
  Status findDisagreement() const;
  Status findGone();
  Status fail(Status failure);
  std::string describeWait();

  std::mutex plansMutex;
  std::vector<LoadedCudaPlan::State *> plans;
  int goneRank = -1; ///< seen gone at the last look
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_RANKINSIDE_H
