//===- PlanState.h - What stands behind a loaded plan -----------*- C++ -*-===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_PLANSTATE_H
#define COIL_RUNTIME_EXECUTOR_CUDA_PLANSTATE_H

#include "runtime/executor/cuda/CudaRank.h"
#include "runtime/executor/cuda/DeviceWindows.h"
#include "runtime/executor/cuda/KernelStore.h"

#include <atomic>
#include <map>

namespace coil::cuda {

/// What other ranks use of a rank's plan; those of this process keep it alive.
struct PlanMemory {
  DeviceBuffer onDevice;
  std::shared_ptr<SharedSegment> host;
  HostRegistration registration; ///< of `host`: goes before it
};

/// How a call is run.
struct CallChoice {
  size_t variant = 0;
  CallFacts facts;
  uint64_t tiles = 1;
  device::WindowPlace input{}, output{}; ///< p2p
};

struct LoadedCudaPlan::State {
  State(CudaRank::State &owner, Plan plan, std::shared_ptr<const nvrtc::CubinBundle> bundle)
      : owner(owner), plan(std::move(plan)), bundle(std::move(bundle)) {}
  ~State();

  /// Collective. Errors are the same on all ranks.
  Status load();
  /// For RankState, when the table of windows has moved.
  Status writeWindows();

  /// The variant and how to run it; nothing is waited for.
  Result<CallChoice> choose(const CudaCall &call);
  /// A choice's kernel, made if there is none yet.
  Result<std::shared_ptr<const LoadedKernel>> kernel(const CallChoice &choice);
  /// The part of a launch, but for the stream.
  Result<LaunchPart> part(const CudaCall &call, const CallChoice &choice);

  device::HostBoard &board() const { return boardOf(rank())->board; }
  uint64_t finishedCalls() const { return finishedCallsOf(rank()); }
  uint64_t finishedCallsOf(uint32_t other) const;
  bool isReleased(uint32_t other) const;
  /// Whether a call may be running on the device.
  bool isInFlight() const {
    return captured.load(std::memory_order_acquire) ||
           finishedCalls() < launched.load(std::memory_order_acquire);
  }
  device::FailureKind failureKind() const;
  void abort() const;

  CudaRank::State &owner;
  Plan plan;
  std::shared_ptr<const nvrtc::CubinBundle> bundle;
  std::unique_ptr<DeviceLayout> layout;
  /// Calls enqueued but not captured, and whether some were captured.
  std::atomic<uint64_t> launched = 0;
  std::atomic<bool> captured = false;

private:
  /// The tables of one variant and protocol.
  struct Binding {
    std::shared_ptr<const GeneratedKernel> text;
    DeviceBuffer tables;
    const device::WorkerTables *workers = nullptr;
    const uint32_t *constants = nullptr;
    uint32_t rankClass = 0, workerCount = 0;
  };

  uint32_t rank() const;
  PlanBoard *boardOf(uint32_t other) const {
    return reinterpret_cast<PlanBoard *>(hosts[other].data);
  }
  /// The protocol of all calls without direct access, if it is given: by the
  /// configuration, else by the plan.
  std::optional<Protocol> fixedProtocol() const;
  Result<LayoutTerms> terms() const;
  Result<MemoryOffer> allocate();
  Status prepare();
  Status mapHosts();
  Result<DevicePointer> addressOf(uint32_t other, DeviceLayout::Place place) const;
  KernelSource sourceOf(size_t variant, Protocol protocol) const;
  Result<const Binding *> bind(size_t variant, Protocol protocol);

  DeviceLayout::RankEnds ends;
  std::shared_ptr<PlanMemory> memory;
  std::vector<PeerMemory> devices;
  std::vector<PeerSegment> hosts;
  std::vector<HostRegistration> foreignHosts;
  /// Of hosts, for this rank's device; 0 where it has no use for them.
  std::vector<DevicePointer> hostAddresses;
  DeviceBuffer stateMemory;
  std::map<std::pair<size_t, Protocol>, Binding> bindings;
  using KernelKey = std::tuple<size_t, Protocol, KernelInstance>;
  std::map<KernelKey, std::shared_ptr<const LoadedKernel>> kernels;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_PLANSTATE_H
