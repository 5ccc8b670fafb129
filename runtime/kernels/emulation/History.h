//===- History.h - Who has accessed which memory, in what order -*- C++ -*-===//
//
// The shadow of all memory that tracked device code accesses. Every eight bytes
// have a list of their last accesses, each with the moment of its thread, and
// what releases are there to be acquired. An access that no earlier conflicting
// access is known to precede is a race, whether or not it went well this time.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_HISTORY_H
#define COIL_RUNTIME_KERNELS_EMULATION_HISTORY_H

#include "runtime/kernels/emulation/Clock.h"
#include "runtime/kernels/emulation/Problems.h"

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace coil::emulation {

/// Where a thread runs. `block` has a number that no other block has.
struct Place {
  std::uint64_t block;
  u32 blockIndex, device, thread;
};

/// Whether accesses of the two threads at these scopes see each other as atomic.
bool includeEachOther(const Place &a, Scope aScope, const Place &b, Scope bScope);

enum class AccessKind : u8 { Load, Store, AtomicLoad, AtomicStore, AtomicUpdate };

/// One access of up to eight bytes, aligned to eight bytes as a whole.
struct Access {
  Place place;
  Epoch epoch;
  Site site;
  Scope scope; ///< of atomic accesses
  AccessKind kind;
  u8 mask; ///< the bytes, lowest address in bit 0
  u8 size; ///< of the whole access

  Moment moment() const { return {place.block, place.thread, epoch}; }
  bool isWrite() const { return kind != AccessKind::Load && kind != AccessKind::AtomicLoad; }
  bool isAtomic() const { return kind != AccessKind::Load && kind != AccessKind::Store; }
};

/// What releases of a word's value an acquire of it synchronises with: those of
/// one scope, joined. `device` and `block` are where they were made, or mixed.
struct Released {
  static constexpr std::uint64_t mixed = ~std::uint64_t(0);
  SharedClock clock; ///< null: none
  std::uint64_t device = 0, block = 0;
};

/// What is known of a word that has been accessed atomically.
struct WordHistory {
  std::array<Released, 3> released; ///< for each scope
  Place writer;                     ///< of the last write
  Scope writerScope;
  bool hasWriter = false;
  // Of packed words: what its last store was, and who has loaded that value.
  bool isPacked = false;
  Access packedStore;
  SharedClock knownAtPackedStore;
  std::vector<Moment> packedLoads;
};

struct Granule {
  std::vector<Access> accesses;
  std::unique_ptr<WordHistory> word;
};

inline constexpr std::size_t shadowPageBytes = 4096;

struct ShadowPage {
  std::mutex mutex;
  std::array<Granule, shadowPageBytes / 8> granules;

  Granule &granule(const void *address) {
    return granules[reinterpret_cast<std::uintptr_t>(address) % shadowPageBytes / 8];
  }
};

/// A thread's own part.
struct ThreadHistory {
  Place place;
  SharedClock known; ///< of other threads
  Epoch epoch = firstEpoch(1);
  Problems *problems = nullptr;
  /// Pages that the thread has found before.
  std::array<std::pair<std::uintptr_t, ShadowPage *>, 16> pages = {};

  Moment now() const { return {place.block, place.thread, epoch}; }
  bool covers(const Moment &moment) const {
    return (moment.block == place.block && moment.thread == place.thread) || known->covers(moment);
  }
  void learn(const SharedClock &clock) { known = join(known, clock); }
  /// All that the thread knows, itself included; what it does next is no part of it.
  SharedClock release();
};

/// The shadow page of an address.
ShadowPage &findPage(ThreadHistory &thread, const void *address);

/// Checks an access against those before it, and adds it. The page is locked.
void addAccess(ThreadHistory &thread, Granule &granule, const void *address, Access access);

/// Adds an atomic access of the word at `address` to its history: takes over what
/// an acquire sees, leaves what a release gives. The page is locked, and stays so
/// while the word itself is accessed.
struct AtomicAccess {
  AccessKind kind;
  Scope scope;
  bool acquires, releases;
};
void addAtomicAccess(ThreadHistory &thread, Granule &granule, const void *address,
                     AtomicAccess access, Site site);

/// The same for one half of a pair, or of a lane's part of a line: a load, or a
/// store of `*stored`.
void addPackedAccess(ThreadHistory &thread, Granule &granule, const u64 *address, const u64 *stored,
                     Site site);

/// Blocks of a launch, in the order of all launches.
struct BlockNumbers {
  std::uint64_t first;
  u32 count;
  SharedClock start; ///< what is known when they start
};
/// Begins launches that run at the same time, given the blocks of each.
std::vector<BlockNumbers> beginLaunches(std::span<const u32> blockCounts);
/// What a block's threads know when they have ended goes to the host, before
/// endLaunch().
void endBlock(std::span<ThreadHistory *const> threads);
void endLaunch(const BlockNumbers &blocks);

/// All threads of a block have met: each knows what all know.
void joinBlock(std::span<ThreadHistory *const> threads);
/// The threads of a warp have met.
void joinWarp(std::span<ThreadHistory *const> threads);

} // namespace coil::emulation

#endif // COIL_RUNTIME_KERNELS_EMULATION_HISTORY_H
