//===- Buffers.h - A rank's send and receive memory -------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_BUFFERS_H
#define COIL_TOOLS_COIL_RUN_BUFFERS_H

#include "runtime/base/Status.h"
#include "runtime/include/coil/coil.h"
#include "tools/coil-run/Gpu.h"
#include "tools/coil-run/Options.h"

#include <cstddef>
#include <cstdint>

namespace coil::run {

/// Bytes before and after a buffer that a call must not touch.
inline constexpr size_t guardBytes = 64;

/// A success, or an error that names the call and gives the library's sentence.
Status apiStatus(coilResult_t result, const char *call, coilComm_t comm);

/// One allocation, registered if it is of that kind, with room for guards. On a
/// GPU it has two sides: the device's memory, which calls use, and the host's, in
/// which data is made and checked; on a CPU they are one.
class Region {
public:
  Region() = default;
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;
  /// Frees the memory; whoever registered it should call release() before.
  ~Region();

  /// Collective for registered memory. Gives data() room for `bytes` bytes, which
  /// begin `offset` bytes (at most 4096) after a multiple of 4096.
  /// With a GPU, which must outlive it, the memory is the device's.
  Status allocate(MemoryKind kind, size_t bytes, size_t offset, coilComm_t comm, const Gpu *gpu);
  /// Collective for registered memory.
  Status release(coilComm_t comm);

  std::byte *data() const { return start; }
  /// What a call takes for `inside`, an address from data() on.
  std::byte *callAddress(std::byte *inside) const {
    return gpu ? reinterpret_cast<std::byte *>(onDevice.get()) + (inside - hostBase()) : inside;
  }
  /// Makes the two sides the same over the first `bytes` bytes of data() and the
  /// guards around them.
  Status toDevice(size_t bytes) const;
  Status toHost(size_t bytes) const;
  /// The same for the guards alone.
  Status guardsToHost(size_t bytes) const;

  /// Guards the first `bytes` bytes of data() on both sides.
  void setGuards(size_t bytes) const;
  /// Number of bytes of the guards that were changed since.
  uint64_t changedGuardBytes(size_t bytes) const;

private:
  Status allocatePlain();
  std::byte *hostBase() const { return static_cast<std::byte *>(base); }

  MemoryKind kind = MemoryKind::Plain;
  const Gpu *gpu = nullptr;
  cuda::DeviceBuffer onDevice;
  void *base = nullptr; ///< the host's side
  bool isShared = false;
  size_t mapped = 0;
  std::byte *start = nullptr;
  coilWindow_t window = nullptr;
};

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_BUFFERS_H
