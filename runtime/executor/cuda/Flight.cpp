//===- Flight.cpp - What goes wrong with calls in flight ------------------===//

#include "runtime/executor/cuda/FailureText.h"
#include "runtime/executor/cuda/RankInside.h"

#include <algorithm>
#include <thread>

namespace coil::cuda {

using device::FailureKind;

namespace {
using namespace std::chrono_literals;

/// A kernel that was told to end does so within this time, unless its device is
/// stuck.
constexpr auto abortTime = 2s;

device::FailureReport reportOf(const LoadedCudaPlan::State &plan) {
  return plan.board().report; // complete: its kind was seen
}
} // namespace

void CudaRank::State::add(LoadedCudaPlan::State &plan) {
  std::lock_guard lock(plansMutex);
  plans.push_back(&plan);
}

void CudaRank::State::remove(LoadedCudaPlan::State &plan) {
  std::lock_guard lock(plansMutex);
  std::erase(plans, &plan);
}

void CudaRank::State::abortAll() {
  std::lock_guard lock(plansMutex);
  for (const LoadedCudaPlan::State *plan : plans)
    plan->abort();
}

bool CudaRank::State::look() {
  std::lock_guard lock(plansMutex);
  Status failure = poison();
  if (failure.isOk()) {
    failure = findFailure();
    if (!failure.isOk())
      (void)group.fail(Status(failure.code(), failure.message()));
  }
  bool inFlight = false;
  for (const LoadedCudaPlan::State *plan : plans) {
    if (!failure.isOk())
      plan->abort();
    inFlight |= plan->isInFlight();
  }
  // An aborted call has been seen to, whether or not it ever ends.
  return inFlight && failure.isOk();
}

Status CudaRank::State::findFailure() {
  COIL_RETURN_IF_ERROR(findReport());
  COIL_RETURN_IF_ERROR(findDisagreement());
  if (Result<bool> idle = stream.isIdle(); !idle.isOk())
    return std::move(idle).status().withContext(
        fmt::format("rank {} lost its calls in flight on {}", rank(), device->describe()));
  return findGone();
}

Status CudaRank::State::findReport() {
  for (const LoadedCudaPlan::State *plan : plans) {
    FailureKind kind = plan->failureKind();
    // An aborted call is somebody else's failure, which is told by whoever aborted.
    if (kind != FailureKind::None && kind != FailureKind::Aborted)
      return failureOf({plan->plan, rank(), config.timeoutMs, logs}, reportOf(*plan));
  }
  return Status::ok();
}

/// Calls that never meet on a device: of different plans, or from different roots.
Status CudaRank::State::findDisagreement() const {
  for (uint32_t other = 0; other < logs.size(); ++other) {
    if (other == rank() || log->hasCaptured() || logs[other]->hasCaptured())
      continue;
    constexpr uint64_t depth = 32;
    uint64_t last = std::min(log->enqueued(), logs[other]->enqueued());
    for (uint64_t number = last; number > 0 && last - number < depth; --number) {
      std::optional<CallLog::Entry> mine = log->at(number), theirs = logs[other]->at(number);
      if (mine && theirs && mine->fingerprint != theirs->fingerprint)
        return disagreement(rank(), mine->facts, other, theirs->facts);
    }
  }
  return Status::ok();
}

/// A rank that is gone is missed once it is behind a call that runs here.
Status CudaRank::State::findGone() {
  int gone = -1;
  bool isDead = false;
  for (const LoadedCudaPlan::State *plan : plans) {
    if (!plan->isInFlight())
      continue;
    uint64_t wanted =
        std::max(plan->launched.load(std::memory_order_acquire), plan->finishedCalls());
    for (int other = 0; other < group.ranks && gone < 0; ++other) {
      if (other == group.rank)
        continue;
      bool departed = group.of(other).departed.load(std::memory_order_acquire) != 0;
      bool lost = !departed && group.isLost(other);
      // How many calls graphs have run is known to devices alone.
      if ((departed && plan->finishedCallsOf(static_cast<uint32_t>(other)) < wanted) ||
          (lost && (plan->captured.load(std::memory_order_acquire) ||
                    plan->finishedCallsOf(static_cast<uint32_t>(other)) < wanted))) {
        gone = other;
        isDead = lost;
      }
    }
  }
  // It may have done its part before it went.
  if (gone < 0 || std::exchange(goneRank, gone) != gone)
    return Status::ok();
  int pid = group.processIds[static_cast<size_t>(gone)];
  std::string wait = describeWait();
  if (!isDead)
    return Status::error(StatusCode::RemoteError,
                         "rank {} (pid {}) has destroyed its communicator, {}", gone, pid, wait);
  return Status::error(StatusCode::RemoteError, "rank {} (pid {}) is gone: its process died; {}",
                       gone, pid, wait);
}

/// Ends the calls in flight to learn what they wait for. "rank 0 waits for rank 1
/// in wait (ring.coil:13:1), worker 0, instance 0".
std::string CudaRank::State::describeWait() {
  for (const LoadedCudaPlan::State *plan : plans)
    plan->abort();
  Clock::time_point start = Clock::now();
  do {
    for (const LoadedCudaPlan::State *plan : plans)
      if (plan->failureKind() != FailureKind::None)
        return fmt::format(
            "rank {} waits for {}", rank(),
            cuda::describeWait({plan->plan, rank(), config.timeoutMs, logs}, reportOf(*plan)));
    std::this_thread::sleep_for(1ms);
  } while (Clock::now() - start < abortTime);
  return fmt::format("rank {} waits in a call", rank());
}

void CudaRank::State::settle(const LoadedCudaPlan::State &plan) {
  auto isRunning = [&] {
    return plan.finishedCalls() < plan.launched.load(std::memory_order_acquire);
  };
  constexpr auto lookInterval = 10ms;
  Clock::time_point nextLook = Clock::now() + lookInterval;
  while (isRunning()) {
    std::this_thread::sleep_for(50us);
    if (Clock::now() < nextLook)
      continue;
    nextLook = Clock::now() + lookInterval;
    (void)look();
    if (poison().isOk())
      continue;
    Clock::time_point end = Clock::now() + abortTime;
    while (isRunning() && Clock::now() < end)
      std::this_thread::sleep_for(1ms);
    return;
  }
}

void CudaRank::State::settle() {
  std::vector<LoadedCudaPlan::State *> all;
  {
    std::lock_guard lock(plansMutex);
    all = plans;
  }
  for (const LoadedCudaPlan::State *plan : all)
    settle(*plan);
}

Status CudaRank::State::writeWindows() {
  std::lock_guard lock(plansMutex);
  for (LoadedCudaPlan::State *plan : plans)
    COIL_RETURN_IF_ERROR(plan->writeWindows());
  return Status::ok();
}

} // namespace coil::cuda
