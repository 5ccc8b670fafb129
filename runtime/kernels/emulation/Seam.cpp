//===- Seam.cpp - The functions that device code calls --------------------===//

#include "runtime/kernels/emulation/Block.h"

#include <ctime>
#include <fmt/format.h>
#include <thread>

namespace coil::emulation {

bool tracking = false;

namespace {

template <typename Word> void copyWord(void *to, const void *from) {
  Word word;
  __atomic_load(static_cast<const Word *>(from), &word, __ATOMIC_RELAXED);
  __atomic_store(static_cast<Word *>(to), &word, __ATOMIC_RELAXED);
}

/// A plain access as the machine makes it: word by word. Atomic, so that the race
/// that has been reported is not undefined behaviour besides.
void copyAligned(void *to, const void *from, u32 size) {
  switch (size) {
  case 1:
    return copyWord<u8>(to, from);
  case 2:
    return copyWord<device::u16>(to, from);
  case 4:
    return copyWord<u32>(to, from);
  case 8:
    return copyWord<u64>(to, from);
  default:
    copyWord<u64>(to, from);
    copyWord<u64>(static_cast<u8 *>(to) + 8, static_cast<const u8 *>(from) + 8);
  }
}

/// Adds a plain access to the history of each granule that it touches.
void addPlain(const void *address, u32 size, AccessKind kind, Site site) {
  ThreadHistory &thread = currentThread->history;
  const auto *byte = static_cast<const u8 *>(address);
  const u8 *end = byte + size;
  while (byte < end) {
    u32 offset = reinterpret_cast<std::uintptr_t>(byte) % 8;
    u32 bytes = std::min<u32>(8 - offset, static_cast<u32>(end - byte));
    auto mask = static_cast<u8>(((1u << bytes) - 1) << offset);
    ShadowPage &page = findPage(thread, byte);
    std::lock_guard lock(page.mutex);
    addAccess(thread, page.granule(byte), byte,
              {thread.place, thread.epoch, site, Scope::System, kind, mask, static_cast<u8>(size)});
    byte += bytes;
  }
}

/// Runs `access` on the word while its history is brought up to date.
template <typename Function>
auto tracked(const u64 *address, AtomicAccess atomic, Site site, Function access) {
  ThreadHistory &thread = currentThread->history;
  ShadowPage &page = findPage(thread, address);
  std::lock_guard lock(page.mutex);
  addAtomicAccess(thread, page.granule(address), address, atomic, site);
  return access();
}

} // namespace

namespace seam {

u32 threadIndex() { return currentThread->index; }
u32 blockThreads() { return currentThread->block->threadCount(); }
u32 blockIndex() { return currentThread->block->index(); }
u8 *sharedMemory() { return currentThread->block->shared(); }
u32 computeCapability() { return currentThread->block->launch().computeCapability; }

void syncBlock(Site site) {
  currentThread->block->meetBlock(*currentThread, Meeting::SyncBlock, false, site);
}

bool syncBlockOr(bool mine, Site site) {
  return currentThread->block->meetBlock(*currentThread, Meeting::SyncBlockOr, mine, site);
}

void syncWarp(Site site) {
  currentThread->block->meetWarp(*currentThread, Meeting::SyncWarp, false, site);
}

bool anyInWarp(bool mine, Site site) {
  return currentThread->block->meetWarp(*currentThread, Meeting::AnyInWarp, mine, site);
}

Pair loadLine(const u8 *line, Site site) {
  EmulatedThread &thread = *currentThread;
  thread.line = line;
  thread.block->meetWarp(thread, Meeting::LoadLine, false, site);
  return thread.value;
}

void storeLine(u8 *line, Pair value, Site site) {
  EmulatedThread &thread = *currentThread;
  thread.line = line;
  thread.value = value;
  thread.block->meetWarp(thread, Meeting::StoreLine, false, site);
}

u64 nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<u64>(now.tv_sec) * 1000000000 + static_cast<u64>(now.tv_nsec);
}

void pause() { currentThread->block->pause(*currentThread); }

void reportMisaligned(const void *address, u32 size, Site site) {
  EmulatedThread &thread = *currentThread;
  thread.block->report(thread, fmt::format("access of {} bytes at {}, no multiple of that ({})",
                                           size, address, text(site)));
  thread.block->leave(thread);
}

void trackedLoad(const void *address, void *word, u32 size, Site site) {
  addPlain(address, size, AccessKind::Load, site);
  copyAligned(word, address, size);
}

void trackedStore(void *address, const void *word, u32 size, Site site) {
  addPlain(address, size, AccessKind::Store, site);
  copyAligned(address, word, size);
}

u64 trackedAtomicLoad(const u64 *address, Scope scope, bool acquire, Site site) {
  return tracked(address, {AccessKind::AtomicLoad, scope, acquire, false}, site, [&] {
    return acquire ? __atomic_load_n(address, __ATOMIC_ACQUIRE)
                   : __atomic_load_n(address, __ATOMIC_RELAXED);
  });
}

void trackedAtomicStore(u64 *address, u64 value, Scope scope, bool release, Site site) {
  tracked(address, {AccessKind::AtomicStore, scope, false, release}, site, [&] {
    if (release)
      __atomic_store_n(address, value, __ATOMIC_RELEASE);
    else
      __atomic_store_n(address, value, __ATOMIC_RELAXED);
  });
}

u64 trackedAdd(u64 *address, u64 value, Scope scope, Site site) {
  return tracked(address, {AccessKind::AtomicUpdate, scope, true, true}, site,
                 [&] { return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL); });
}

bool trackedCompareAndSwap(u64 *address, u64 expected, u64 desired, Scope scope, Site site) {
  ThreadHistory &thread = currentThread->history;
  ShadowPage &page = findPage(thread, address);
  std::lock_guard lock(page.mutex);
  bool isSwapped = __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED);
  AccessKind kind = isSwapped ? AccessKind::AtomicUpdate : AccessKind::AtomicLoad;
  addAtomicAccess(thread, page.granule(address), address, {kind, scope, false, false}, site);
  return isSwapped;
}

Pair trackedLoadPair(const Pair *address, Site site) {
  ThreadHistory &thread = currentThread->history;
  ShadowPage &page = findPage(thread, address);
  std::lock_guard lock(page.mutex);
  for (const u64 *word : {&address->first, &address->second})
    addPackedAccess(thread, page.granule(word), word, nullptr, site);
  return {__atomic_load_n(&address->first, __ATOMIC_RELAXED),
          __atomic_load_n(&address->second, __ATOMIC_RELAXED)};
}

void trackedStorePair(Pair *address, Pair value, Site site) {
  ThreadHistory &thread = currentThread->history;
  ShadowPage &page = findPage(thread, address);
  u64 *words[] = {&address->first, &address->second};
  u64 values[] = {value.first, value.second};
  // The halves may arrive in any order, and a reader may come between them.
  u32 earlier = reinterpret_cast<std::uintptr_t>(address) / sizeof(Pair) % 2;
  for (u32 half : {earlier, 1 - earlier}) {
    {
      std::lock_guard lock(page.mutex);
      addPackedAccess(thread, page.granule(words[half]), words[half], &values[half], site);
      __atomic_store_n(words[half], values[half], __ATOMIC_RELAXED);
    }
    if (half == earlier)
      std::this_thread::yield();
  }
}

} // namespace seam

} // namespace coil::emulation
