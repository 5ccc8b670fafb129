//===- SharedAllocations.cpp - Memory of users that can be shared ---------===//

#include "runtime/memory/SharedAllocations.h"

#include "runtime/memory/SharedSegment.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace coil {
namespace {

struct Allocation {
  SharedSegment segment;
  uint64_t id;
  size_t bytes;
};

/// Allocations by the address of their start.
struct Table {
  std::mutex mutex;
  std::map<uintptr_t, Allocation> allocations;
  uint64_t lastId = 0;
};

} // namespace

/// Never destroyed: memory may be freed by destructors that run at exit.
static Table &table() {
  static Table &instance = *new Table;
  return instance;
}

Result<void *> allocateShared(size_t bytes) {
  COIL_ASSIGN_OR_RETURN(SharedSegment segment,
                        SharedSegment::create("coil-memory", std::max<size_t>(bytes, 1)));
  void *base = segment.data();
  std::lock_guard lock(table().mutex);
  table().allocations.emplace(reinterpret_cast<uintptr_t>(base),
                              Allocation{std::move(segment), ++table().lastId, bytes});
  return base;
}

Status freeShared(void *pointer) {
  if (!pointer)
    return Status::ok();
  // Declared first, so that the segment is unmapped without the lock.
  std::map<uintptr_t, Allocation>::node_type freed;
  std::lock_guard lock(table().mutex);
  freed = table().allocations.extract(reinterpret_cast<uintptr_t>(pointer));
  if (freed.empty())
    return Status::error(
        StatusCode::InvalidArgument,
        "{} is not the start of memory that coilMemAlloc gave, or was freed before", pointer);
  return Status::ok();
}

std::optional<SharedRange> findShared(const void *pointer, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  std::lock_guard lock(table().mutex);
  auto next = table().allocations.upper_bound(address);
  if (next == table().allocations.begin())
    return std::nullopt;
  const auto &[base, allocation] = *std::prev(next);
  size_t offset = address - base;
  if (offset > allocation.bytes || bytes > allocation.bytes - offset)
    return std::nullopt;
  return SharedRange{allocation.segment.fd(), allocation.id, offset, allocation.bytes,
                     allocation.segment.data()};
}

} // namespace coil
