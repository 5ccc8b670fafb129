//===- Multimem.h - Reductions and stores by the switch ---------*- C++ -*-===//
//
// Of memory that several ranks have at one multicast address: from sm_90 on, where a
// switch joins the devices, one load brings the ranks' elements combined, and one
// store goes to all of them, so that a device sends and receives each element once.
//
// Participants: all threads of the block, with the same arguments.
// Memory order: as Reduce.h's, of all ranks' memory; accesses by multicast and by
//   the ranks' own addresses are ordered alike.
// Alignment: any, but a place's addresses all agree modulo 16, as mappings of whole
//   pages do. Where the other pointer agrees with them, and is aligned to the element,
//   all but a head and a tail of less than 16 bytes go through the switch.
// Fallback: the ranks' own addresses, one after the other, for head and tail; for all
//   where pointers disagree, the device has no such instructions, the place no multicast
//   address, or the switch no such operator.
// Result: in the fallback, of the operands combined in the order of the ranks, as
//   reduceManyMemory() does it. The switch combines them in an order, and rounds sums
//   of floats in a way, that are specified nowhere: integers are the same in both,
//   floats are not. So they differ from a ring's, and head and tail from the rest; yet
//   ranks that fetch the result of one of them all have the same.
// Bounds: nothing outside of the elements is read or written. Source and destination
//   do not overlap, but that the destination may be exactly the caller's own part of
//   a place that no other rank reads.
// Progress: waits for nobody.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_MULTIMEM_H
#define COIL_RUNTIME_KERNELS_DEVICE_MULTIMEM_H

#include "runtime/kernels/device/Reduce.h"

namespace coil::device {

/// The switch's operation that does what the operator does. It has none for bytes; none
/// for min and max of f32 and f64, and what its min and max of narrower floats make of
/// NaN is not specified, while Operators.h says it.
template <typename Element, typename Operator>
inline constexpr SwitchReduction switchReduction = SwitchReduction::None;
template <> inline constexpr auto switchReduction<Half, Sum> = SwitchReduction::AddF16;
template <> inline constexpr auto switchReduction<BFloat16, Sum> = SwitchReduction::AddBF16;
template <> inline constexpr auto switchReduction<float, Sum> = SwitchReduction::AddF32;
template <> inline constexpr auto switchReduction<double, Sum> = SwitchReduction::AddF64;
template <> inline constexpr auto switchReduction<i32, Sum> = SwitchReduction::Add32;
template <> inline constexpr auto switchReduction<u32, Sum> = SwitchReduction::Add32;
template <> inline constexpr auto switchReduction<i64, Sum> = SwitchReduction::Add64;
template <> inline constexpr auto switchReduction<u64, Sum> = SwitchReduction::Add64;
template <> inline constexpr auto switchReduction<i32, Min> = SwitchReduction::MinI32;
template <> inline constexpr auto switchReduction<i32, Max> = SwitchReduction::MaxI32;
template <> inline constexpr auto switchReduction<u32, Min> = SwitchReduction::MinU32;
template <> inline constexpr auto switchReduction<u32, Max> = SwitchReduction::MaxU32;
template <> inline constexpr auto switchReduction<i64, Min> = SwitchReduction::MinI64;
template <> inline constexpr auto switchReduction<i64, Max> = SwitchReduction::MaxI64;
template <> inline constexpr auto switchReduction<u64, Min> = SwitchReduction::MinU64;
template <> inline constexpr auto switchReduction<u64, Max> = SwitchReduction::MaxU64;

/// Whether reduceMultimem() ever uses the switch.
template <typename Element, typename Operator>
inline constexpr bool multimemSupports =
    switchReduction<Element, Operator> != SwitchReduction::None;

/// Words that a thread has in flight.
inline constexpr u32 multimemInFlight = 4;

/// How elements of a place and of memory fall into words that go through the switch.
template <typename Element>
COIL_DEVICE inline Split splitForSwitch(const MulticastPlace &place, const u8 *memory, u64 count) {
  if (!hasMultimem() || place.multicast == nullptr)
    return {0, 0};
  u64 address = addressOf(memory);
  return splitElements<Element>(address, address ^ addressOf(place.multicast), count);
}

/// `words` words of a place, from byte `begin` on, to the same bytes of `destination`.
template <typename Element, typename Operator>
COIL_OUTLINED void reduceMultimemWords(u8 *destination, const MulticastPlace &source, u64 begin,
                                       u64 words) {
  auto combine = [&](auto loadAt) {
    Terms<Element> none = {};
    WordSum<Element, Operator, Vector16> sum(loadAt(0));
    for (u32 rank = 1; rank < source.ranks; ++rank)
      sum.combine(loadAt(rank));
    return sum.finish(none);
  };
  u32 stride = blockThreads() * multimemInFlight;
  COIL_ROLLED
  for (u64 first = firstWord<multimemInFlight>(); first < words; first += stride) {
    u64 offset = begin + first * sizeof(Vector16);
    Vector16 loaded[multimemInFlight];
    COIL_UNROLL
    for (u32 i = 0; i < multimemInFlight; ++i)
      if (first + i * 32 < words)
        loaded[i] = loadMultimemWord<switchReduction<Element, Operator>>(
            source, offset + i * 32 * sizeof(Vector16), combine);
    COIL_UNROLL
    for (u32 i = 0; i < multimemInFlight; ++i)
      if (first + i * 32 < words)
        storeData(destination + offset + i * 32 * sizeof(Vector16), loaded[i]);
  }
}

/// destination[i] := the ranks' source[i] combined, for `count` elements; `terms` matter
/// to operators that divide. An operator that scales has no meaning here.
template <typename Element, typename Operator>
COIL_DEVICE inline void reduceMultimem(u8 *destination, const MulticastPlace &source, u64 count,
                                       const Terms<Element> &terms) {
  static_assert(!Operator::scales, "the ranks' factors are not known here");
  auto operandAt = [&](u32 rank) { return Operand{source.unicast[rank], false}; };
  Split split = {0, 0};
  if constexpr (forHopper && multimemSupports<Element, Operator>)
    split = splitForSwitch<Element>(source, destination, count);
  if (split.vectors == 0)
    return reduceManyMemory<Element, Operator>(destination, source.ranks, operandAt, count, terms);
  if constexpr (forHopper && multimemSupports<Element, Operator>) {
    u64 head = split.head * sizeof(Element), end = head + split.vectors * sizeof(Vector16);
    orderMultimem();
    reduceMultimemWords<Element, Operator>(destination, source, head, split.vectors);
    orderMultimem();
    for (u32 part = 0; part < 2; ++part)
      reduceManyWords<Element, Operator, Bits<Element>>(
          destination, source.ranks, operandAt, part == 0 ? 0 : end,
          part == 0 ? split.head : count - end / sizeof(Element), terms);
  }
}

/// `words` words of `source`, from byte `begin` on, to the same bytes of all ranks.
COIL_OUTLINED void storeMultimemWords(const MulticastPlace &destination, const u8 *source,
                                      u64 begin, u64 words) {
  u32 stride = blockThreads() * multimemInFlight;
  COIL_ROLLED
  for (u64 first = firstWord<multimemInFlight>(); first < words; first += stride) {
    u64 offset = begin + first * sizeof(Vector16);
    Vector16 loaded[multimemInFlight];
    COIL_UNROLL
    for (u32 i = 0; i < multimemInFlight; ++i)
      if (first + i * 32 < words)
        loaded[i] = loadData<Vector16>(source + offset + i * 32 * sizeof(Vector16));
    COIL_UNROLL
    for (u32 i = 0; i < multimemInFlight; ++i)
      if (first + i * 32 < words)
        storeMultimemWord(destination, offset + i * 32 * sizeof(Vector16), loaded[i]);
  }
}

/// The ranks' destination[i] := source[i], for `count` elements, never scaled; the
/// operator is the one whose copies the kernel has already, and `terms` are theirs.
template <typename Element, typename Operator>
COIL_DEVICE inline void storeMultimem(const MulticastPlace &destination, const u8 *source,
                                      u64 count, const Terms<Element> &terms) {
  auto copyToAll = [&](u64 begin, u64 elements) {
    for (u32 rank = 0; rank < destination.ranks; ++rank)
      copyMemory<Element, Operator>(destination.unicast[rank] + begin, source + begin, false,
                                    elements, terms);
  };
  Split split = {0, 0};
  if constexpr (forHopper)
    split = splitForSwitch<Element>(destination, source, count);
  if (split.vectors == 0)
    return copyToAll(0, count);
  if constexpr (forHopper) {
    u64 head = split.head * sizeof(Element), end = head + split.vectors * sizeof(Vector16);
    orderMultimem();
    storeMultimemWords(destination, source, head, split.vectors);
    orderMultimem();
    copyToAll(0, split.head);
    copyToAll(end, count - end / sizeof(Element));
  }
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_MULTIMEM_H
