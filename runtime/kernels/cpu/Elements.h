//===- Elements.h - How each type is loaded, combined and stored -*- C++ -*-===//
//
// An element class turns vectorBytes bytes of memory into an Accumulator and
// back. Narrow floats share 32-bit lanes: part p of the accumulator holds the
// p-th code of every 32-bit word, so that shifts alone take the codes apart and
// together, and nothing ever moves between lanes.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_CPU_ELEMENTS_H
#define COIL_RUNTIME_KERNELS_CPU_ELEMENTS_H

#include "runtime/base/Types.h"
#include "runtime/kernels/cpu/NarrowFormat.h"
#include "runtime/kernels/cpu/Vectors.h"

#include <type_traits>

namespace coil::cpu {
namespace {

template <typename T, int parts> struct Accumulator {
  static constexpr int numParts = parts;
  Vector<T> part[parts];
};

/// Integers, f32 and f64: computed on as they are stored. Signed integers are
/// summed and multiplied as unsigned ones (see Kernels.h), so that they wrap.
template <typename T> struct Plain {
  using Lane = T;
  using Sum = Accumulator<T, 1>;
  static constexpr size_t size = sizeof(T);

  static COIL_INLINE Sum load(const char *from) { return {{loadVector<Vector<T>>(from)}}; }
  static COIL_INLINE void store(char *to, const Sum &sum) { storeVector(to, sum.part[0]); }
};

/// Codes in the low bits of each lane to f32; exact. Bits above the code are zero.
template <NarrowFormat format> COIL_INLINE F32 decode(U32 codes) {
  constexpr int shift = 23 - format.mantissaBits;
  constexpr int32_t rebias = (127 - format.exponentBias()) << 23;
  constexpr int32_t one = 1 << 23; // of the f32 exponent
  // Magnitudes stay below 2^31, where signed comparison, the only one that old
  // instruction sets have, is right.
  I32 magnitude = (I32)((codes & format.magnitudeMask()) << shift);
  U32 sign = (codes & (format.magnitudeMask() + 1)) << (32 - format.bits());
  I32 normal = magnitude + rebias;
  // A subnormal m is 1.m less 1.0 at the smallest normal exponent; the
  // subtraction is exact and meets no f32 subnormals, which some machines are
  // slow on.
  F32 smallestNormal = (F32)(I32{} + (rebias + one));
  I32 subnormal = (I32)((F32)(normal + one) - smallestNormal);
  I32 result = magnitude < one ? subnormal : normal;
  if constexpr (format.hasInfinity) {
    constexpr int32_t infinity = format.overflowCode() << shift;
    result = magnitude >= infinity ? normal + (0x7f800000 - infinity - rebias) : result;
  } else {
    result = magnitude == format.quietNaNCode() << shift ? I32{} + 0x7fc00000 : result;
  }
  return (F32)(sign | (U32)result);
}

/// f32 to codes in the low bits of each lane, rounded to nearest even.
template <NarrowFormat format> COIL_INLINE U32 encode(F32 values) {
  constexpr int shift = 23 - format.mantissaBits;
  constexpr int32_t rebias = (127 - format.exponentBias()) << 23;
  constexpr int32_t one = 1 << 23;
  I32 magnitude = (I32)values & 0x7fffffff;
  U32 sign = ((U32)values >> (32 - format.bits())) & (format.magnitudeMask() + 1);
  // Add half a unit, less a little if the lowest kept bit is even, and truncate.
  // The carry runs into the exponent, and beyond the largest finite value.
  U32 odd = ((U32)magnitude >> shift) & 1;
  constexpr uint32_t belowHalf = (1 << (shift - 1)) - 1;
  I32 normal = (I32)(((U32)magnitude + (belowHalf - rebias) + odd) >> shift);
  // Adding a power of two whose unit is the narrow format's subnormal unit makes
  // the addition round to it.
  constexpr int32_t alignerBits = rebias + one + (shift << 23);
  F32 aligner = (F32)(I32{} + alignerBits);
  I32 subnormal = (I32)((F32)magnitude + aligner) - alignerBits;
  I32 result = magnitude < rebias + one ? subnormal : normal;
  if constexpr (format.hasInfinity) {
    constexpr int32_t overflow = (format.overflowCode() << shift) + rebias;
    result = magnitude >= overflow ? I32{} + format.overflowCode() : result;
    result = magnitude > 0x7f800000 ? I32{} + format.quietNaNCode() : result;
  } else {
    result = result > format.overflowCode() ? I32{} + format.overflowCode() : result;
  }
  return sign | (U32)result;
}

/// bf16 is the upper half of an f32, subnormals, infinity and NaN included.
template <> COIL_INLINE F32 decode<formatBF16>(U32 codes) { return (F32)(codes << 16); }

template <> COIL_INLINE U32 encode<formatBF16>(F32 values) {
  U32 bits = (U32)values;
  U32 rounded = (bits + 0x7fff) + ((bits >> 16) & 1);
  // Rounding could carry a NaN into the sign.
  return (values != values ? bits | 0x400000 : rounded) >> 16;
}

/// Floats below 32 bits: computed on in f32.
template <NarrowFormat format> struct Narrow {
  using Lane = float;
  static constexpr size_t size = format.bits() / 8;
  static constexpr int parts = 4 / size;
  using Sum = Accumulator<float, parts>;

  static COIL_INLINE Sum load(const char *from) {
    U32 words = loadVector<U32>(from);
    Sum sum;
    for (int p = 0; p < parts; ++p)
      sum.part[p] = decode<format>((words >> (p * format.bits())) & ((1 << format.bits()) - 1));
    return sum;
  }

  static COIL_INLINE void store(char *to, const Sum &sum) {
    U32 words = encode<format>(sum.part[0]);
    for (int p = 1; p < parts; ++p)
      words |= encode<format>(sum.part[p]) << (p * format.bits());
    storeVector(to, words);
  }
};

#if defined(__F16C__)
/// With the machine's own conversions, which work on half a vector each.
template <> struct Narrow<formatF16> {
  using Lane = float;
  static constexpr size_t size = 2;
  static constexpr int parts = 2;
  using Sum = Accumulator<float, parts>;

#if defined(__AVX512F__)
  using Half = __m256i;
  static COIL_INLINE F32 widen(Half codes) { return (F32)_mm512_maskz_cvtph_ps(0xffff, codes); }
  static COIL_INLINE Half round(F32 values) {
    return _mm512_maskz_cvtps_ph(0xffff, (__m512)values, _MM_FROUND_TO_NEAREST_INT);
  }
#else
  using Half = __m128i;
  static COIL_INLINE F32 widen(Half codes) { return (F32)_mm256_cvtph_ps(codes); }
  static COIL_INLINE Half round(F32 values) {
    return _mm256_cvtps_ph((__m256)values, _MM_FROUND_TO_NEAREST_INT);
  }
#endif

  static COIL_INLINE Sum load(const char *from) {
    return {{widen(loadVector<Half>(from)), widen(loadVector<Half>(from + sizeof(Half)))}};
  }
  static COIL_INLINE void store(char *to, const Sum &sum) {
    storeVector(to, round(sum.part[0]));
    storeVector(to + sizeof(Half), round(sum.part[1]));
  }
};
#endif

/// Narrow floats for max and min, as integers in the same order (so that -0 comes
/// before +0), a NaN before or after everything else, as `op` would choose it.
template <NarrowFormat format, ReduceOp op> struct Ordered {
  using Lane = std::conditional_t<format.bits() == 8, int8_t, int16_t>;
  using Sum = Accumulator<Lane, 1>;
  static constexpr size_t size = sizeof(Lane);

  static COIL_INLINE Sum load(const char *from) {
    Vector<Lane> codes = loadVector<Vector<Lane>>(from);
    constexpr Lane largestNumber = format.overflowCode() - !format.hasInfinity;
    Vector<Lane> magnitudes = codes & Lane(format.magnitudeMask());
    constexpr Lane nan = op == ReduceOp::Max ? format.magnitudeMask() : -1;
    return {{reorder(magnitudes > largestNumber ? Vector<Lane>{} + nan : codes)}};
  }
  static COIL_INLINE void store(char *to, const Sum &sum) { storeVector(to, reorder(sum.part[0])); }

private:
  /// Sign and magnitude to an integer in the same order, and back.
  static COIL_INLINE Vector<Lane> reorder(Vector<Lane> codes) {
    return codes ^ ((codes < Lane(0)) & Lane(format.magnitudeMask()));
  }
};

/// a (op) b, lane by lane. Avg and PreMulSum are Sum.
template <ReduceOp op, typename T> COIL_INLINE Vector<T> combineLanes(Vector<T> a, Vector<T> b) {
  if constexpr (op == ReduceOp::Prod) {
    return a * b;
  } else if constexpr (op == ReduceOp::Max || op == ReduceOp::Min) {
    constexpr bool isMax = op == ReduceOp::Max;
    Vector<T> result = isMax ? (a > b ? a : b) : (a < b ? a : b);
    if constexpr (std::is_integral_v<T>) {
      return result;
    } else {
      // Of two zeros, `result` is the second and `swapped` the first: +0 is the
      // greater one, whichever it is. Both are equal otherwise, but for NaN.
      using Bits = Vector<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
      Vector<T> swapped = isMax ? (b > a ? b : a) : (b < a ? b : a);
      Bits both = isMax ? (Bits)result & (Bits)swapped : (Bits)result | (Bits)swapped;
      return ((a != a) | (b != b)) ? a + b : (Vector<T>)both;
    }
  } else {
    return a + b;
  }
}

template <ReduceOp op, typename E>
COIL_INLINE void combine(typename E::Sum &sum, const typename E::Sum &other) {
  for (int p = 0; p < E::Sum::numParts; ++p)
    sum.part[p] = combineLanes<op, typename E::Lane>(sum.part[p], other.part[p]);
}

} // namespace
} // namespace coil::cpu

#endif // COIL_RUNTIME_KERNELS_CPU_ELEMENTS_H
