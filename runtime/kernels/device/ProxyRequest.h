//===- ProxyRequest.h - What workers ask of the host's proxy ----*- C++ -*-===//
//
// A proxy is a thread of the host that moves messages where no device reaches the
// other's memory: through a network. Workers put requests into a queue in mapped
// host memory (ProxyQueue.h), and the proxy takes them in order
// (runtime/executor/cuda/Proxy.h). This file is what both sides include.
//
// Requests are numbered from 1, over all workers of the rank and all calls. Request
// n lies in entry (n - 1) % capacity. An entry is 16 bytes:
//
//   first   bits 0-31    end
//           bits 32-63   slot
//   second  bits 0-47    bytes
//           bits 48-55   kind
//           bit  56      side
//           bits 57-62   0
//           bit  63      whether the request's lap around the queue is an even one,
//                        counted from 0
//
// So zeroed memory is an empty queue, and an entry tells by itself whether a lap's
// request has come: nobody ever clears one.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_PROXYREQUEST_H
#define COIL_RUNTIME_KERNELS_DEVICE_PROXYREQUEST_H

#include "runtime/kernels/device/Integers.h"

namespace coil::device {

enum class ProxyKind : u32 {
  /// Writes the first `bytes` bytes of the end's slot here to the same slot there.
  /// Complete when the slot here may be changed. A later Signal does not wait for it
  /// on every network.
  Put,
  PutSignal, ///< Put, and a Signal that comes after the bytes
  Signal,    ///< counts one at the channel's other end: a message, or a freed slot
  /// Complete when all that the end has asked for before has arrived.
  Flush,
};
inline constexpr u32 numProxyKinds = 4;

enum class ProxySide : u32 { Sending, Receiving };

struct ProxyRequest {
  ProxyKind kind;
  ProxySide side; ///< which of the rank's two tables of ends
  u32 end;        ///< index in RankState::sendEnds or receiveEnds
  u32 slot;       ///< Put, PutSignal: of the end
  u64 bytes;      ///< Put, PutSignal: below proxyBytesLimit, the slot's header included
};
inline constexpr u64 proxyBytesLimit = u64(1) << 48;

struct alignas(16) ProxyEntry {
  u64 first, second;
};

/// The queue as a device reaches it. `done` and the entries lie in mapped host
/// memory, zeroed at first, `done` on a line of its own.
struct ProxyQueue {
  ProxyEntry *entries;
  u64 capacity;    ///< entries: a power of two
  u64 *pushed;     ///< device memory: requests that have a number
  u64 *doneSeen;   ///< device memory: what some worker has seen `done` to be
  const u64 *done; ///< requests completed, in order; written by the host alone
};

inline constexpr u64 proxyLapBit = u64(1) << 63;

/// The lap bit of request `number`.
COIL_HOST_DEVICE constexpr u64 proxyLap(u64 number, u64 capacity) {
  return (number - 1) / capacity % 2 == 0 ? proxyLapBit : 0;
}

/// An entry that holds request `number`.
COIL_HOST_DEVICE constexpr ProxyEntry packRequest(const ProxyRequest &request, u64 number,
                                                  u64 capacity) {
  return {request.end | u64(request.slot) << 32,
          request.bytes | u64(static_cast<u32>(request.kind)) << 48 |
              u64(static_cast<u32>(request.side)) << 56 | proxyLap(number, capacity)};
}

/// Whether an entry's second word is that of request `number`, if the entry holds
/// that or an earlier request.
COIL_HOST_DEVICE constexpr bool hasArrived(u64 second, u64 number, u64 capacity) {
  return (second & proxyLapBit) == proxyLap(number, capacity);
}

COIL_HOST_DEVICE constexpr ProxyRequest unpackRequest(ProxyEntry entry) {
  return {static_cast<ProxyKind>(entry.second >> 48 & 0xff),
          static_cast<ProxySide>(entry.second >> 56 & 1), static_cast<u32>(entry.first),
          static_cast<u32>(entry.first >> 32), entry.second & (proxyBytesLimit - 1)};
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_PROXYREQUEST_H
