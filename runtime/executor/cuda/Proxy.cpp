//===- Proxy.cpp - A thread that carries out workers' requests ------------===//

#include "runtime/executor/cuda/Proxy.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <system_error>

namespace coil::cuda {

using namespace device;

namespace {
/// How an idle thread waits: it polls, then leaves the processor to others, then
/// sleeps longer and longer. Nothing can wake it, since a device makes the requests.
class BackOff {
public:
  void reset() { idle = 0; }
  /// While requests are under way, their completion is not slept through for long.
  void wait(bool isBusy) {
    constexpr uint32_t polls = 256, yields = 256;
    using std::chrono::microseconds;
    constexpr microseconds shortest(10), longest(200);
    if (++idle <= polls)
      return;
    if (idle <= polls + yields) {
      std::this_thread::yield();
      pause = shortest;
      return;
    }
    std::this_thread::sleep_for(pause);
    pause = isBusy ? shortest : std::min(pause * 2, longest);
    idle = polls + yields; // no overflow after days
  }

private:
  uint32_t idle = 0;
  std::chrono::microseconds pause{0};
};
} // namespace

Result<std::unique_ptr<Proxy>> Proxy::start(Queue queue, ProxyTransport &transport,
                                            std::function<void(Status)> fail) {
  if (!std::has_single_bit(queue.entries.size()))
    return Status::error(StatusCode::InvalidArgument,
                         "expected a power of two of entries in a proxy's queue, found {}",
                         queue.entries.size());
  std::unique_ptr<Proxy> proxy(new Proxy(queue, transport, std::move(fail)));
  try {
    proxy->thread = std::thread([self = proxy.get()] { self->run(); });
  } catch (const std::system_error &error) {
    return Status::system(error.code().value(), "no thread for the proxy");
  }
  return proxy;
}

Proxy::~Proxy() {
  stopping.store(true, std::memory_order_release);
  if (thread.joinable())
    thread.join();
}

void Proxy::run() {
  BackOff backOff;
  while (!stopping.load(std::memory_order_acquire)) {
    Result<bool> moved = step();
    if (!moved.isOk()) {
      fail(std::move(moved).status());
      return;
    }
    if (*moved)
      backOff.reset();
    else
      backOff.wait(taken != completed);
  }
}

Result<bool> Proxy::step() {
  uint64_t capacity = queue.entries.size(), takenBefore = taken;
  // Entries behind those under way hold the lap before, so this ends.
  while (taken - completed < capacity) {
    ProxyEntry &entry = queue.entries[taken % capacity];
    u64 second = std::atomic_ref(entry.second).load(std::memory_order_acquire);
    if (!hasArrived(second, taken + 1, capacity))
      break;
    u64 first = std::atomic_ref(entry.first).load(std::memory_order_relaxed);
    COIL_RETURN_IF_ERROR(take({first, second}));
  }
  if (taken == completed)
    return taken != takenBefore;
  COIL_ASSIGN_OR_RETURN(uint64_t complete, transport.poll());
  if (complete < completed || complete > taken)
    return Status::error(StatusCode::InternalError,
                         "expected from {} to {} completed requests of a proxy's transport, found "
                         "{}",
                         completed, taken, complete);
  bool moved = taken != takenBefore || complete != completed;
  if (complete != completed)
    std::atomic_ref(*queue.done).store(complete, std::memory_order_release);
  completed = complete;
  return moved;
}

Status Proxy::take(ProxyEntry entry) {
  ProxyRequest request = unpackRequest(entry);
  if (static_cast<uint32_t>(request.kind) >= numProxyKinds)
    return Status::error(StatusCode::InternalError,
                         "expected a kind below {} in request {} to the proxy, found {}",
                         numProxyKinds, taken + 1, static_cast<uint32_t>(request.kind));
  ++taken;
  return transport.submit(request);
}

} // namespace coil::cuda
