//===- SharedSegment.h - Memory that several processes map ------*- C++ -*-===//
//
// A segment is a memfd: it has no name in any file system, needs no room in
// /dev/shm and goes with the last process that holds it, whichever way that
// process ends.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_MEMORY_SHAREDSEGMENT_H
#define COIL_RUNTIME_MEMORY_SHAREDSEGMENT_H

#include "runtime/base/Status.h"
#include "runtime/base/UniqueFd.h"

#include <cstddef>
#include <utility>

namespace coil {

/// One mapping of a segment; unmapped, and its descriptor closed, with the object.
class SharedSegment {
public:
  SharedSegment() = default;
  SharedSegment(SharedSegment &&other) noexcept
      : handle(std::move(other.handle)), base(std::exchange(other.base, nullptr)),
        bytes(std::exchange(other.bytes, 0)) {}
  SharedSegment &operator=(SharedSegment &&other) noexcept;
  ~SharedSegment() { unmap(); }

  /// Makes and maps a zeroed segment of `bytes` > 0 bytes. Every page is there
  /// from the start: too little memory is an error here, never a signal later.
  /// `name` shows up in /proc/<pid>/maps only. Errors: InvalidArgument for no
  /// bytes, SystemError.
  static Result<SharedSegment> create(const char *name, size_t bytes);

  /// Maps the first `bytes` bytes of the segment that `fd` refers to, made by
  /// create() here or elsewhere. Errors: InvalidArgument for a descriptor of
  /// another kind or a segment of fewer bytes, SystemError.
  static Result<SharedSegment> map(UniqueFd fd, size_t bytes);

  /// Start of the mapping, aligned to a page; null for an empty object.
  std::byte *data() const { return base; }
  size_t size() const { return bytes; }
  /// The descriptor, to be sent to other processes; stays owned by the object.
  int fd() const { return handle.get(); }

private:
  SharedSegment(UniqueFd handle, std::byte *base, size_t bytes)
      : handle(std::move(handle)), base(base), bytes(bytes) {}
  static Result<SharedSegment> mapPages(UniqueFd fd, size_t bytes);
  void unmap();

  UniqueFd handle;
  std::byte *base = nullptr;
  size_t bytes = 0;
};

} // namespace coil

#endif // COIL_RUNTIME_MEMORY_SHAREDSEGMENT_H
