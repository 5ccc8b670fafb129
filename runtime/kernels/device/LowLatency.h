//===- LowLatency.h - The ll protocol ---------------------------*- C++ -*-===//
//
// A packet is 16 bytes: two 64-bit words of 4 bytes of data and a 4-byte flag
// each, so 8 bytes of data. PTX promises that a 64-bit word is never torn, hence
// where a word's flag is the message's, its data are the message's. A message is a
// header packet, which carries the fingerprint, and its payload's packets.
//
// Flags are ordinals modulo 2^32. A packet that short messages leave out keeps an
// old flag; so that none is ever taken for a new one, every llCleaningPeriod-th
// message of a slot, the first included, writes all of the slot.
//
// Participants: all threads of a block; each waits for the packets that it reads.
// Memory order: relaxed, in words that hold data and flag; nothing else is ordered.
//   A slot is freed by a release after a syncBlock() behind its last read.
// Alignment: slots at multiples of 128, memory at any address.
// Progress: each thread waits for the sender's block; see Waiting.h.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_LOWLATENCY_H
#define COIL_RUNTIME_KERNELS_DEVICE_LOWLATENCY_H

#include "runtime/kernels/device/Packets.h"

// Tests make both small, to see flags wrap around.
#ifndef COIL_LL_FLAG_BITS
#define COIL_LL_FLAG_BITS 32
#endif
#ifndef COIL_LL_CLEANING_PERIOD
#define COIL_LL_CLEANING_PERIOD 65536
#endif

namespace coil::device {

inline constexpr u32 llFlagBits = COIL_LL_FLAG_BITS;
/// A power of two, so that laps may be counted modulo 2^32.
inline constexpr u32 llCleaningPeriod = COIL_LL_CLEANING_PERIOD;
static_assert((llCleaningPeriod & (llCleaningPeriod - 1)) == 0);
// Channels have at most 4096 slots.
static_assert(llFlagBits < 32 || u64(llCleaningPeriod) * 4096 < u64(1) << 32);

COIL_DEVICE inline u32 llFlag(u64 message) {
  return static_cast<u32>(message & ((u64(1) << llFlagBits) - 1));
}

COIL_DEVICE inline Pair llPacket(u64 data, u32 flag) {
  u64 high = static_cast<u64>(flag) << 32;
  return {(data & 0xffffffffu) | high, data >> 32 | high};
}

COIL_DEVICE inline u64 llData(Pair packet) {
  return (packet.first & 0xffffffffu) | packet.second << 32;
}

COIL_DEVICE inline bool llArrived(Pair packet, u32 flag) {
  return packet.first >> 32 == flag && packet.second >> 32 == flag;
}

/// Polls a packet that had not arrived. False if the wait gave up.
COIL_OUTLINED bool awaitPacket(const BlockFacts &facts, const Pair *from, u32 flag,
                               Obstacle obstacle, u64 &data) {
  Patience patience(facts);
  while (true) {
    Pair packet = loadRelaxedPair(from);
    if (llArrived(packet, flag)) {
      data = llData(packet);
      return true;
    }
    if (!patience.poll(obstacle, packet.first >> 32))
      return false;
  }
}

/// By one thread: posts the header of a message, in any order with its payload.
COIL_DEVICE inline void postLl(u8 *slot, u64 ordinal, u64 fingerprint) {
  storeRelaxedPair(reinterpret_cast<Pair *>(slot), llPacket(fingerprint, llFlag(ordinal)));
}

/// By one thread: waits for the header. False if the wait gave up or the message
/// belongs to another call.
COIL_DEVICE inline bool awaitLl(const BlockFacts &facts, const u8 *slot, const Obstacle &obstacle) {
  u64 fingerprint = 0;
  return awaitPacket(facts, reinterpret_cast<const Pair *>(slot), llFlag(obstacle.expected),
                     obstacle, fingerprint) &&
         agree(facts, fingerprint, obstacle);
}

/// Fills a slot's payload with `count` elements, scaled if `own` and the operator
/// does that; `capacity` is the slot's packets where it is to be cleaned, else 0.
template <typename Element, typename Operator>
COIL_OUTLINED void fillLl(u8 *payload, u64 ordinal, const u8 *source, bool own, u64 count,
                          u64 capacity, const Terms<Element> &terms) {
  u64 bytes = count * sizeof(Element), packets = (bytes + 7) / 8;
  u32 flag = llFlag(ordinal);
  for (u64 index = threadIndex(); index < packets || index < capacity; index += blockThreads()) {
    u64 word = 0;
    if (index < packets) {
      word = loadEight<Element>(source + index * 8,
                                static_cast<u32>(lesser<u64>(8, bytes - index * 8)));
      if (own)
        word = scaledWord<Element, Operator>(word, terms);
    }
    storeRelaxedPair(reinterpret_cast<Pair *>(payload) + index, llPacket(word, flag));
  }
}

/// Asks for the eight bytes of an operand at packet `index`, `bytes` of which count.
template <typename Element, typename Operator>
COIL_DEVICE inline Pair requestLl(const PacketOperand &operand, u64 index, u32 bytes) {
  if (operand.message != 0)
    return loadRelaxedPair(reinterpret_cast<const Pair *>(operand.address) + index);
  return {loadEight<Element>(operand.address + index * 8, bytes), 0};
}

/// What was asked for, once it has arrived. Sets `failed` if the wait gave up.
template <typename Element, typename Operator>
COIL_DEVICE inline u64 settleLl(const BlockFacts &facts, const PacketOperand &operand, u64 index,
                                Pair early, u32 location, const Terms<Element> &terms,
                                bool &failed) {
  if (operand.message == 0)
    return operand.own ? scaledWord<Element, Operator>(early.first, terms) : early.first;
  u32 flag = llFlag(operand.message);
  u64 data = llData(early);
  if (!llArrived(early, flag))
    failed |= !awaitPacket(facts, reinterpret_cast<const Pair *>(operand.address) + index, flag,
                           operand.obstacle(location), data);
  return data;
}

/// A statement on memory and slots' payloads. False if a wait of this thread gave
/// up: the destination is not whole then.
template <typename Element, typename Operator, u32 arity>
COIL_OUTLINED bool reduceLl(const BlockFacts &facts, u8 *destination,
                            PacketOperands<arity> operands, u64 count,
                            const Terms<Element> &terms) {
  u64 bytes = count * sizeof(Element);
  bool failed = false;
  for (u64 index = threadIndex(); index * 8 < bytes && !failed; index += blockThreads()) {
    u32 valid = static_cast<u32>(lesser<u64>(8, bytes - index * 8));
    Pair early[arity];
    COIL_UNROLL
    for (u32 q = 0; q < arity; ++q)
      early[q] = requestLl<Element, Operator>(operands.list[q], index, valid);
    auto settle = [&](u32 q) {
      return settleLl<Element, Operator>(facts, operands.list[q], index, early[q],
                                         operands.location, terms, failed);
    };
    WordSum<Element, StatementOf<Operator, arity>, u64> sum(settle(0));
    if constexpr (arity > 1) {
      COIL_UNROLL
      for (u32 q = 1; q < arity; ++q)
        sum.combine(settle(q));
    }
    if (!failed)
      storeEight<Element>(destination + index * 8, sum.finish(terms), valid);
  }
  return !failed;
}

/// The same for any number of operands, at least one; `operandAt(q)` gives operand
/// q and is asked again and again.
template <typename Element, typename Operator, typename OperandAt>
COIL_DEVICE inline bool reduceManyLl(const BlockFacts &facts, u8 *destination, u32 arity,
                                     OperandAt operandAt, u32 location, u64 count,
                                     const Terms<Element> &terms) {
  u64 bytes = count * sizeof(Element);
  bool failed = false;
  for (u64 index = threadIndex(); index * 8 < bytes && !failed; index += blockThreads()) {
    u32 valid = static_cast<u32>(lesser<u64>(8, bytes - index * 8));
    auto load = [&](u32 q) {
      PacketOperand operand = operandAt(q);
      Pair early = requestLl<Element, Operator>(operand, index, valid);
      return settleLl<Element, Operator>(facts, operand, index, early, location, terms, failed);
    };
    WordSum<Element, Operator, u64> sum(load(0));
    for (u32 q = 1; q < arity; ++q)
      sum.combine(load(q));
    if (!failed)
      storeEight<Element>(destination + index * 8, sum.finish(terms), valid);
  }
  return !failed;
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_LOWLATENCY_H
