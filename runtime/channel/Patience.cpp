//===- Patience.cpp - How a rank waits for others -------------------------===//

#include "runtime/channel/Patience.h"

#include <sched.h>
#include <thread>

namespace coil {

namespace {
using namespace std::chrono_literals;

/// Waits longer than this are no matter of microseconds any more: sleep.
constexpr auto sleepAfter = 100ms;
constexpr auto sleepTime = 50us;
/// Between looks at shared memory for reasons to give up.
constexpr auto lookInterval = 1ms;
/// Between questions to the operating system whether ranks are gone.
constexpr auto askInterval = 10ms;
} // namespace

Patience::Patience(const Group &group)
    // With a processor for each rank nothing is gained by yielding soon; with
    // fewer, the rank that is waited for may be waiting for this processor.
    : group(group), pollLimit(group.ranks <= group.processors ? 2000 : 50) {}

Status Patience::rest(const Obstacle &obstacle) {
  if (group.mine().poison.isSet())
    return group.mine().poison.status();
  bool first = polls == pollLimit + 1;
  if (first) {
    rests = 0;
    lastTry = false;
  }
  // The clock is not read on short waits.
  constexpr uint64_t restsBeforeClock = 8;
  if (++rests < restsBeforeClock) {
    sched_yield();
    return Status::ok();
  }
  Clock::time_point now = Clock::now();
  if (rests == restsBeforeClock)
    start = lastLook = lastAsk = now;
  if (now - start > sleepAfter)
    std::this_thread::sleep_for(sleepTime);
  else
    sched_yield();
  if (lastTry || now - lastLook >= lookInterval)
    return lookAround(obstacle, now);
  return Status::ok();
}

Status Patience::lookAround(const Obstacle &obstacle, Clock::time_point now) {
  lastLook = now;
  COIL_RETURN_IF_ERROR(group.checkAgreement(sequence));
  bool askSystem = lastTry || now - lastAsk >= askInterval;
  if (askSystem)
    lastAsk = now;
  Status gone = findGone(obstacle, askSystem);
  if (!gone.isOk()) {
    // It may have done its part before it went.
    if (lastTry)
      return gone;
    lastTry = true;
    return Status::ok();
  }
  auto waited = std::chrono::duration<double>(now - start);
  if (group.timeoutMs != 0 && waited > std::chrono::duration<double, std::milli>(group.timeoutMs))
    return timeOut(obstacle, waited.count());
  return Status::ok();
}

Status Patience::findGone(const Obstacle &obstacle, bool askSystem) const {
  for (int other = 0; other < group.ranks; ++other) {
    if (other == group.rank || !obstacle.waitsFor(other))
      continue;
    if (group.of(other).departed.load(std::memory_order_acquire) != 0)
      return Status::error(StatusCode::RemoteError,
                           "rank {} (pid {}) has destroyed its communicator, rank {} waits {}",
                           other, group.processIds[static_cast<size_t>(other)], group.rank,
                           obstacle.describe());
    if (askSystem && group.isLost(other))
      return Status::error(
          StatusCode::RemoteError, "rank {} (pid {}) is gone: its process died; rank {} waits {}",
          other, group.processIds[static_cast<size_t>(other)], group.rank, obstacle.describe());
  }
  return Status::ok();
}

Status Patience::timeOut(const Obstacle &obstacle, double seconds) const {
  return Status::error(StatusCode::Timeout, "rank {} waited {:.1f} s {}, call {} ({}): {}",
                       group.rank, seconds, obstacle.describe(), sequence,
                       describe(group.mine().recordOf(sequence).arguments()),
                       group.describeMissing(sequence));
}

} // namespace coil
