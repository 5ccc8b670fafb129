//===- LowLatency128.h - The ll128 protocol ---------------------*- C++ -*-===//
//
// A line is 128 bytes, written by eight lanes with one instruction: 120 bytes of
// data and the message's ordinal in the last word. A message is a header line,
// which carries the fingerprint, and its payload's lines.
//
// The protocol rests on what PTX does not promise: that a line stored by one warp
// instruction arrives whole, so that who sees the flag sees the data. It holds for
// NVLink and for memory of the same device (Ll128SelfTest.h looks for a
// counterexample); over PCIe and to host memory it need not, and the host must not
// choose the protocol there.
//
// Flags are ordinals of 64 bits, so an old one is never taken for a new one.
//
// Participants: all threads of a block; a warp works on four lines at once.
// Memory order: relaxed, and the assumption above.
//   A slot is freed by a release after a syncBlock() behind its last read.
// Alignment: slots at multiples of 128, memory at any address.
// Progress: each warp waits for the sender's block; see Waiting.h.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_LOWLATENCY128_H
#define COIL_RUNTIME_KERNELS_DEVICE_LOWLATENCY128_H

#include "runtime/kernels/device/Packets.h"

namespace coil::device {

inline constexpr u32 lineBytes = 128, lineDataBytes = 120, lanesOfALine = 8, linesOfAWarp = 4;

/// A lane's piece of its line's data.
struct LinePiece {
  u64 offset;        ///< in the message's elements, in bytes
  u32 first, second; ///< bytes that count of the piece's two words, 0 to 8

  COIL_DEVICE LinePiece(u64 line, u64 bytes) {
    u32 position = laneIndex() % lanesOfALine * 16;
    offset = line * lineDataBytes + position;
    u64 left = offset < bytes ? bytes - offset : 0;
    first = static_cast<u32>(lesser<u64>(left, 8));
    // The last lane's second word is the flag.
    bool flag = position == lineDataBytes - 8;
    second = flag || left < 8 ? 0 : static_cast<u32>(lesser<u64>(left - 8, 8));
  }
};

template <typename Element> COIL_DEVICE inline Pair loadPiece(const u8 *from, LinePiece piece) {
  Pair pair = {0, 0};
  if (piece.first != 0)
    pair.first = loadEight<Element>(from + piece.offset, piece.first);
  if (piece.second != 0)
    pair.second = loadEight<Element>(from + piece.offset + 8, piece.second);
  return pair;
}

template <typename Element> COIL_DEVICE inline void storePiece(u8 *to, Pair pair, LinePiece piece) {
  if (piece.first != 0)
    storeEight<Element>(to + piece.offset, pair.first, piece.first);
  if (piece.second != 0)
    storeEight<Element>(to + piece.offset + 8, pair.second, piece.second);
}

COIL_DEVICE inline bool holdsFlag() { return laneIndex() % lanesOfALine == lanesOfALine - 1; }

/// By a warp: polls until the lines of all its lanes are message `message`'s. A lane
/// whose line is null waits for the others.
/// False, in all lanes alike, if the wait gave up.
COIL_OUTLINED bool awaitLines(const BlockFacts &facts, const u8 *line, u64 message,
                              Obstacle obstacle, Pair &pair) {
  Patience patience(facts);
  while (true) {
    pair = loadLine(line);
    bool missing = line != nullptr && holdsFlag() && pair.second != message;
    if (!anyInWarp(missing))
      return true;
    // One lane watches the clock, lest the warp's lanes part.
    bool ended = laneIndex() == lanesOfALine - 1 && !patience.poll(obstacle, pair.second);
    if (anyInWarp(ended))
      return false;
  }
}

/// The line of the warp's first group of lanes alone.
COIL_DEVICE inline bool isFirstGroup() { return laneIndex() < lanesOfALine; }

/// By one warp: posts the header of a message, in any order with its payload.
COIL_DEVICE inline void postLl128(u8 *slot, u64 ordinal, u64 fingerprint) {
  storeLine(isFirstGroup() ? slot : nullptr, {fingerprint, holdsFlag() ? ordinal : 0});
}

/// By one warp: waits for the header. False, in all lanes alike, if the wait gave
/// up or the message belongs to another call.
COIL_DEVICE inline bool awaitLl128(const BlockFacts &facts, const u8 *slot,
                                   const Obstacle &obstacle) {
  Pair pair = {0, 0};
  if (!awaitLines(facts, isFirstGroup() ? slot : nullptr, obstacle.expected, obstacle, pair))
    return false;
  bool disagrees = laneIndex() == 0 && !agree(facts, pair.first, obstacle);
  return !anyInWarp(disagrees);
}

/// Calls `body(line, counts)` for all lines of `bytes` bytes, a warp's lanes
/// together; `counts` is false in groups of lanes that have none left. Ends when the
/// body returns false.
template <typename Body> COIL_DEVICE inline bool forEachLine(u64 bytes, Body body) {
  u64 lines = (bytes + lineDataBytes - 1) / lineDataBytes;
  u32 stride = blockThreads() / 32 * linesOfAWarp;
  for (u64 base = threadIndex() / 32 * linesOfAWarp; base < lines; base += stride) {
    u64 line = base + laneIndex() / lanesOfALine;
    bool counts = line < lines;
    if (!body(line, counts))
      return false;
  }
  return true;
}

/// Fills a slot's payload with `count` elements, scaled if `own` and the operator
/// does that.
template <typename Element, typename Operator>
COIL_OUTLINED void fillLl128(u8 *payload, u64 ordinal, const u8 *source, bool own, u64 count,
                             const Terms<Element> &terms) {
  u64 bytes = count * sizeof(Element);
  forEachLine(bytes, [&](u64 line, bool counts) {
    Pair pair = loadPiece<Element>(source, LinePiece(line, bytes));
    if (own) {
      pair.first = scaledWord<Element, Operator>(pair.first, terms);
      pair.second = scaledWord<Element, Operator>(pair.second, terms);
    }
    if (holdsFlag())
      pair.second = ordinal;
    storeLine(counts ? payload + line * lineBytes : nullptr, pair);
    return true;
  });
}

/// A lane's piece of an operand, once it has arrived. Sets `failed`, in all lanes
/// of the warp alike, if the wait gave up. `counts`: see forEachLine.
template <typename Element, typename Operator>
COIL_DEVICE inline Pair loadOperand(const BlockFacts &facts, const PacketOperand &operand, u64 line,
                                    LinePiece piece, bool counts, u32 location,
                                    const Terms<Element> &terms, bool &failed) {
  Pair pair = {0, 0};
  if (operand.message != 0) {
    failed |= !awaitLines(facts, counts ? operand.address + line * lineBytes : nullptr,
                          operand.message, operand.obstacle(location), pair);
  } else if (counts) {
    pair = loadPiece<Element>(operand.address, piece);
    if (operand.own) {
      pair.first = scaledWord<Element, Operator>(pair.first, terms);
      pair.second = scaledWord<Element, Operator>(pair.second, terms);
    }
  }
  return pair;
}

/// A statement of a few operands, memory and slots' payloads. False if a wait of
/// this warp gave up: the destination is not whole then.
template <typename Element, typename Operator, u32 arity>
COIL_OUTLINED bool reduceLl128(const BlockFacts &facts, u8 *destination,
                               PacketOperands<arity> operands, u64 count,
                               const Terms<Element> &terms) {
  using Statement = StatementOf<Operator, arity>;
  u64 bytes = count * sizeof(Element);
  return forEachLine(bytes, [&](u64 line, bool counts) {
    LinePiece piece(line, bytes);
    bool failed = false;
    auto load = [&](u32 q) {
      return loadOperand<Element, Operator>(facts, operands.list[q], line, piece, counts,
                                            operands.location, terms, failed);
    };
    Pair pair = load(0);
    WordSum<Element, Statement, u64> first(pair.first), second(pair.second);
    if constexpr (arity > 1) {
      COIL_UNROLL
      for (u32 q = 1; q < arity; ++q) {
        pair = load(q);
        first.combine(pair.first);
        second.combine(pair.second);
      }
    }
    if (!failed && counts)
      storePiece<Element>(destination, {first.finish(terms), second.finish(terms)}, piece);
    return !failed;
  });
}

/// The same for any number of operands, at least one; `operandAt(q)` gives operand
/// q and is asked again and again.
template <typename Element, typename Operator, typename OperandAt>
COIL_DEVICE inline bool reduceManyLl128(const BlockFacts &facts, u8 *destination, u32 arity,
                                        OperandAt operandAt, u32 location, u64 count,
                                        const Terms<Element> &terms) {
  u64 bytes = count * sizeof(Element);
  return forEachLine(bytes, [&](u64 line, bool counts) {
    LinePiece piece(line, bytes);
    bool failed = false;
    auto load = [&](u32 q) {
      return loadOperand<Element, Operator>(facts, operandAt(q), line, piece, counts, location,
                                            terms, failed);
    };
    Pair pair = load(0);
    WordSum<Element, Operator, u64> first(pair.first), second(pair.second);
    for (u32 q = 1; q < arity; ++q) {
      pair = load(q);
      first.combine(pair.first);
      second.combine(pair.second);
    }
    if (!failed && counts)
      storePiece<Element>(destination, {first.finish(terms), second.finish(terms)}, piece);
    return !failed;
  });
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_LOWLATENCY128_H
