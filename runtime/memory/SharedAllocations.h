//===- SharedAllocations.h - Memory of users that can be shared -*- C++ -*-===//
//
// The table behind coilMemAlloc: which addresses of this process lie in shared
// segments. All functions may be called from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_MEMORY_SHAREDALLOCATIONS_H
#define COIL_RUNTIME_MEMORY_SHAREDALLOCATIONS_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace coil {

/// Zeroed memory in a segment of its own, aligned to a page. No two live
/// allocations have the same address, even with 0 bytes. Errors: SystemError.
Result<void *> allocateShared(size_t bytes);

/// Frees what allocateShared() gave; null is fine. Errors: InvalidArgument for
/// any other pointer, and for one freed before.
Status freeShared(void *pointer);

/// Where a run of bytes lies.
struct SharedRange {
  int fd;                 ///< the segment; owned by the table
  uint64_t id;            ///< the allocation; never given twice in a process
  size_t offset;          ///< bytes from the allocation's start
  size_t allocationBytes; ///< as asked from allocateShared()
  void *base;             ///< the allocation's start
};

/// The allocation that holds all of the `bytes` bytes at `pointer`, if there is
/// one. No bytes lie also in an allocation at whose end `pointer` is.
std::optional<SharedRange> findShared(const void *pointer, size_t bytes);

} // namespace coil

#endif // COIL_RUNTIME_MEMORY_SHAREDALLOCATIONS_H
