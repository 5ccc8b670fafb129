//===- SharedLayout.h - A block's shared memory -----------------*- C++ -*-===//
//
// What a worker keeps in shared memory: copies of its ends of channels, and its
// peers' buffers. The host includes this file too, to size it.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_SHAREDLAYOUT_H
#define COIL_RUNTIME_KERNELS_DEVICE_SHAREDLAYOUT_H

#include "runtime/kernels/device/Chunking.h"
#include "runtime/kernels/device/Launch.h"

namespace coil::device {

/// Most threads of a block, a multiple of 32: so each has 128 registers.
inline constexpr u32 mostBlockThreads = 512;

/// What a block's operations need to know of the call. It is here rather than in
/// registers, which the threads need for data.
struct BlockFacts {
  RankState *state;
  HostBoard *board;
  u64 timeoutNanoseconds;
  u64 fingerprint;
  const u8 *input;
  u8 *output;
  u8 *scratch; ///< of this rank and instance
  u64 tileBytes;
  u64 slotStride; ///< of staged channels
  Chunking chunking;
  u64 tileElements;
  u64 tiles;
  const u32 *constants;
  u32 rank, rankClass, worker, workers, instance, instances;
  u32 ranks;
  u32 sendEnds, receiveEnds;
  u32 failed;   ///< whether an operation gave up
  u64 terms[4]; ///< Terms of the element type
};

/// A sending end while its worker runs. Thread 0 alone changes it.
struct LocalSendEnd {
  u64 *counter;
  u8 *slots;
  const u64 *freed;
  u64 ordinal;   ///< signals or messages sent so far
  u64 freedSeen; ///< messages known to be freed
  u32 slotCount;
  u32 peer;
  u32 slot; ///< of the next message
  u32 lap;  ///< messages that have lain in `slot`, modulo 2^32
};

/// A receiving end while its worker runs. Thread 0 alone changes it.
struct LocalReceiveEnd {
  const u64 *counter;
  const u8 *slots;
  u64 *freed;
  u64 ordinal; ///< signals consumed or messages freed so far
  u32 slotCount;
  u32 peer;
  u32 slot;    ///< of the next message
  u32 payload; ///< Simple: byte of `slot` at which the payload of the arrived message begins
};

/// Buffers of the rank bound to a slot.
struct PeerBuffers {
  u8 *input, *output;
};

/// Bytes of dynamic shared memory of a block whose worker has so many ends and
/// slots for peers. All workers of a launch get the most that one needs. The number
/// of threads does not matter as yet.
COIL_HOST_DEVICE constexpr u32 sharedBytes(u32 sendEnds, u32 receiveEnds, u32 peerSlots,
                                           u32 /*threads*/) {
  return sizeof(BlockFacts) + sendEnds * sizeof(LocalSendEnd) +
         receiveEnds * sizeof(LocalReceiveEnd) + peerSlots * sizeof(PeerBuffers);
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_SHAREDLAYOUT_H
