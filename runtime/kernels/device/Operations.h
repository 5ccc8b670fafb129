//===- Operations.h - What a worker's operations do -------------*- C++ -*-===//
//
// The operations of Worker.h. They are functions of their own, called and not
// repeated wherever a program has an operation, so that kernels stay small.
//
// Participants: all threads of the block, with the same arguments, unless a comment
//   says "by thread 0" or "by a warp".
// Memory order: see Worker.h.
// Progress: see Waiting.h. Once a wait of the block has given up, every operation
//   does nothing.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_OPERATIONS_H
#define COIL_RUNTIME_KERNELS_DEVICE_OPERATIONS_H

#include "runtime/kernels/device/LowLatency.h"
#include "runtime/kernels/device/LowLatency128.h"
#include "runtime/kernels/device/Places.h"
#include "runtime/kernels/device/SimpleFifo.h"

namespace coil::device {

//===----------------------------------------------------------------------===//
// Failure
//===----------------------------------------------------------------------===//

/// Whether an operation of the block has given up: the same in all threads.
COIL_DEVICE inline bool hasFailed() { return blockFacts().failed != 0; }

/// Synchronises the block. If `mine` in any of its threads, later operations do
/// nothing, and this one ends: true.
COIL_DEVICE inline bool failIf(bool mine) {
  if (!syncBlockOr(mine))
    return false;
  if (threadIndex() == 0)
    blockFacts().failed = 1;
  syncBlock();
  return true;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

COIL_DEVICE inline const u8 *slotOf(const LocalReceiveEnd &end) {
  return end.slots + end.slot * blockFacts().slotStride;
}

/// An operand's elements, if all messages have arrived. Simple protocol.
template <typename Element>
COIL_DEVICE inline Operand memoryOperand(const TileView<Element> &tile, const Place &place) {
  if (place.kind != Place::Head)
    return {tile.address(place), place.kind == Place::Input};
  const LocalReceiveEnd &end = localReceive(place.slot);
  return {slotOf(end) + end.payload, false};
}

/// An operand. Protocols ll and ll128.
template <typename Element>
COIL_DEVICE inline PacketOperand packetOperand(const TileView<Element> &tile, const Place &place) {
  if (place.kind != Place::Head)
    return {tile.address(place), 0, 0, 0, place.kind == Place::Input};
  const LocalReceiveEnd &end = localReceive(place.slot);
  return {slotOf(end) + slotHeaderBytes, end.ordinal + 1, end.peer, place.slot, false};
}

template <Protocol protocol> struct OperandType {
  using Type = PacketOperand;
};
template <> struct OperandType<Protocol::Simple> {
  using Type = Operand;
};
template <Protocol protocol> using OperandOf = typename OperandType<protocol>::Type;

template <Protocol protocol, typename Element>
COIL_DEVICE inline OperandOf<protocol> operandAt(const TileView<Element> &tile,
                                                 const Place &place) {
  if constexpr (protocol == Protocol::Simple)
    return memoryOperand(tile, place);
  else
    return packetOperand(tile, place);
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

/// Waits for the messages among the operands; placeAt(q) is operand q. False if that
/// failed.
template <Protocol protocol, typename PlaceAt>
COIL_DEVICE inline bool awaitHeads(u32 location, u32 arity, PlaceAt placeAt) {
  bool any = false;
  for (u32 q = 0; q < arity; ++q)
    any |= placeAt(q).kind == Place::Head;
  if (!any)
    return true;
  bool ended = false;
  if (threadIndex() < (protocol == Protocol::Ll128 ? 32 : 1)) {
    if constexpr (protocol == Protocol::Ll128)
      syncWarp(); // thread 0 may have changed the ends
    for (u32 q = 0; q < arity && !ended; ++q) {
      Place place = placeAt(q);
      if (place.kind == Place::Head)
        ended = !awaitMessage<protocol>(place.slot, location);
    }
  }
  return !failIf(ended);
}

/// Frees the messages among the operands. All threads have read them.
template <typename PlaceAt> COIL_DEVICE inline void freeHeads(u32 arity, PlaceAt placeAt) {
  if (threadIndex() != 0)
    return;
  for (u32 q = 0; q < arity; ++q) {
    Place place = placeAt(q);
    if (place.kind != Place::Head)
      continue;
    LocalReceiveEnd &end = localReceive(place.slot);
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
// Data, of the tile number `tile`; `length` is the chunk that gives its size
//===----------------------------------------------------------------------===//

/// The places of a statement with few operands.
template <u32 arity> struct PlaceList {
  Place list[arity];

  COIL_DEVICE const Place &operator()(u32 q) const { return list[q]; }
};

/// destination := source, which is no head.
template <typename Element, typename Operator>
COIL_OUTLINED void runCopy(Place destination, u32 length, Place source, u64 tile) {
  if (hasFailed())
    return;
  TileView<Element> view(tile);
  u8 *to = view.address(destination);
  Operand from = memoryOperand(view, source);
  bool scales = Operator::scales && from.own;
  if (to == from.address && !scales)
    return;
  copyMemory<Element, Operator>(to, from.address, scales, view.size(length),
                                termsOf<Element>(blockFacts()));
  syncBlock();
}

/// destination := the operands combined.
template <typename Element, typename Operator, Protocol protocol, u32 arity>
COIL_OUTLINED void runStatement(Place destination, u32 length, PlaceList<arity> places, u64 tile,
                                u32 location) {
  if (hasFailed() || !awaitHeads<protocol>(location, arity, places))
    return;
  TileView<Element> view(tile);
  u8 *to = view.address(destination);
  u64 count = view.size(length);
  BlockFacts &facts = blockFacts();
  const Terms<Element> &terms = termsOf<Element>(facts);
  if constexpr (protocol == Protocol::Simple) {
    Operands<arity> operands = {};
    COIL_UNROLL
    for (u32 q = 0; q < arity; ++q) {
      Operand operand = memoryOperand(view, places(q));
      operands.address[q] = operand.address;
      operands.own |= u32(operand.own) << q;
    }
    reduceMemory<Element, Operator>(to, operands, count, terms);
    syncBlock();
  } else {
    PacketOperands<arity> operands;
    operands.location = location;
    COIL_UNROLL
    for (u32 q = 0; q < arity; ++q)
      operands.list[q] = packetOperand(view, places(q));
    bool whole;
    if constexpr (protocol == Protocol::Ll)
      whole = reduceLl<Element, Operator>(facts, to, operands, count, terms);
    else
      whole = reduceLl128<Element, Operator>(facts, to, operands, count, terms);
    if (failIf(!whole))
      return;
  }
  freeHeads(arity, places);
}

/// Combines operandAt(q), for q from 0 to `arity` - 1, all of whose messages have
/// arrived. False if that failed.
template <typename Element, typename Operator, Protocol protocol, typename OperandAt>
COIL_DEVICE inline bool combineMany(u8 *to, u64 count, u32 arity, OperandAt operandAt,
                                    u32 location) {
  BlockFacts &facts = blockFacts();
  const Terms<Element> &terms = termsOf<Element>(facts);
  if constexpr (protocol == Protocol::Simple) {
    reduceManyMemory<Element, Operator>(to, arity, operandAt, count, terms);
    syncBlock();
    return true;
  } else if constexpr (protocol == Protocol::Ll) {
    return !failIf(
        !reduceManyLl<Element, Operator>(facts, to, arity, operandAt, location, count, terms));
  } else {
    return !failIf(
        !reduceManyLl128<Element, Operator>(facts, to, arity, operandAt, location, count, terms));
  }
}

/// destination := any number of operands combined; placeAt(q) is operand q's.
template <typename Element, typename Operator, Protocol protocol, typename PlaceAt>
COIL_DEVICE inline void runLongStatement(Place destination, u32 length, u32 arity, PlaceAt placeAt,
                                         u64 tile, u32 location) {
  if (hasFailed() || !awaitHeads<protocol>(location, arity, placeAt))
    return;
  TileView<Element> view(tile);
  auto operand = [&](u32 q) { return operandAt<protocol>(view, placeAt(q)); };
  if (combineMany<Element, Operator, protocol>(view.address(destination), view.size(length), arity,
                                               operand, location))
    freeHeads(arity, placeAt);
}

/// The same of operands at `places`. `operands` is room for as many, of each thread:
/// what is found once need not be found for every word.
template <typename Element, typename Operator, Protocol protocol>
COIL_OUTLINED void runListedStatement(Place destination, u32 length, const Place *places,
                                      OperandOf<protocol> *operands, u32 arity, u64 tile,
                                      u32 location) {
  auto placeAt = [=](u32 q) { return places[q]; };
  if (hasFailed() || !awaitHeads<protocol>(location, arity, placeAt))
    return;
  TileView<Element> view(tile);
  COIL_ROLLED
  for (u32 q = 0; q < arity; ++q)
    operands[q] = operandAt<protocol>(view, places[q]);
  auto operand = [=](u32 q) { return operands[q]; };
  if (combineMany<Element, Operator, protocol>(view.address(destination), view.size(length), arity,
                                               operand, location))
    freeHeads(arity, placeAt);
}

/// Sends what lies at `place`, which is no head.
template <typename Element, typename Operator, Protocol protocol>
COIL_OUTLINED void pushMessage(u32 sendEnd, u32 length, Place place, u64 tile, u32 location) {
  if (hasFailed() || failIf(threadIndex() == 0 && !awaitRoom(sendEnd, location)))
    return;
  LocalSendEnd &end = localSend(sendEnd);
  BlockFacts &facts = blockFacts();
  const Terms<Element> &terms = termsOf<Element>(facts);
  u8 *slot = end.slots + end.slot * facts.slotStride;
  u64 message = end.ordinal + 1;
  TileView<Element> view(tile);
  const u8 *source = view.address(place);
  u64 count = view.size(length);
  bool scales = Operator::scales && place.kind == Place::Input;
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
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

COIL_OUTLINED void postSignal(u32 sendEnd) {
  if (hasFailed() || threadIndex() != 0)
    return;
  LocalSendEnd &end = localSend(sendEnd);
  storeRelease<Scope::System>(end.counter, ++end.ordinal);
}

COIL_OUTLINED void awaitSignal(u32 receiveEnd, u32 location) {
  if (hasFailed())
    return;
  bool ended = false;
  if (threadIndex() == 0) {
    LocalReceiveEnd &end = localReceive(receiveEnd);
    Obstacle obstacle = {location, end.peer, receiveEnd, ++end.ordinal};
    ended = awaitCounter<Scope::System>(blockFacts(), end.counter, obstacle) == 0;
  }
  failIf(ended);
}

COIL_OUTLINED void awaitEntry(u32 rank, u32 location) {
  if (hasFailed())
    return;
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
  failIf(ended);
}

COIL_OUTLINED void awaitWorkers(u32 location) {
  if (hasFailed())
    return;
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
  failIf(ended);
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
/// many segments, of so many bytes. The location is of the operation that needs them.
COIL_OUTLINED void bindPeer(u32 slot, u32 rank, u32 inputSegments, u32 outputSegments,
                            u32 elementBytes, u32 location) {
  if (hasFailed())
    return;
  bool ended = false;
  if (threadIndex() == 0) {
    const BlockFacts &facts = blockFacts();
    const EntryRecord &record = facts.state->entries[rank];
    Obstacle obstacle = {location, rank, noChannel, 0};
    PeerBuffers &peer = boundPeer(slot);
    u64 segmentBytes = facts.chunking.count * elementBytes;
    ended = !findBuffer(record.input, inputSegments * segmentBytes, obstacle, peer.input) ||
            !findBuffer(record.output, outputSegments * segmentBytes, obstacle, peer.output);
  }
  failIf(ended);
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_OPERATIONS_H
