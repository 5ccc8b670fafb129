//===- ProxyQueue.h - Requests of workers to the host's proxy ---*- C++ -*-===//
//
// The device's side of the queue of ProxyRequest.h: many workers push, one thread
// of the host takes.
//
// Participants: the calling thread alone, of any block of the rank. Blocks of one
//   device share a queue.
// Memory order: what the caller has written or has seen written, by itself or
//   through syncBlock(), happens before the host's thread takes the request: the
//   entry is released at system scope. That covers the bytes that a request names,
//   if the block has synchronised behind its last write of them. A network adapter
//   that the host's thread then tells to read device memory is outside PTX's model;
//   that it sees the same is for the transport to know. Once awaitRequest() has
//   returned true, what the proxy had to do for the request happens before what the
//   caller does next, which may be to fill the slot again.
// Progress: a push waits while the queue is full, that is until the request
//   `capacity` before it is complete; see Waiting.h. A push that gave up leaves a
//   number without a request, and the host takes none behind it: the rank has failed.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_PROXYQUEUE_H
#define COIL_RUNTIME_KERNELS_DEVICE_PROXYQUEUE_H

#include "runtime/kernels/device/ProxyRequest.h"
#include "runtime/kernels/device/Waiting.h"

namespace coil::device {

/// Waits until request `number`, and so all before it, are complete. False if the
/// wait gave up. The obstacle says what the request is for; its `expected` is set
/// here.
COIL_OUTLINED bool awaitRequest(const BlockFacts &facts, const ProxyQueue &queue, u64 number,
                                Obstacle obstacle) {
  // Host memory is far: ask first what others know.
  if (loadAcquire<Scope::Device>(queue.doneSeen) >= number)
    return true;
  obstacle.expected = number;
  u64 done = awaitCounter<Scope::System>(facts, queue.done, obstacle);
  if (done == 0)
    return false;
  // Workers may overwrite each other's news with older ones, which costs them a look.
  storeRelease<Scope::Device>(queue.doneSeen, done);
  return true;
}

/// Puts a request into the queue. Gives its number, or 0 if the wait for room gave
/// up; the obstacle is as above.
COIL_OUTLINED u64 pushRequest(const BlockFacts &facts, const ProxyQueue &queue,
                              const ProxyRequest &request, const Obstacle &obstacle) {
  u64 number = addAcquireRelease<Scope::Device>(queue.pushed, 1) + 1;
  if (number > queue.capacity && !awaitRequest(facts, queue, number - queue.capacity, obstacle))
    return 0;
  ProxyEntry packed = packRequest(request, number, queue.capacity);
  ProxyEntry *entry = queue.entries + (number - 1) % queue.capacity;
  storeRelaxed<Scope::System>(&entry->first, packed.first);
  storeRelease<Scope::System>(&entry->second, packed.second);
  return number;
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_PROXYQUEUE_H
