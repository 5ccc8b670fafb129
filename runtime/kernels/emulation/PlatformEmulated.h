//===- PlatformEmulated.h - The seam's side on the host ---------*- C++ -*-===//
//
// What runtime/kernels/device/Platform.h promises, on an emulated machine. Blocks
// are threads of the operating system; the threads of a block are fibers that take
// turns on it and switch at block and warp synchronisation, at accesses to lines
// and at pause(). A thread that waits for another must therefore call pause().
//
// With tracking on (runtime/kernels/emulation/Emulation.h), every access is held
// against PTX's memory model. With tracking off, an access costs one more branch.
//
// Kernels may lie in other shared objects than the emulation does: all that is
// not inline here is looked up in the one copy that the program has loaded.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_PLATFORMEMULATED_H
#define COIL_RUNTIME_KERNELS_EMULATION_PLATFORMEMULATED_H

#include "runtime/kernels/device/Platform.h"

#define COIL_DEVICE
#define COIL_KERNEL
#define COIL_GRID_CONSTANT

namespace coil::emulation {

using device::Pair;
using device::Scope;
using device::u32;
using device::u64;
using device::u8;

/// Where device code makes an access: the caller's line, when a default argument.
struct Site {
  const char *file;
  u32 line;

  static constexpr Site here(const char *file = __builtin_FILE(), u32 line = __builtin_LINE()) {
    return {file, line};
  }
};

/// Whether accesses are tracked. Changes only while no kernel runs.
extern bool tracking;

namespace seam {

u32 threadIndex();
u32 blockThreads();
u32 blockIndex();
u8 *sharedMemory();
void syncBlock(Site site);
bool syncBlockOr(bool mine, Site site);
void syncWarp(Site site);
bool anyInWarp(bool mine, Site site);
Pair loadLine(const u8 *line, Site site);
void storeLine(u8 *line, Pair value, Site site);
u64 nanoseconds();
void pause();

/// The device's, as 10 * major + minor.
u32 computeCapability();
void beginBulkCopies(u64 *barriers, u32 count, Site site);
void startBulkLoad(u8 *shared, const u8 *global, u32 bytes, u64 *barrier, Site site);
void awaitBulkLoad(u64 *barrier, u32 turn, Site site);
void startBulkStore(u8 *global, const u8 *shared, u32 bytes, Site site);
void awaitBulkReads(u32 latest);
void endBulkCopies(u64 *barriers, u32 count, Site site);

/// Reports an access whose address is no multiple of its size. Does not return, as
/// a GPU does not go on from there: the launch ends.
[[noreturn]] void reportMisaligned(const void *address, u32 size, Site site);

// The tracked form of every access; `size` is in bytes, at most 16.
void trackedLoad(const void *address, void *word, u32 size, Site site);
void trackedStore(void *address, const void *word, u32 size, Site site);
u64 trackedAtomicLoad(const u64 *address, Scope scope, bool acquire, Site site);
void trackedAtomicStore(u64 *address, u64 value, Scope scope, bool release, Site site);
u64 trackedAdd(u64 *address, u64 value, Scope scope, Site site);
bool trackedCompareAndSwap(u64 *address, u64 expected, u64 desired, Scope scope, Site site);
Pair trackedLoadPair(const Pair *address, Site site);
void trackedStorePair(Pair *address, Pair value, Site site);

inline void checkAlignment(const void *address, u32 size, Site site) {
  if (reinterpret_cast<__UINTPTR_TYPE__>(address) % size != 0) [[unlikely]]
    reportMisaligned(address, size, site);
}

} // namespace seam

} // namespace coil::emulation

namespace coil::device {

inline u32 threadIndex() { return emulation::seam::threadIndex(); }
inline u32 blockThreads() { return emulation::seam::blockThreads(); }
inline u32 blockIndex() { return emulation::seam::blockIndex(); }
inline u32 laneIndex() { return emulation::seam::threadIndex() % 32; }
inline u8 *sharedMemory() { return emulation::seam::sharedMemory(); }

inline void syncBlock(emulation::Site site = emulation::Site::here()) {
  emulation::seam::syncBlock(site);
}
inline bool syncBlockOr(bool mine, emulation::Site site = emulation::Site::here()) {
  return emulation::seam::syncBlockOr(mine, site);
}
inline void syncWarp(emulation::Site site = emulation::Site::here()) {
  emulation::seam::syncWarp(site);
}
/// Gives no order of memory accesses, as a warp vote gives none.
inline bool anyInWarp(bool mine, emulation::Site site = emulation::Site::here()) {
  return emulation::seam::anyInWarp(mine, site);
}

template <Scope scope>
inline u64 loadAcquire(const u64 *address, emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(address, sizeof(u64), site);
  if (emulation::tracking) [[unlikely]]
    return emulation::seam::trackedAtomicLoad(address, scope, true, site);
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}

template <Scope scope>
inline u64 loadRelaxed(const u64 *address, emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(address, sizeof(u64), site);
  if (emulation::tracking) [[unlikely]]
    return emulation::seam::trackedAtomicLoad(address, scope, false, site);
  return __atomic_load_n(address, __ATOMIC_RELAXED);
}

template <Scope scope>
inline void storeRelease(u64 *address, u64 value, emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(address, sizeof(u64), site);
  if (emulation::tracking) [[unlikely]]
    return emulation::seam::trackedAtomicStore(address, value, scope, true, site);
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
}

template <Scope scope>
inline void storeRelaxed(u64 *address, u64 value, emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(address, sizeof(u64), site);
  if (emulation::tracking) [[unlikely]]
    return emulation::seam::trackedAtomicStore(address, value, scope, false, site);
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
}

template <Scope scope>
inline u64 addAcquireRelease(u64 *address, u64 value,
                             emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(address, sizeof(u64), site);
  if (emulation::tracking) [[unlikely]]
    return emulation::seam::trackedAdd(address, value, scope, site);
  return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}

template <Scope scope>
inline bool compareAndSwap(u64 *address, u64 expected, u64 desired,
                           emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(address, sizeof(u64), site);
  if (emulation::tracking) [[unlikely]]
    return emulation::seam::trackedCompareAndSwap(address, expected, desired, scope, site);
  return __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}

inline Pair loadRelaxedPair(const Pair *address, emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(address, sizeof(Pair), site);
  if (emulation::tracking) [[unlikely]]
    return emulation::seam::trackedLoadPair(address, site);
  return {__atomic_load_n(&address->first, __ATOMIC_RELAXED),
          __atomic_load_n(&address->second, __ATOMIC_RELAXED)};
}

inline void storeRelaxedPair(Pair *address, Pair value,
                             emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(address, sizeof(Pair), site);
  if (emulation::tracking) [[unlikely]]
    return emulation::seam::trackedStorePair(address, value, site);
  __atomic_store_n(&address->first, value.first, __ATOMIC_RELAXED);
  __atomic_store_n(&address->second, value.second, __ATOMIC_RELAXED);
}

inline Pair loadLine(const u8 *line, emulation::Site site = emulation::Site::here()) {
  return emulation::seam::loadLine(line, site);
}
inline void storeLine(u8 *line, Pair value, emulation::Site site = emulation::Site::here()) {
  emulation::seam::storeLine(line, value, site);
}

template <typename Word>
inline Word loadData(const void *address, emulation::Site site = emulation::Site::here()) {
  static_assert(sizeof(Word) == 1 || sizeof(Word) == 2 || sizeof(Word) == 4 || sizeof(Word) == 8 ||
                sizeof(Word) == 16);
  emulation::seam::checkAlignment(address, sizeof(Word), site);
  Word word;
  if (emulation::tracking) [[unlikely]]
    emulation::seam::trackedLoad(address, &word, sizeof(Word), site);
  else
    __builtin_memcpy(&word, address, sizeof(Word));
  return word;
}

template <typename Word>
inline void storeData(void *address, Word word, emulation::Site site = emulation::Site::here()) {
  static_assert(sizeof(Word) == 1 || sizeof(Word) == 2 || sizeof(Word) == 4 || sizeof(Word) == 8 ||
                sizeof(Word) == 16);
  emulation::seam::checkAlignment(address, sizeof(Word), site);
  if (emulation::tracking) [[unlikely]]
    emulation::seam::trackedStore(address, &word, sizeof(Word), site);
  else
    __builtin_memcpy(address, &word, sizeof(Word));
}

inline constexpr bool forHopper = true;
inline bool hasBulkCopies() { return emulation::seam::computeCapability() >= 90; }
inline bool hasMultimem() { return emulation::seam::computeCapability() >= 90; }

inline void beginBulkCopies(u64 *barriers, u32 count,
                            emulation::Site site = emulation::Site::here()) {
  emulation::seam::beginBulkCopies(barriers, count, site);
}
inline void startBulkLoad(u8 *shared, const u8 *global, u32 bytes, u64 *barrier,
                          emulation::Site site = emulation::Site::here()) {
  emulation::seam::startBulkLoad(shared, global, bytes, barrier, site);
}
inline void awaitBulkLoad(u64 *barrier, u32 turn, emulation::Site site = emulation::Site::here()) {
  emulation::seam::awaitBulkLoad(barrier, turn, site);
}
inline void startBulkStore(u8 *global, const u8 *shared, u32 bytes,
                           emulation::Site site = emulation::Site::here()) {
  emulation::seam::startBulkStore(global, shared, bytes, site);
}
template <u32 latest> inline void awaitBulkReads() { emulation::seam::awaitBulkReads(latest); }
inline void endBulkCopies(u64 *barriers, u32 count,
                          emulation::Site site = emulation::Site::here()) {
  emulation::seam::endBulkCopies(barriers, count, site);
}

/// Combines from another rank on for each word, as nothing may rest on the order.
template <SwitchReduction, typename Combine>
inline Vector16 loadMultimemWord(const MulticastPlace &place, u64 offset, Combine combine,
                                 emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(place.multicast + offset, sizeof(Vector16), site);
  u64 first = offset / sizeof(Vector16);
  return combine([&](u32 turn) {
    return loadData<Vector16>(place.unicast[(first + turn) % place.ranks] + offset, site);
  });
}

inline void storeMultimemWord(const MulticastPlace &place, u64 offset, Vector16 word,
                              emulation::Site site = emulation::Site::here()) {
  emulation::seam::checkAlignment(place.multicast + offset, sizeof(Vector16), site);
  for (u32 rank = 0; rank < place.ranks; ++rank)
    storeData(place.unicast[rank] + offset, word, site);
}

/// Multicast addresses are resolved before they are accessed.
inline void orderMultimem() {}

inline u64 nanoseconds() { return emulation::seam::nanoseconds(); }
inline void pause() { emulation::seam::pause(); }

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_EMULATION_PLATFORMEMULATED_H
