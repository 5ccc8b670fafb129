//===- SimpleFifo.h - Messages as they are ----------------------*- C++ -*-===//
//
// A slot of the simple protocol is a header and the elements as they are. The
// payload begins in the slot's first bytes such that it agrees modulo 16 with the
// sender's memory, so that misaligned buffers cost no speed if both ranks' are
// misaligned alike.
//
// Memory order: the payload is written by weak stores of all threads; after a
//   syncBlock() one thread posts the header, a release at system scope, whose
//   acquire by one of the receiver's threads and another syncBlock() order the
//   payload for all of the receiver's.
// Alignment: slots lie at multiples of 128.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_SIMPLEFIFO_H
#define COIL_RUNTIME_KERNELS_DEVICE_SIMPLEFIFO_H

#include "runtime/kernels/device/Waiting.h"
#include "runtime/kernels/device/Words.h"

namespace coil::device {

/// Begins a slot.
struct SimpleHeader {
  u64 ordinal; ///< of the message, from 1; written last
  u64 fingerprint;
  u64 payload; ///< byte of the slot at which the payload begins
};
static_assert(sizeof(SimpleHeader) <= slotHeaderBytes - 16);

/// Where in a slot the elements at `source` go.
COIL_DEVICE inline u32 simplePayload(const u8 *source) {
  return slotHeaderBytes - static_cast<u32>(-addressOf(source) % 16);
}

/// By one thread, after a syncBlock() that follows the payload's last store.
COIL_DEVICE inline void postSimple(u8 *slot, u64 ordinal, u64 fingerprint, u32 payload) {
  SimpleHeader *header = reinterpret_cast<SimpleHeader *>(slot);
  storeData<u64>(&header->fingerprint, fingerprint);
  storeData<u64>(&header->payload, payload);
  storeRelease<Scope::System>(&header->ordinal, ordinal);
}

/// By one thread: waits for the end's next message and reads its header. False if
/// the wait gave up or the message belongs to another call.
COIL_DEVICE inline bool awaitSimple(const BlockFacts &facts, LocalReceiveEnd &end, const u8 *slot,
                                    const Obstacle &obstacle) {
  const SimpleHeader *header = reinterpret_cast<const SimpleHeader *>(slot);
  if (awaitCounter<Scope::System>(facts, &header->ordinal, obstacle) == 0)
    return false;
  end.payload = static_cast<u32>(loadData<u64>(&header->payload));
  return agree(facts, loadData<u64>(&header->fingerprint), obstacle);
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_SIMPLEFIFO_H
