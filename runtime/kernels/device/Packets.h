//===- Packets.h - What the ll and ll128 protocols share --------*- C++ -*-===//
//
// Both carry a flag with the data, so that a message needs no signal of its own:
// the header is a packet too, and holds the fingerprint of the sender's call.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_PACKETS_H
#define COIL_RUNTIME_KERNELS_DEVICE_PACKETS_H

#include "runtime/kernels/device/Reduce.h"
#include "runtime/kernels/device/Waiting.h"

namespace coil::device {

/// An operand of a statement on packets.
struct PacketOperand {
  const u8 *address; ///< of memory, or of a slot's payload
  u64 message;       ///< ordinal of the message in the slot; 0: memory
  u32 peer, channel; ///< of the message, for the report of a failure
  bool own;          ///< the rank's own input, which may be scaled

  COIL_DEVICE Obstacle obstacle(u32 location) const { return {location, peer, channel, message}; }
};

/// A few operands, in order.
template <u32 arity> struct PacketOperands {
  PacketOperand list[arity];
  u32 location; ///< of the statement
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_PACKETS_H
