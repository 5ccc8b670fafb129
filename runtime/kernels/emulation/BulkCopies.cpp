//===- BulkCopies.cpp - Copies beside a thread ----------------------------===//

#include "runtime/kernels/emulation/BulkCopies.h"
#include "runtime/kernels/emulation/Block.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace coil::emulation {

namespace {

/// What memory holds of which nothing can be said.
constexpr int noData = 0xa5;

/// Formats here, as nothing of the caller is unwound.
template <typename... Arguments>
[[noreturn]] void misuse(const char *function, Site site, fmt::format_string<Arguments...> what,
                         Arguments... arguments) {
  EmulatedThread &thread = *currentThread;
  thread.block->report(thread, fmt::format("calls {} at {}, {}", function, text(site),
                                           fmt::format(what, std::move(arguments)...)));
  thread.block->leave(thread);
}

void checkShared(const char *function, const void *address, u64 bytes, Site site) {
  const Block &block = *currentThread->block;
  auto begin = reinterpret_cast<std::uintptr_t>(address);
  auto shared = reinterpret_cast<std::uintptr_t>(block.shared());
  u64 size = block.launch().sharedBytes;
  if (begin < shared || begin - shared > size || bytes > size - (begin - shared))
    misuse(function, site, "but {} bytes at {} are not in the block's shared memory", bytes,
           address);
}

void checkCopy(const char *function, const u8 *shared, const u8 *global, u32 bytes, Site site) {
  if (!currentThread->bulkCopies.isBegun)
    misuse(function, site, "but has not begun bulk copies");
  if (bytes == 0 || bytes % 16 != 0)
    misuse(function, site, "expected a positive multiple of 16 bytes, found {}", bytes);
  seam::checkAlignment(shared, 16, site);
  seam::checkAlignment(global, 16, site);
  checkShared(function, shared, bytes, site);
}

void make(const BulkCopy &copy) {
  if (!tracking) {
    std::memmove(copy.to, copy.from, copy.bytes);
    return;
  }
  for (u32 offset = 0; offset < copy.bytes; offset += 16) {
    device::Vector16 word;
    seam::trackedLoad(copy.from + offset, &word, 16, copy.site);
    seam::trackedStore(copy.to + offset, &word, 16, copy.site);
  }
}

void makeStores(std::size_t latest) {
  std::vector<BulkCopy> &stores = currentThread->bulkCopies.stores;
  for (; stores.size() > latest; stores.erase(stores.begin()))
    make(stores.front());
}

auto findLoad(std::vector<BulkCopy> &loads, const u64 *barrier) {
  return std::find_if(loads.begin(), loads.end(),
                      [&](const BulkCopy &load) { return load.barrier == barrier; });
}

} // namespace

namespace seam {

void beginBulkCopies(u64 *barriers, u32 count, Site site) {
  if (currentThread->bulkCopies.isBegun)
    misuse("beginBulkCopies", site, "but has begun them before");
  checkAlignment(barriers, sizeof(u64), site);
  checkShared("beginBulkCopies", barriers, u64(count) * sizeof(u64), site);
  currentThread->bulkCopies.isBegun = true;
  // The turns of their loads that are over.
  std::fill_n(barriers, count, u64(0));
}

void startBulkLoad(u8 *shared, const u8 *global, u32 bytes, u64 *barrier, Site site) {
  checkCopy("startBulkLoad", shared, global, bytes, site);
  std::vector<BulkCopy> &loads = currentThread->bulkCopies.loads;
  if (findLoad(loads, barrier) != loads.end())
    misuse("startBulkLoad", site, "but the barrier's load before has not been waited for");
  std::memset(shared, noData, bytes);
  loads.push_back({shared, global, bytes, barrier, site});
}

void awaitBulkLoad(u64 *barrier, u32 turn, Site site) {
  if (*barrier % 2 != turn)
    return;
  std::vector<BulkCopy> &loads = currentThread->bulkCopies.loads;
  auto load = findLoad(loads, barrier);
  if (load == loads.end())
    misuse("awaitBulkLoad", site, "but no load of that turn has been started");
  pause();
  make(*load);
  loads.erase(load);
  ++*barrier;
}

void startBulkStore(u8 *global, const u8 *shared, u32 bytes, Site site) {
  checkCopy("startBulkStore", shared, global, bytes, site);
  currentThread->bulkCopies.stores.push_back({global, shared, bytes, nullptr, site});
}

void awaitBulkReads(u32 latest) { makeStores(latest); }

void endBulkCopies(u64 *barriers, u32 count, Site site) {
  BulkCopies &copies = currentThread->bulkCopies;
  if (!copies.isBegun)
    misuse("endBulkCopies", site, "but has not begun bulk copies");
  if (!copies.loads.empty())
    misuse("endBulkCopies", site, "but has not waited for the load started at {}:{}",
           copies.loads.front().site.file, copies.loads.front().site.line);
  makeStores(0);
  std::memset(barriers, noData, u64(count) * sizeof(u64));
  copies.isBegun = false;
}

} // namespace seam

} // namespace coil::emulation
