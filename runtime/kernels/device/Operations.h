//===- Operations.h - What a worker's operations do -------------*- C++ -*-===//
//
// The operations of Worker.h, apart from where their operands lie. They are
// functions of their own, called and not repeated wherever a program has an
// operation, so that kernels stay small.
//
// Participants: all threads of the block, with the same arguments, unless a comment
//   says "by thread 0" or "by a warp".
// Memory order: see Worker.h.
// Progress: see Waiting.h. All functions but those that free return false if a wait
//   gave up, the same in all threads of the block.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_OPERATIONS_H
#define COIL_RUNTIME_KERNELS_DEVICE_OPERATIONS_H

#include "runtime/kernels/device/Block.h"
#include "runtime/kernels/device/LowLatency.h"
#include "runtime/kernels/device/LowLatency128.h"
#include "runtime/kernels/device/SimpleFifo.h"

namespace coil::device {

/// The current tile of a chunk in memory, here or at a peer.
struct Place {
  u8 *address;
};

/// An operand: a place, the rank's own input, or a message that has come.
struct Source {
  enum Kind : u32 { Memory, OwnInput, Head };

  COIL_DEVICE Source() : place(0), kind(Memory) {}
  COIL_DEVICE Source(Place memory) : place(reinterpret_cast<u64>(memory.address)), kind(Memory) {}
  COIL_DEVICE Source(u64 place, Kind kind) : place(place), kind(kind) {}

  u64 place; ///< address, or the number of the receiving end
  Kind kind;
};

/// A few operands, in order.
template <u32 arity> struct SourceList {
  u64 place[arity];
  u32 own = 0, heads = 0; ///< bit q: operand q is own input, is a message

  COIL_DEVICE SourceList(const Source (&sources)[arity]) {
    static_assert(arity <= 32);
    COIL_UNROLL
    for (u32 q = 0; q < arity; ++q) {
      place[q] = sources[q].place;
      own |= u32(sources[q].kind == Source::OwnInput) << q;
      heads |= u32(sources[q].kind == Source::Head) << q;
    }
  }

  COIL_DEVICE Source operator()(u32 q) const {
    return {place[q], heads >> q & 1 ? Source::Head
                      : own >> q & 1 ? Source::OwnInput
                                     : Source::Memory};
  }
};

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

COIL_DEVICE inline const u8 *slotOf(const LocalReceiveEnd &end) {
  return end.slots + end.slot * blockFacts().slotStride;
}

/// An operand's elements, if all messages have arrived. Simple protocol.
COIL_DEVICE inline Operand memoryOperand(const Source &source) {
  if (source.kind != Source::Head)
    return {reinterpret_cast<const u8 *>(source.place), source.kind == Source::OwnInput};
  const LocalReceiveEnd &end = localReceive(static_cast<u32>(source.place));
  return {slotOf(end) + end.payload, false};
}

/// An operand. Protocols ll and ll128.
COIL_DEVICE inline PacketOperand packetOperand(const Source &source) {
  if (source.kind != Source::Head)
    return {reinterpret_cast<const u8 *>(source.place), 0, 0, 0, source.kind == Source::OwnInput};
  u32 number = static_cast<u32>(source.place);
  const LocalReceiveEnd &end = localReceive(number);
  return {slotOf(end) + slotHeaderBytes, end.ordinal + 1, end.peer, number, false};
}

/// By thread 0, of ll128 by its warp: waits for the next message of an end, and
/// checks that it belongs to this call.
template <Protocol protocol> COIL_OUTLINED bool awaitMessage(u32 receiveEnd, u32 location) {
  LocalReceiveEnd &end = localReceive(receiveEnd);
  Obstacle obstacle = {location, end.peer, receiveEnd, end.ordinal + 1};
  if constexpr (protocol == Protocol::Simple)
    return awaitSimple(blockFacts(), end, slotOf(end), obstacle);
  else if constexpr (protocol == Protocol::Ll)
    return awaitLl(blockFacts(), slotOf(end), obstacle);
  else
    return awaitLl128(blockFacts(), slotOf(end), obstacle);
}

/// Waits for the messages among the operands; sourceAt(q) is operand q.
template <Protocol protocol, typename SourceAt>
COIL_DEVICE inline bool awaitHeads(u32 location, u32 arity, SourceAt sourceAt) {
  bool any = false;
  for (u32 q = 0; q < arity; ++q)
    any |= sourceAt(q).kind == Source::Head;
  if (!any)
    return true;
  bool ended = false;
  if (threadIndex() < (protocol == Protocol::Ll128 ? 32 : 1)) {
    if constexpr (protocol == Protocol::Ll128)
      syncWarp(); // thread 0 may have changed the ends
    for (u32 q = 0; q < arity && !ended; ++q) {
      Source source = sourceAt(q);
      if (source.kind == Source::Head)
        ended = !awaitMessage<protocol>(static_cast<u32>(source.place), location);
    }
  }
  return !syncBlockOr(ended);
}

/// Frees the messages among the operands. All threads have read them.
template <typename SourceAt> COIL_DEVICE inline void freeHeads(u32 arity, SourceAt sourceAt) {
  if (threadIndex() != 0)
    return;
  for (u32 q = 0; q < arity; ++q) {
    Source source = sourceAt(q);
    if (source.kind != Source::Head)
      continue;
    LocalReceiveEnd &end = localReceive(static_cast<u32>(source.place));
    storeRelease<Scope::System>(end.freed, ++end.ordinal);
    end.slot = end.slot + 1 == end.slotCount ? 0 : end.slot + 1;
  }
}

/// By thread 0: waits until the next slot of an end is free.
COIL_OUTLINED bool awaitRoom(u32 sendEnd, u32 location) {
  LocalSendEnd &end = localSend(sendEnd);
  // Some of the last slotCount messages may still be in their slots.
  if (end.ordinal < end.freedSeen + end.slotCount)
    return true;
  u64 needed = end.ordinal + 1 - end.slotCount;
  end.freedSeen =
      awaitCounter<Scope::System>(blockFacts(), end.freed, {location, end.peer, sendEnd, needed});
  return end.freedSeen != 0;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// destination := the operands combined.
template <typename Element, typename Operator, Protocol protocol, u32 arity>
COIL_OUTLINED bool runStatement(u8 *destination, u64 count, SourceList<arity> sources,
                                u32 location) {
  auto sourceAt = [&](u32 q) { return sources(q); };
  if (!awaitHeads<protocol>(location, arity, sourceAt))
    return false;
  BlockFacts &facts = blockFacts();
  const Terms<Element> &terms = termsOf<Element>(facts);
  if constexpr (protocol == Protocol::Simple) {
    Operands<arity> operands;
    operands.own = sources.own;
    COIL_UNROLL
    for (u32 q = 0; q < arity; ++q)
      operands.address[q] = memoryOperand(sources(q)).address;
    reduceMemory<Element, Operator>(destination, operands, count, terms);
    syncBlock();
  } else {
    PacketOperands<arity> operands;
    operands.location = location;
    COIL_UNROLL
    for (u32 q = 0; q < arity; ++q)
      operands.list[q] = packetOperand(sources(q));
    bool whole;
    if constexpr (protocol == Protocol::Ll)
      whole = reduceLl<Element, Operator>(facts, destination, operands, count, terms);
    else
      whole = reduceLl128<Element, Operator>(facts, destination, operands, count, terms);
    if (syncBlockOr(!whole))
      return false;
  }
  freeHeads(arity, sourceAt);
  return true;
}

/// destination := any number of operands combined; sourceAt(q) is operand q.
template <typename Element, typename Operator, Protocol protocol, typename SourceAt>
COIL_DEVICE inline bool runLongStatement(u8 *destination, u64 count, u32 arity, SourceAt sourceAt,
                                         u32 location) {
  if (!awaitHeads<protocol>(location, arity, sourceAt))
    return false;
  BlockFacts &facts = blockFacts();
  const Terms<Element> &terms = termsOf<Element>(facts);
  if constexpr (protocol == Protocol::Simple) {
    auto operandAt = [&](u32 q) { return memoryOperand(sourceAt(q)); };
    reduceManyMemory<Element, Operator>(destination, arity, operandAt, count, terms);
    syncBlock();
  } else {
    auto operandAt = [&](u32 q) { return packetOperand(sourceAt(q)); };
    bool whole;
    if constexpr (protocol == Protocol::Ll)
      whole = reduceManyLl<Element, Operator>(facts, destination, arity, operandAt, location, count,
                                              terms);
    else
      whole = reduceManyLl128<Element, Operator>(facts, destination, arity, operandAt, location,
                                                 count, terms);
    if (syncBlockOr(!whole))
      return false;
  }
  freeHeads(arity, sourceAt);
  return true;
}

/// Sends `count` elements at `source`, the rank's own input if `own`.
template <typename Element, typename Operator, Protocol protocol>
COIL_OUTLINED bool pushMessage(u32 sendEnd, const u8 *source, bool own, u64 count, u32 location) {
  if (syncBlockOr(threadIndex() == 0 && !awaitRoom(sendEnd, location)))
    return false;
  LocalSendEnd &end = localSend(sendEnd);
  BlockFacts &facts = blockFacts();
  const Terms<Element> &terms = termsOf<Element>(facts);
  u8 *slot = end.slots + end.slot * facts.slotStride;
  u64 message = end.ordinal + 1;
  bool scales = Operator::scales && own;
  if constexpr (protocol == Protocol::Simple) {
    u32 payload = simplePayload(source);
    copyMemory<Element, Operator>(slot + payload, source, scales, count, terms);
    syncBlock();
    if (threadIndex() == 0)
      postSimple(slot, message, facts.fingerprint, payload);
  } else if constexpr (protocol == Protocol::Ll) {
    if (threadIndex() == 0)
      postLl(slot, message, facts.fingerprint);
    bool cleans = end.lap % llCleaningPeriod == 0;
    fillLl<Element, Operator>(slot + slotHeaderBytes, message, source, scales, count,
                              cleans ? (facts.slotStride - slotHeaderBytes) / sizeof(Pair) : 0,
                              terms);
    syncBlock();
  } else {
    if (threadIndex() < 32)
      postLl128(slot, message, facts.fingerprint);
    fillLl128<Element, Operator>(slot + slotHeaderBytes, message, source, scales, count, terms);
    syncBlock();
  }
  if (threadIndex() == 0) {
    end.ordinal = message;
    bool wraps = end.slot + 1 == end.slotCount;
    end.slot = wraps ? 0 : end.slot + 1;
    end.lap += wraps;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

COIL_OUTLINED bool awaitSignal(u32 receiveEnd, u32 location) {
  bool ended = false;
  if (threadIndex() == 0) {
    LocalReceiveEnd &end = localReceive(receiveEnd);
    Obstacle obstacle = {location, end.peer, receiveEnd, ++end.ordinal};
    ended = awaitCounter<Scope::System>(blockFacts(), end.counter, obstacle) == 0;
  }
  return !syncBlockOr(ended);
}

COIL_OUTLINED bool awaitEntry(u32 rank, u32 location) {
  bool ended = false;
  if (threadIndex() == 0) {
    const BlockFacts &facts = blockFacts();
    const EntryRecord &record = facts.state->entries[rank];
    Obstacle obstacle = {location, rank, noChannel, runningCall(*facts.state)};
    u64 entered = awaitCounter<Scope::System>(facts, &record.call, obstacle);
    ended = entered == 0;
    // A rank that is further on was in this call; its record is a later one's.
    if (entered == obstacle.expected)
      ended = !agree(facts, loadData<u64>(&record.fingerprint), obstacle);
  }
  return !syncBlockOr(ended);
}

COIL_OUTLINED bool awaitWorkers(u32 location) {
  bool ended = false;
  if (threadIndex() == 0) {
    const BlockFacts &facts = blockFacts();
    // Variants with other numbers of workers count apart.
    u64 *arrivals =
        facts.state->barriers + (u64(facts.workers - 1) * facts.state->instances + facts.instance);
    u64 before = addAcquireRelease<Scope::Device>(arrivals, 1);
    u64 goal = (before / facts.workers + 1) * facts.workers;
    Obstacle obstacle = {location, facts.rank, noChannel, goal};
    ended = awaitCounter<Scope::Device>(facts, arrivals, obstacle) == 0;
  }
  return !syncBlockOr(ended);
}

/// By thread 0: a peer's buffer as this device reaches it, null if it has none and
/// needs none. False, and reported, if `needed` bytes of it are not all there.
COIL_DEVICE inline bool findBuffer(const WindowPlace &place, u64 needed, const Obstacle &obstacle,
                                   u8 *&buffer) {
  const BlockFacts &facts = blockFacts();
  const RankState &state = *facts.state;
  u32 number = loadData<u32>(&place.window);
  u64 offset = loadData<u64>(&place.offset);
  buffer = nullptr;
  if (number == 0 && needed == 0)
    return true;
  if (number != 0 && number <= state.windowCount) {
    const Window &window = state.windows[u64(number - 1) * state.ranks + obstacle.peer];
    if (window.base != nullptr && offset <= window.bytes && needed <= window.bytes - offset) {
      buffer = window.base + offset;
      return true;
    }
  }
  Obstacle missing = obstacle;
  missing.expected = needed;
  giveUp(facts, FailureKind::BadWindow, missing, number);
  return false;
}

/// Makes `slot` the buffers of a rank that has been met, of which the worker uses so
/// many bytes. The location is of the operation that needs them.
COIL_OUTLINED bool bindPeer(u32 slot, u32 rank, u64 inputBytes, u64 outputBytes, u32 location) {
  bool ended = false;
  if (threadIndex() == 0) {
    const EntryRecord &record = blockFacts().state->entries[rank];
    Obstacle obstacle = {location, rank, noChannel, 0};
    PeerBuffers &peer = boundPeer(slot);
    ended = !findBuffer(record.input, inputBytes, obstacle, peer.input) ||
            !findBuffer(record.output, outputBytes, obstacle, peer.output);
  }
  return !syncBlockOr(ended);
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_OPERATIONS_H
