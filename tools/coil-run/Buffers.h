//===- Buffers.h - A rank's send and receive memory -------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_BUFFERS_H
#define COIL_TOOLS_COIL_RUN_BUFFERS_H

#include "runtime/base/Status.h"
#include "runtime/include/coil/coil.h"
#include "tools/coil-run/Options.h"

#include <cstddef>
#include <cstdint>

namespace coil::run {

/// Bytes before and after a buffer that a call must not touch.
inline constexpr size_t guardBytes = 64;

/// A success, or an error that names the call and gives the library's sentence.
Status apiStatus(coilResult_t result, const char *call, coilComm_t comm);

/// One allocation, registered if it is of that kind, with room for guards.
class Region {
public:
  Region() = default;
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;
  /// Frees the memory; whoever registered it should call release() before.
  ~Region();

  /// Collective for registered memory. Gives data() room for `bytes` bytes, which
  /// begin `offset` bytes (at most 4096) after a multiple of 4096.
  Status allocate(MemoryKind kind, size_t bytes, size_t offset, coilComm_t comm);
  /// Collective for registered memory.
  Status release(coilComm_t comm);

  std::byte *data() const { return start; }

  /// Guards the first `bytes` bytes of data() on both sides.
  void setGuards(size_t bytes) const;
  /// Number of bytes of the guards that were changed since.
  uint64_t changedGuardBytes(size_t bytes) const;

private:
  MemoryKind kind = MemoryKind::Plain;
  void *base = nullptr;
  size_t mapped = 0;
  std::byte *start = nullptr;
  coilWindow_t window = nullptr;
};

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_BUFFERS_H
