//===- Waiting.h - Waits that end -------------------------------*- C++ -*-===//
//
// Every wait of device code polls here, so that none outlasts a failure: while it
// polls it looks for HostBoard::abort and at the clock. A wait that gives up
// reports what it waited for, if it is the first of its rank, and tells the rank's
// other blocks.
//
// Participants: the calling thread alone.
// Memory order: a wait that returns true has acquired, at system scope, what the
//   writer of the word released. The caller brings other threads of the block to it
//   by synchronising.
// Progress: returns within the time-out, if there is one, or soon after an abort.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_WAITING_H
#define COIL_RUNTIME_KERNELS_DEVICE_WAITING_H

#include "runtime/kernels/device/Platform.h"
#include "runtime/kernels/device/SharedLayout.h"

namespace coil::device {

/// What a thread waits for, for the report.
struct Obstacle {
  u32 location; ///< in the plan's locations
  u32 peer;     ///< rank
  u32 channel;  ///< index of the worker's end, or noChannel
  u64 expected; ///< ordinal or call
};
inline constexpr u32 noChannel = ~0u;

/// Polls between looks at the host's memory, which is far, and at the clock.
inline constexpr u32 pollsBetweenChecks = 256;

/// Reports a failure, if it is the rank's first, and ends all waits of the rank.
COIL_OUTLINED void giveUp(const BlockFacts &facts, FailureKind kind, const Obstacle &obstacle,
                          u64 found) {
  HostBoard *board = facts.board;
  if (compareAndSwap<Scope::System>(&board->claimed, 0, 1)) {
    FailureReport *report = &board->report;
    // 64-bit words: the seam's smallest that orders. The host reads them as fields.
    u64 *words = reinterpret_cast<u64 *>(report);
    static_assert(sizeof(FailureReport) == 40 && sizeof(FailureKind) == 4);
    storeRelaxed<Scope::System>(words + 1, facts.instance | u64(obstacle.location) << 32);
    storeRelaxed<Scope::System>(words + 2, obstacle.peer | u64(obstacle.channel) << 32);
    storeRelaxed<Scope::System>(words + 3, obstacle.expected);
    storeRelaxed<Scope::System>(words + 4, found);
    storeRelease<Scope::System>(words, static_cast<u32>(kind) | u64(facts.worker) << 32);
  }
  storeRelease<Scope::System>(&board->abort, 1);
}

/// A wait's memory: made when it begins, asked after each vain poll.
class Patience {
public:
  COIL_DEVICE explicit Patience(const BlockFacts &facts) : facts(facts) {}

  /// False once the wait must end; it has been reported then. `found` is what was
  /// there instead of what is expected.
  COIL_DEVICE bool poll(const Obstacle &obstacle, u64 found) {
    pause();
    if (++polls % pollsBetweenChecks != 0)
      return true;
    if (loadRelaxed<Scope::System>(&facts.board->abort) != 0) {
      giveUp(facts, FailureKind::Aborted, obstacle, found);
      return false;
    }
    u64 now = nanoseconds();
    if (begin == 0)
      begin = now;
    if (facts.timeoutNanoseconds == 0 || now - begin < facts.timeoutNanoseconds)
      return true;
    giveUp(facts, FailureKind::TimedOut, obstacle, found);
    return false;
  }

private:
  const BlockFacts &facts;
  u64 begin = 0; ///< time of the first check
  u32 polls = 0;
};

/// Waits until `*counter`, which only grows, is at least obstacle.expected.
/// Returns what it is then, or 0 if the wait gave up. `expected` is at least 1.
template <Scope scope>
COIL_OUTLINED u64 awaitCounter(const BlockFacts &facts, const u64 *counter, Obstacle obstacle) {
  Patience patience(facts);
  while (true) {
    u64 found = loadAcquire<scope>(counter);
    if (found >= obstacle.expected)
      return found;
    if (!patience.poll(obstacle, found))
      return 0;
  }
}

/// Whether a peer's call is this one; a failure if not.
COIL_DEVICE inline bool agree(const BlockFacts &facts, u64 fingerprint, Obstacle obstacle) {
  if (fingerprint == facts.fingerprint)
    return true;
  obstacle.expected = facts.fingerprint;
  giveUp(facts, FailureKind::Disagreement, obstacle, fingerprint);
  return false;
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_WAITING_H
