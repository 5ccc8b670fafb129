//===- History.cpp - Who has accessed which memory, in what order ---------===//

#include "runtime/kernels/emulation/History.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <shared_mutex>

namespace coil::emulation {

namespace {

/// All shadow pages, in parts that are locked apart.
struct Shadow {
  struct Part {
    std::mutex mutex;
    std::unordered_map<std::uintptr_t, std::unique_ptr<ShadowPage>> pages;
  };
  std::array<Part, 64> parts;

  // What the host knows of blocks that have ended, and which launches run.
  std::mutex mutex;
  std::uint64_t nextBlock = 0;
  std::map<std::uint64_t, u32> running; ///< launches: first block, and blocks
  Clock ended;
};

/// Never destroyed: threads may outlive static objects.
Shadow &shadow() {
  static Shadow *shadow = new Shadow;
  return *shadow;
}

const char *kindName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return "load";
  case AccessKind::Store:
    return "store";
  case AccessKind::AtomicLoad:
    return "atomic load";
  case AccessKind::AtomicStore:
    return "atomic store";
  case AccessKind::AtomicUpdate:
    return "atomic update";
  }
  return "access";
}

const char *scopeName(Scope scope) {
  switch (scope) {
  case Scope::Block:
    return "block";
  case Scope::Device:
    return "device";
  case Scope::System:
    return "system";
  }
  return "no";
}

std::string describe(const Access &access) {
  return fmt::format(
      "{}-byte {}{} by device {}, block {}, thread {} ({})", access.size, kindName(access.kind),
      access.isAtomic() ? fmt::format(" at {} scope", scopeName(access.scope)) : "",
      access.place.device, access.place.blockIndex, access.place.thread, text(access.site));
}

std::string keyOf(const Access &a, const Access &b) {
  return fmt::format("{}:{}:{} {}:{}:{}", a.site.file, a.site.line, int(a.kind), b.site.file,
                     b.site.line, int(b.kind));
}

bool conflict(const Access &earlier, const Access &later) {
  if (!(earlier.mask & later.mask) || !(earlier.isWrite() || later.isWrite()))
    return false;
  return !(earlier.isAtomic() && later.isAtomic() &&
           includeEachOther(earlier.place, earlier.scope, later.place, later.scope));
}

/// Whether whatever would race with `earlier`, known to precede `later`, races
/// with `later` too.
bool supersedes(const Access &later, const Access &earlier) {
  if (!later.isWrite() && earlier.isWrite())
    return false;
  return !later.isAtomic() || (earlier.isAtomic() && later.scope <= earlier.scope);
}

void reportRace(ThreadHistory &thread, const Access &earlier, const Access &later,
                const void *address) {
  bool scopesAlone = earlier.isAtomic() && later.isAtomic();
  thread.problems->report(
      ProblemKind::Race, keyOf(earlier, later),
      fmt::format("race at {}: {} and, earlier, {} {}", address, describe(later), describe(earlier),
                  scopesAlone ? "are not ordered, and their scopes do not include each other"
                              : "are not ordered"));
}

} // namespace

bool includeEachOther(const Place &a, Scope aScope, const Place &b, Scope bScope) {
  Scope smaller = std::min(aScope, bScope);
  return smaller == Scope::System || (smaller == Scope::Device && a.device == b.device) ||
         a.block == b.block;
}

SharedClock ThreadHistory::release() {
  auto clock = std::make_shared<Clock>(*known);
  clock->add(now());
  ++epoch;
  return clock;
}

ShadowPage &findPage(ThreadHistory &thread, const void *address) {
  std::uintptr_t number = reinterpret_cast<std::uintptr_t>(address) / shadowPageBytes;
  auto &cached = thread.pages[number % thread.pages.size()];
  if (cached.second && cached.first == number)
    return *cached.second;
  Shadow::Part &part = shadow().parts[number % shadow().parts.size()];
  std::lock_guard lock(part.mutex);
  std::unique_ptr<ShadowPage> &page = part.pages[number];
  if (!page)
    page = std::make_unique<ShadowPage>();
  cached = {number, page.get()};
  return *page;
}

void addAccess(ThreadHistory &thread, Granule &granule, const void *address, Access access) {
  bool isMerged = false;
  std::erase_if(granule.accesses, [&](Access &earlier) {
    if (!thread.covers(earlier.moment())) {
      if (conflict(earlier, access))
        reportRace(thread, earlier, access, address);
      return false;
    }
    if (earlier.kind == access.kind && earlier.epoch == access.epoch &&
        earlier.scope == access.scope && earlier.place.block == access.place.block &&
        earlier.place.thread == access.place.thread) {
      earlier.mask |= access.mask;
      earlier.site = access.site;
      isMerged = true;
      return false;
    }
    if (supersedes(access, earlier))
      earlier.mask &= static_cast<u8>(~access.mask);
    return earlier.mask == 0;
  });
  if (!isMerged)
    granule.accesses.push_back(access);
  if (access.kind == AccessKind::Store)
    granule.word = nullptr; // releases of what stood there can be acquired no more
}

namespace {

/// What the thread synchronises with when it acquires the word's value.
void acquire(ThreadHistory &thread, const WordHistory &word, Scope scope) {
  for (Scope releaseScope : {Scope::Block, Scope::Device, Scope::System}) {
    const Released &released = word.released[static_cast<int>(releaseScope)];
    Scope smaller = std::min(scope, releaseScope);
    bool reaches = smaller == Scope::System ||
                   (smaller == Scope::Device && released.device == thread.place.device) ||
                   released.block == thread.place.block;
    if (released.clock && reaches)
      thread.learn(released.clock);
  }
}

void addReleased(ThreadHistory &thread, WordHistory &word, Scope scope) {
  Released &released = word.released[static_cast<int>(scope)];
  const Place &place = thread.place;
  SharedClock clock = thread.release();
  if (!released.clock) {
    released = {clock, place.device, place.block};
    return;
  }
  released.clock = join(released.clock, clock);
  if (released.device != place.device)
    released.device = Released::mixed;
  if (released.block != place.block)
    released.block = Released::mixed;
}

WordHistory &wordOf(Granule &granule) {
  if (!granule.word)
    granule.word = std::make_unique<WordHistory>();
  return *granule.word;
}

} // namespace

void addAtomicAccess(ThreadHistory &thread, Granule &granule, const void *address,
                     AtomicAccess atomic, Site site) {
  Access access{thread.place, thread.epoch, site, atomic.scope, atomic.kind, 0xff, 8};
  addAccess(thread, granule, address, access);
  WordHistory &word = wordOf(granule);
  bool seesWriter =
      word.hasWriter && includeEachOther(word.writer, word.writerScope, thread.place, atomic.scope);
  if (atomic.acquires && seesWriter)
    acquire(thread, word, atomic.scope);
  if (!access.isWrite())
    return;
  // An update hands on the releases of the value that it replaces; a store does not.
  if (atomic.kind == AccessKind::AtomicStore || !seesWriter)
    word.released = {};
  if (atomic.releases)
    addReleased(thread, word, atomic.scope);
  word.writer = thread.place;
  word.writerScope = atomic.scope;
  word.hasWriter = true;
  word.isPacked = false;
}

namespace {

/// Whether the value of a packed word, about to be replaced, has been read, but the
/// thread has heard nothing of a reader's block since the value was stored. Values
/// that nobody has read may be padding, and reads may be polls for the next value.
bool isReplacedTooEarly(const ThreadHistory &thread, const WordHistory &word) {
  if (word.packedLoads.empty())
    return false;
  return std::none_of(word.packedLoads.begin(), word.packedLoads.end(), [&](const Moment &load) {
    return thread.covers(load) || thread.known->knowsMoreOf(load.block, *word.knownAtPackedStore);
  });
}

} // namespace

void addPackedAccess(ThreadHistory &thread, Granule &granule, const u64 *address, const u64 *stored,
                     Site site) {
  AccessKind kind = stored ? AccessKind::AtomicStore : AccessKind::AtomicLoad;
  Access access{thread.place, thread.epoch, site, Scope::System, kind, 0xff, 8};
  WordHistory *word = granule.word.get();
  // To store once more what is there changes nothing for a reader.
  bool changes = stored && __atomic_load_n(address, __ATOMIC_RELAXED) != *stored;
  if (changes && word && word->isPacked && isReplacedTooEarly(thread, *word))
    thread.problems->report(
        ProblemKind::Overwrite, "overwrite " + keyOf(word->packedStore, access),
        fmt::format("packed word at {}: {} replaces what was stored by {} and has been read, but "
                    "nothing has been heard of the reader since",
                    fmt::ptr(address), describe(access), describe(word->packedStore)));
  bool wasPacked = word && word->isPacked;
  addAtomicAccess(thread, granule, address, {kind, Scope::System, false, false}, site);
  word = granule.word.get();
  if (stored) {
    word->isPacked = true;
    if (wasPacked && !changes)
      return;
    word->packedStore = access;
    word->knownAtPackedStore = thread.known;
    word->packedLoads.clear();
    return;
  }
  if (!word->isPacked)
    return;
  // A thread's first load of a value is the one that the others need to know of.
  auto isOwn = [&](const Moment &load) {
    return load.block == access.place.block && load.thread == access.place.thread;
  };
  if (std::none_of(word->packedLoads.begin(), word->packedLoads.end(), isOwn))
    word->packedLoads.push_back(access.moment());
}

std::vector<BlockNumbers> beginLaunches(std::span<const u32> blockCounts) {
  Shadow &all = shadow();
  std::lock_guard lock(all.mutex);
  auto start = std::make_shared<const Clock>(all.ended);
  std::vector<BlockNumbers> launches;
  for (u32 count : blockCounts) {
    launches.push_back({all.nextBlock, count, start});
    all.running.emplace(all.nextBlock, count);
    all.nextBlock += count;
  }
  return launches;
}

void endBlock(std::span<ThreadHistory *const> threads) {
  Shadow &all = shadow();
  std::lock_guard lock(all.mutex);
  const Clock *last = nullptr;
  for (ThreadHistory *thread : threads)
    if (thread->known.get() != last) {
      last = thread->known.get();
      all.ended.join(*last);
    }
}

void endLaunch(const BlockNumbers &blocks) {
  Shadow &all = shadow();
  std::lock_guard lock(all.mutex);
  for (std::uint64_t block = blocks.first; block < blocks.first + blocks.count; ++block)
    all.ended.addBarrier(block, allBarriers);
  all.running.erase(blocks.first);
  all.ended.addBlocksBelow(all.running.empty() ? all.nextBlock : all.running.begin()->first);
  // With no launch left, whatever comes is ordered with all that has been.
  if (all.running.empty())
    for (Shadow::Part &part : all.parts) {
      std::lock_guard partLock(part.mutex);
      part.pages.clear();
    }
}

void joinBlock(std::span<ThreadHistory *const> threads) {
  auto joined = std::make_shared<Clock>(*threads.front()->known);
  const Clock *last = threads.front()->known.get();
  for (ThreadHistory *thread : threads)
    if (thread->known.get() != last) {
      last = thread->known.get();
      joined->join(*last);
    }
  std::uint32_t barrier = barrierOf(threads.front()->epoch);
  joined->addBarrier(threads.front()->place.block, barrier);
  for (ThreadHistory *thread : threads) {
    thread->known = joined;
    thread->epoch = firstEpoch(barrier + 1);
  }
}

void joinWarp(std::span<ThreadHistory *const> threads) {
  auto joined = std::make_shared<Clock>(*threads.front()->known);
  const Clock *last = threads.front()->known.get();
  for (ThreadHistory *thread : threads) {
    if (thread->known.get() != last) {
      last = thread->known.get();
      joined->join(*last);
    }
    joined->add(thread->now());
    ++thread->epoch;
  }
  for (ThreadHistory *thread : threads)
    thread->known = joined;
}

} // namespace coil::emulation
