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
    return {count, 0};
  u64 head = lesser<u64>((16 - address % 16) % 16 / sizeof(Element), count);
  return {head, (count - head) / elementsOf<Element, Vector16>};
}

template <typename Element, typename Word> COIL_DEVICE inline Word loadWord(const u8 *from) {
  if constexpr (sizeof(Word) == 16)
    return loadData<Word>(from);
  else
    return loadElement<Element>(from);
}

template <typename Element, typename Word> COIL_DEVICE inline void storeWord(u8 *to, Word word) {
  if constexpr (sizeof(Word) == 16)
    storeData(to, word);
  else
    storeElement<Element>(to, word);
}

/// Words of a statement: word i lies at byte i * sizeof(Word), and those from
/// `gapAt` on `gap` bytes further. The block's threads take a word each in turn,
/// `inFlight` of them at once.
template <typename Element, typename Operator, typename Word, u32 inFlight, u32 arity>
COIL_DEVICE inline void reduceWords(u8 *destination, const Operands<arity> &operands, u64 words,
                                    u64 gapAt, u64 gap, const Terms<Element> &terms) {
  for (u64 first = threadIndex(); first < words; first += u64(blockThreads()) * inFlight) {
    Word loaded[inFlight][arity];
    u64 at[inFlight];
    COIL_UNROLL
    for (u32 i = 0; i < inFlight; ++i) {
      u64 index = first + u64(blockThreads()) * i;
      at[i] = index * sizeof(Word) + (index < gapAt ? 0 : gap);
      if (index < words) {
        COIL_UNROLL
        for (u32 q = 0; q < arity; ++q)
          loaded[i][q] = loadWord<Element, Word>(operands.address[q] + at[i]);
      }
    }
    COIL_UNROLL
    for (u32 i = 0; i < inFlight; ++i) {
      if (first + u64(blockThreads()) * i >= words)
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
      storeWord<Element>(destination + at[i], sum.finish(terms));
    }
  }
}

/// Words of 16 bytes that a thread has in flight: enough to hide the latency of
/// memory, few enough that they stay in registers.
template <u32 arity>
inline constexpr u32 vectorsInFlight = arity == 1   ? 8
                                       : arity == 2 ? 4
                                       : arity <= 4 ? 2
                                                    : 1;

/// A statement of up to eight operands or so.
template <typename Element, typename Operator, u32 arity>
COIL_OUTLINED void reduceMemory(u8 *destination, Operands<arity> operands, u64 count,
                                Terms<Element> terms) {
  u64 address = addressOf(destination), differences = 0;
  for (u32 q = 0; q < arity; ++q)
    differences |= addressOf(operands.address[q]) ^ address;
  Split split = splitElements<Element>(address, differences, count);
  constexpr u32 inFlight = vectorsInFlight<arity>;
  u64 middle = split.vectors * elementsOf<Element, Vector16>;
  if (split.vectors != 0) {
    Operands<arity> aligned = operands;
    for (u32 q = 0; q < arity; ++q)
      aligned.address[q] += split.head * sizeof(Element);
    reduceWords<Element, Operator, Vector16, inFlight>(destination + split.head * sizeof(Element),
                                                       aligned, split.vectors, split.vectors, 0,
                                                       terms);
  }
  reduceWords<Element, Operator, Bits<Element>, inFlight>(
      destination, operands, count - middle, split.head, middle * sizeof(Element), terms);
}

/// One operand of many.
struct Operand {
  const u8 *address;
  bool own; ///< the rank's own input, which may be scaled
};

/// As reduceWords, for operands that operandAt(q) gives.
template <typename Element, typename Operator, typename Word, typename OperandAt>
COIL_DEVICE inline void reduceManyWords(u8 *destination, u32 arity, OperandAt operandAt, u64 words,
                                        u64 gapAt, u64 gap, const Terms<Element> &terms) {
  auto load = [&](u32 q, u64 at) {
    Operand operand = operandAt(q);
    Word word = loadWord<Element, Word>(operand.address + at);
    return operand.own ? scaledWord<Element, Operator>(word, terms) : word;
  };
  for (u64 index = threadIndex(); index < words; index += blockThreads()) {
    u64 at = index * sizeof(Word) + (index < gapAt ? 0 : gap);
    WordSum<Element, Operator, Word> sum(load(0, at));
    u32 q = 1;
    for (; q + 4 <= arity; q += 4) {
      Word loaded[4];
      COIL_UNROLL
      for (u32 i = 0; i < 4; ++i)
        loaded[i] = load(q + i, at);
      COIL_UNROLL
      for (u32 i = 0; i < 4; ++i)
        sum.combine(loaded[i]);
    }
    for (; q < arity; ++q)
      sum.combine(load(q, at));
    storeWord<Element>(destination + at, sum.finish(terms));
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
  u64 head = split.head * sizeof(Element);
  u64 middle = split.vectors * elementsOf<Element, Vector16>;
  if (split.vectors != 0)
    reduceManyWords<Element, Operator, Vector16>(
        destination + head, arity,
        [&](u32 q) {
          Operand operand = operandAt(q);
          return Operand{operand.address + head, operand.own};
        },
        split.vectors, split.vectors, 0, terms);
  reduceManyWords<Element, Operator, Bits<Element>>(destination, arity, operandAt, count - middle,
                                                    split.head, middle * sizeof(Element), terms);
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
