//===- Proxy.h - A thread that carries out workers' requests ----*- C++ -*-===//
//
// The host's side of the queue in runtime/kernels/device/ProxyRequest.h. The
// thread takes requests in the order of their numbers, hands them to a transport,
// and tells the device how many are complete.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_PROXY_H
#define COIL_RUNTIME_EXECUTOR_CUDA_PROXY_H

#include "runtime/base/Status.h"
#include "runtime/kernels/device/ProxyRequest.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>

namespace coil::cuda {

/// What moves the data. The proxy's thread alone calls it, and neither function
/// waits for another rank.
class ProxyTransport {
public:
  virtual ~ProxyTransport() = default;
  /// Begins a request; they come in the order of their numbers. What the workers
  /// wrote before they made it is visible to the calling thread.
  virtual Status submit(const device::ProxyRequest &request) = 0;
  /// Moves what has begun, and says how many of all submitted requests are complete,
  /// counted in the order of their numbers: a request is not counted before those
  /// in front of it. Never less than before.
  virtual Result<uint64_t> poll() = 0;
};

class Proxy {
public:
  /// The queue in host memory: zeroed entries, a power of two of them, and the
  /// number of completed requests. They and the transport must outlive the proxy.
  struct Queue {
    std::span<device::ProxyEntry> entries;
    device::u64 *done;
  };

  /// Starts the thread. It calls `fail`, once at most, with why the transport or a
  /// request is at fault, and takes no more requests then; `fail` has to end the
  /// waits of the device, and must not destroy the proxy. Errors: InvalidArgument
  /// for a number of entries that is no power of two, SystemError without a thread.
  static Result<std::unique_ptr<Proxy>> start(Queue queue, ProxyTransport &transport,
                                              std::function<void(Status)> fail);
  /// Stops within the time of a short sleep. Requests that are not complete by then
  /// never are.
  ~Proxy();
  Proxy(const Proxy &) = delete;
  Proxy &operator=(const Proxy &) = delete;

private:
  Proxy(Queue queue, ProxyTransport &transport, std::function<void(Status)> fail)
      : queue(queue), transport(transport), fail(std::move(fail)) {}
  void run();
  /// Takes what has come and publishes what is complete. Whether there was any.
  Result<bool> step();
  Status take(device::ProxyEntry entry);

  Queue queue;
  ProxyTransport &transport;
  std::function<void(Status)> fail;
  uint64_t taken = 0, completed = 0; ///< of the thread
  std::atomic<bool> stopping = false;
  std::thread thread;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_PROXY_H
