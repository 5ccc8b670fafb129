//===- DeviceWindows.h - Registered memory, for kernels ---------*- C++ -*-===//
//
// A rank's windows, and the table of all ranks' parts of them on its device. A
// kernel that runs while a window is added does not know of it; tables that were
// outgrown stay for such kernels.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_DEVICEWINDOWS_H
#define COIL_RUNTIME_EXECUTOR_CUDA_DEVICEWINDOWS_H

#include "runtime/executor/cuda/Peers.h"

#include <optional>
#include <vector>

namespace coil::cuda {

class DeviceWindows {
public:
  /// Without a window.
  static Result<DeviceWindows> create(std::shared_ptr<DeviceContext> device, const Stream &stream,
                                      uint32_t ranks);

  /// Takes a window up under the lowest free number. `own` is what the user
  /// registered here. True in `moved` if table() has changed.
  Result<uint32_t> add(const Stream &stream, const void *own, uint64_t ownBytes,
                       std::vector<PeerMemory> parts, bool &moved);
  /// Errors: InvalidArgument if there is no such window.
  Status remove(const Stream &stream, uint32_t window);

  /// This rank's window that holds all of `bytes` bytes at `pointer`; for no bytes,
  /// none is needed. Looks first where `hint`, which it updates, has found something
  /// before.
  std::optional<device::WindowPlace> locate(const void *pointer, uint64_t bytes,
                                            size_t &hint) const;

  /// For RankState.
  const device::Window *table() const {
    return reinterpret_cast<const device::Window *>(tables.back().get());
  }
  uint32_t capacity() const { return rows; }

private:
  struct Window {
    bool isUsed = false;
    const std::byte *own = nullptr;
    uint64_t ownBytes = 0;
    std::vector<PeerMemory> parts;
  };
  Status grow(const Stream &stream, uint32_t wanted);
  Status writeRow(const Stream &stream, uint32_t index);

  std::shared_ptr<DeviceContext> device;
  uint32_t ranks = 0, rows = 0;
  std::vector<Window> windows; ///< by number - 1
  std::vector<DeviceBuffer> tables;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_DEVICEWINDOWS_H
