//===- Clock.h - Which events a thread knows to have happened ---*- C++ -*-===//
//
// A vector clock with a component for every emulated thread, stored by block:
// since all threads of a block meet at its barriers, one number, the last barrier
// that is known to be complete, stands for all of them, and only threads that are
// known to be further are listed.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_CLOCK_H
#define COIL_RUNTIME_KERNELS_EMULATION_CLOCK_H

#include <cstdint>
#include <memory>
#include <vector>

namespace coil::emulation {

/// A thread's time: the number of the block barrier that will come next, counted
/// from 1, in the high half; the thread's releases since the last one in the low.
using Epoch = std::uint64_t;

inline Epoch firstEpoch(std::uint32_t barrier) { return Epoch(barrier) << 32; }
inline std::uint32_t barrierOf(Epoch epoch) { return static_cast<std::uint32_t>(epoch >> 32); }

/// Every event of a block, past and future: what is known of a block that ended.
inline constexpr std::uint32_t allBarriers = ~std::uint32_t(0);

/// One time of one thread.
struct Moment {
  std::uint64_t block; ///< a number that no other block of the process has
  std::uint32_t thread;
  Epoch epoch;
};

class Clock {
public:
  bool covers(const Moment &moment) const;
  /// Whether this clock knows an event of the block that the other does not.
  bool knowsMoreOf(std::uint64_t block, const Clock &other) const;

  void join(const Clock &other);
  void add(const Moment &moment);
  /// All events of the block up to its barrier number `barrier`.
  void addBarrier(std::uint64_t block, std::uint32_t barrier);
  /// All events of all blocks below `block`.
  void addBlocksBelow(std::uint64_t block);

private:
  struct Ahead {
    std::uint32_t thread;
    Epoch epoch;
  };
  struct Entry {
    std::uint64_t block;
    std::uint32_t barrier;    ///< the last one known to be complete
    std::vector<Ahead> ahead; ///< threads known to be further, in order
  };
  Entry &entry(std::uint64_t block);
  const Entry *find(std::uint64_t block) const; ///< null if nothing is known
  static void raise(Entry &entry, std::uint32_t barrier);
  static void raise(Entry &entry, const Ahead &ahead);

  std::uint64_t lowest = 0;
  std::vector<Entry> entries; ///< in order of blocks, none below `lowest`
};

using SharedClock = std::shared_ptr<const Clock>;

/// The join of two clocks; one of them itself if they are the same.
SharedClock join(const SharedClock &a, const SharedClock &b);

} // namespace coil::emulation

#endif // COIL_RUNTIME_KERNELS_EMULATION_CLOCK_H
