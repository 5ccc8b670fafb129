//===- Reduce.h - Copies and reductions by a block --------------*- C++ -*-===//
//
// Of `count` consecutive elements of memory here or at a peer, with one
// statement's meaning: destination[i] := finish(((s0[i] + s1[i]) + s2[i]) ...).
//
// Participants: all threads of the block, with the same arguments.
// Memory order: weak accesses. What they read must be ordered before the call for
//   every thread of the block, and what they wrote is ordered for others, of the
//   block too, by a syncBlock() after it: no thread waits for another here.
// Alignment: any. Where all pointers agree modulo 16, all but a head and a tail of
//   less than 16 bytes move by 16 bytes an access, several in flight; else by
//   element (by byte where a pointer is not aligned to the element).
// Bounds: nothing outside of the elements is read or written. `destination` may be
//   exactly one of the sources, and overlap none otherwise.
// Progress: waits for nobody.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_REDUCE_H
#define COIL_RUNTIME_KERNELS_DEVICE_REDUCE_H

#include "runtime/kernels/device/Words.h"

namespace coil::device {

/// Up to `arity` operands of a statement, in order.
template <u32 arity> struct Operands {
  const u8 *address[arity];
  u32 own; ///< bit q: operand q is the rank's own input, which may be scaled
};

/// How `count` elements fall into words of 16 bytes, if all pointers agree modulo
/// 16: elements before the first word, whole words; the rest is the tail.
struct Split {
  u64 head, vectors;
};

/// `differences` is the or of all addresses' differences, by bits, from `address`.
template <typename Element>
COIL_DEVICE inline Split splitElements(u64 address, u64 differences, u64 count) {
  if (differences % 16 != 0 || address % sizeof(Element) != 0)
    return {0, 0};
  u64 head = lesser<u64>((16 - address % 16) % 16 / sizeof(Element), count);
  return {head, (count - head) / elementsOf<Element, Vector16>};
}

/// How threads take words: a warp takes 32 * inFlight consecutive ones, each of its
/// threads every 32nd, so that a thread's addresses differ by constants.
template <u32 inFlight> COIL_DEVICE inline u64 firstWord() {
  return threadIndex() / 32 * (32 * inFlight) + laneIndex();
}

/// Words of a statement, of a type that the pointers are aligned to: word i lies at
/// byte i * sizeof(Word), and those from `gapAt` on `gap` bytes further. A gap is
/// for fewer than 32 words.
template <typename Element, typename Operator, typename Word, u32 inFlight, u32 arity>
COIL_DEVICE inline void reduceWords(u8 *destination, Operands<arity> operands, u64 words, u64 gapAt,
                                    u64 gap, const Terms<Element> &terms) {
  u64 first = firstWord<inFlight>();
  u64 offset = first * sizeof(Word) + (first < gapAt ? 0 : gap);
  destination += offset;
  for (u32 q = 0; q < arity; ++q)
    operands.address[q] += offset;
  u32 stride = blockThreads() * inFlight;
  COIL_ROLLED
  for (; first < words; first += stride) {
    Word loaded[inFlight][arity];
    COIL_UNROLL
    for (u32 i = 0; i < inFlight; ++i) {
      if (first + i * 32 < words) {
        COIL_UNROLL
        for (u32 q = 0; q < arity; ++q)
          loaded[i][q] = loadData<Word>(operands.address[q] + i * 32 * sizeof(Word));
      }
    }
    COIL_UNROLL
    for (u32 i = 0; i < inFlight; ++i) {
      if (first + i * 32 >= words)
        break;
      COIL_UNROLL
      for (u32 q = 0; q < arity; ++q)
        if (Operator::scales && (operands.own >> q & 1))
          loaded[i][q] = scaledWord<Element, Operator>(loaded[i][q], terms);
      WordSum<Element, StatementOf<Operator, arity>, Word> sum(loaded[i][0]);
      if constexpr (arity > 1) {
        COIL_UNROLL
        for (u32 q = 1; q < arity; ++q)
          sum.combine(loaded[i][q]);
      }
      storeData(destination + i * 32 * sizeof(Word), sum.finish(terms));
    }
    destination += stride * sizeof(Word);
    for (u32 q = 0; q < arity; ++q)
      operands.address[q] += stride * sizeof(Word);
  }
}

/// A statement whose pointers are not all aligned to the element. Slow.
template <typename Element, typename Operator, u32 arity>
COIL_OUTLINED void reduceMisaligned(u8 *destination, Operands<arity> operands, u64 count,
                                    const Terms<Element> &terms) {
  COIL_ROLLED
  for (u64 index = threadIndex(); index < count; index += blockThreads()) {
    auto load = [&](u32 q) {
      Bits<Element> bits = loadElement<Element>(operands.address[q] + index * sizeof(Element));
      return operands.own >> q & 1 ? scaledWord<Element, Operator>(bits, terms) : bits;
    };
    WordSum<Element, StatementOf<Operator, arity>, Bits<Element>> sum(load(0));
    if constexpr (arity > 1)
      for (u32 q = 1; q < arity; ++q)
        sum.combine(load(q));
    storeElement<Element>(destination + index * sizeof(Element), sum.finish(terms));
  }
}

/// Words that a thread has in flight: enough to hide the latency of memory, few
/// enough that they and what they are computed in stay in registers.
template <typename Element, typename Operator, u32 arity>
inline constexpr u32 wordsInFlight = Operator::divides ? 1
                                     : arity == 1      ? 6
                                     : arity == 2      ? lesser<u32>(sizeof(Element), 4)
                                     : arity <= 4      ? lesser<u32>(sizeof(Element), 2)
                                                       : 1;

/// A statement of up to eight operands or so.
template <typename Element, typename Operator, u32 arity>
COIL_OUTLINED void reduceMemory(u8 *destination, Operands<arity> operands, u64 count,
                                const Terms<Element> &terms) {
  u64 address = addressOf(destination), differences = 0;
  for (u32 q = 0; q < arity; ++q)
    differences |= addressOf(operands.address[q]) ^ address;
  if ((address | differences) % sizeof(Element) != 0)
    return reduceMisaligned<Element, Operator, arity>(destination, operands, count, terms);
  Split split = splitElements<Element>(address, differences, count);
  u64 middle = split.vectors * elementsOf<Element, Vector16>;
  constexpr u32 inFlight = wordsInFlight<Element, Operator, arity>;
  constexpr u32 elementsInFlight = sizeof(Element) == 8 || inFlight <= 2 ? 1 : 2;
  // The few before and behind the vectors, or all.
  reduceWords<Element, Operator, Bits<Element>, elementsInFlight>(
      destination, operands, count - middle, split.head, middle * sizeof(Element), terms);
  if (split.vectors == 0)
    return;
  for (u32 q = 0; q < arity; ++q)
    operands.address[q] += split.head * sizeof(Element);
  reduceWords<Element, Operator, Vector16, inFlight>(destination + split.head * sizeof(Element),
                                                     operands, split.vectors, 0, 0, terms);
}

/// One operand of many.
struct Operand {
  const u8 *address;
  bool own; ///< the rank's own input, which may be scaled
};

/// Words [0, words) of a statement of many operands, from byte `begin` on.
template <typename Element, typename Operator, typename Word, typename OperandAt>
COIL_DEVICE inline void reduceManyWords(u8 *destination, u32 arity, OperandAt operandAt, u64 begin,
                                        u64 words, const Terms<Element> &terms) {
  for (u64 index = threadIndex(); index < words; index += blockThreads()) {
    u64 at = begin + index * sizeof(Word);
    auto load = [&](u32 q) {
      Operand operand = operandAt(q);
      Word word = {};
      if constexpr (sizeof(Word) == 16)
        word = loadData<Word>(operand.address + at);
      else
        word = loadElement<Element>(operand.address + at);
      return operand.own ? scaledWord<Element, Operator>(word, terms) : word;
    };
    WordSum<Element, Operator, Word> sum(load(0));
    u32 q = 1;
    for (; q + 4 <= arity; q += 4) {
      Word loaded[4];
      COIL_UNROLL
      for (u32 i = 0; i < 4; ++i)
        loaded[i] = load(q + i);
      COIL_UNROLL
      for (u32 i = 0; i < 4; ++i)
        sum.combine(loaded[i]);
    }
    for (; q < arity; ++q)
      sum.combine(load(q));
    if constexpr (sizeof(Word) == 16)
      storeData(destination + at, sum.finish(terms));
    else
      storeElement<Element>(destination + at, sum.finish(terms));
  }
}

/// A statement of any number of operands, at least one; `operandAt(q)` gives
/// operand q and is asked again and again, so that nothing is kept for each.
template <typename Element, typename Operator, typename OperandAt>
COIL_DEVICE inline void reduceManyMemory(u8 *destination, u32 arity, OperandAt operandAt, u64 count,
                                         const Terms<Element> &terms) {
  u64 address = addressOf(destination), differences = 0;
  for (u32 q = 0; q < arity; ++q)
    differences |= addressOf(operandAt(q).address) ^ address;
  Split split = splitElements<Element>(address, differences, count);
  u64 middle = split.vectors * elementsOf<Element, Vector16>, tail = count - split.head - middle;
  // Head, vectors and tail.
  for (u32 part = 0; part < 2; ++part)
    reduceManyWords<Element, Operator, Bits<Element>>(
        destination, arity, operandAt, part == 0 ? 0 : (split.head + middle) * sizeof(Element),
        part == 0 ? split.head : tail, terms);
  if (split.vectors != 0)
    reduceManyWords<Element, Operator, Vector16>(
        destination, arity, operandAt, split.head * sizeof(Element), split.vectors, terms);
}

/// destination[i] := source[i], scaled if `own` and the operator does that. See
/// reduceMemory.
template <typename Element, typename Operator>
COIL_DEVICE inline void copyMemory(u8 *destination, const u8 *source, bool own, u64 count,
                                   const Terms<Element> &terms) {
  Operands<1> operand = {{source}, own};
  reduceMemory<Element, CopyFor<Operator>>(destination, operand, count, terms);
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_REDUCE_H
