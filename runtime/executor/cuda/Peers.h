//===- Peers.h - Where the ranks of a communicator run ----------*- C++ -*-===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_PEERS_H
#define COIL_RUNTIME_EXECUTOR_CUDA_PEERS_H

#include "runtime/channel/SetupExchange.h"
#include "runtime/executor/cuda/CudaConfig.h"
#include "runtime/executor/cuda/DeviceLayout.h"
#include "runtime/executor/cuda/Memory.h"

#include <vector>

namespace coil::cuda {

/// Device memory that a rank offers to all; without bytes it is none.
struct MemoryOffer {
  uint64_t address = 0; ///< in the offering process
  uint64_t bytes = 0;
  uint64_t offset = 0; ///< of `address` in its allocation
  uint64_t keeperId = 0;
  IpcMemHandle handle{};
};

/// A rank's device memory as this rank's device reaches it.
struct PeerMemory {
  uint8_t *data = nullptr; ///< null: it does not
  uint64_t bytes = 0;
  std::shared_ptr<const void> keeper;
};

class Peers {
public:
  /// Collective: finds out who runs where and who reaches whom, and lets kernels of
  /// `device` use the memory of other devices of this process. Errors: Unsupported
  /// for several processes on one device, or more ranks on one than a launch holds.
  static Result<Peers> meet(const char *what, const Group &group, SetupExchange &exchange,
                            std::shared_ptr<DeviceContext> device, bool usePeerAccess);

  const Reach &reach() const { return reachable; }
  /// Whether the rank is a thread of this process.
  bool isHere(uint32_t rank) const { return places[rank].process == places[self].process; }
  bool areAllHere() const { return threads.size() == places.size(); }
  /// The ranks that are threads of this process, in order.
  const std::vector<uint32_t> &ranksHere() const { return threads; }
  /// The ranks on this rank's device, which is one of them, in order.
  const std::vector<uint32_t> &deviceRanks() const { return onThisDevice; }
  /// The lowest rank on each device, in order; the same on all ranks.
  std::vector<uint32_t> firstOfDevices() const;
  /// The same number on all ranks, and different for every communicator.
  uint64_t communicatorId() const { return identity; }
  uint32_t rank() const { return self; }
  uint32_t ranks() const { return static_cast<uint32_t>(places.size()); }

  /// What this rank says of `bytes` bytes at `address`, which lie in the allocation
  /// that begins at `base`. Unsupported for memory that other processes, of which
  /// there are some, cannot map.
  Result<MemoryOffer> offer(uint64_t address, uint64_t bytes, uint64_t base,
                            const std::shared_ptr<const void> &keeper) const;
  /// Collective: every rank's memory.
  Result<std::vector<PeerMemory>> share(const char *what, SetupExchange &exchange,
                                        const Result<MemoryOffer> &mine) const;

private:
  struct Place {
    uint64_t process;
    DeviceUuid device;
    int32_t ordinal;
  };
  explicit Peers(std::shared_ptr<DeviceContext> device, uint32_t self, uint32_t ranks)
      : device(std::move(device)), self(self), reachable(ranks) {}
  Status findDeviceRanks();
  /// Whether this rank's device reaches that of `other`, and sees to it.
  Result<bool> connect(uint32_t other);
  Result<PeerMemory> map(uint32_t other, const MemoryOffer &theirs) const;

  std::shared_ptr<DeviceContext> device;
  uint32_t self;
  std::vector<Place> places;
  Reach reachable;
  std::vector<uint32_t> onThisDevice, threads;
  uint64_t identity = 0;
  /// Contexts of other devices that kernels use memory of.
  std::vector<std::shared_ptr<DeviceContext>> others;
};

/// Most ranks of a communicator on GPUs.
inline constexpr uint32_t mostCudaRanks = 1024;

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_PEERS_H
