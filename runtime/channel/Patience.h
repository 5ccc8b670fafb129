//===- Patience.h - How a rank waits for others -----------------*- C++ -*-===//
//
// Waiting goes through stages: poll, for what comes within microseconds; yield
// the processor, for more ranks than processors; sleep a little, for what takes
// long. From the second stage on it also looks for reasons to give up: poison,
// disagreement, a rank that is gone, the time-out.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CHANNEL_PATIENCE_H
#define COIL_RUNTIME_CHANNEL_PATIENCE_H

#include "runtime/channel/Group.h"

#include <chrono>
#include <string>

namespace coil {

/// What a rank waits for, asked only when the wait is long.
class Obstacle {
public:
  virtual bool waitsFor(int rank) const = 0;
  /// "for rank 0 in pop (ring.coil:4:7)".
  virtual std::string describe() const = 0;

protected:
  ~Obstacle() = default;
};

class Patience {
public:
  explicit Patience(const Group &group);

  /// Starts the waits of call `sequence`.
  void begin(uint64_t callSequence) {
    sequence = callSequence;
    polls = 0;
  }
  /// Something was achieved: the next wait is a new one.
  void progressed() { polls = 0; }
  /// True while polling at once is the best way to wait.
  bool mayPoll() {
    if (++polls > pollLimit)
      return false;
    if (polls > politePolls)
      relax();
    return true;
  }
  /// Lets others run. An error ends the wait; it is this rank's to report with
  /// Group::fail, which poison that came from others does not need.
  Status rest(const Obstacle &obstacle);

private:
  using Clock = std::chrono::steady_clock;

  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  Status lookAround(const Obstacle &obstacle, Clock::time_point now);
  Status findGone(const Obstacle &obstacle, bool askSystem) const;
  Status timeOut(const Obstacle &obstacle, double seconds) const;

  /// A pause costs more than a hundred cycles on some processors: the first
  /// polls go without.
  static constexpr uint32_t politePolls = 256;

  const Group &group;
  uint32_t pollLimit;
  uint64_t sequence = 0;
  uint32_t polls = 0;
  uint64_t rests = 0;
  Clock::time_point start, lastLook, lastAsk;
  bool lastTry = false; ///< someone is gone; what it left is looked at once more
};

/// Waits until `done` returns true.
template <typename Done> Status waitUntil(Patience &patience, const Obstacle &obstacle, Done done) {
  while (!done()) {
    if (patience.mayPoll())
      continue;
    COIL_RETURN_IF_ERROR(patience.rest(obstacle));
  }
  patience.progressed();
  return Status::ok();
}

} // namespace coil

#endif // COIL_RUNTIME_CHANNEL_PATIENCE_H
