//===- NarrowFloats.h - Floats below 32 bits, in integers -------*- C++ -*-===//
//
// Conversions between f32 and the codes of narrower binary floats, rounded to
// nearest even, the same on every machine and bit for bit those of the CPU
// kernels (runtime/kernels/cpu/NarrowFormat.h has the formats' words).
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_NARROWFLOATS_H
#define COIL_RUNTIME_KERNELS_DEVICE_NARROWFLOATS_H

#include "runtime/kernels/device/Platform.h"

namespace coil::device {

template <typename To, typename From> COIL_DEVICE inline constexpr To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// One sign bit, then the exponent, then the mantissa.
enum class NarrowFormat {
  Half, ///< 5 and 10 bits
  E5M2, ///< 5 and 2 bits
  E4M3, ///< 4 and 3 bits; no infinity, one NaN, which overflow becomes too
};

/// A format's numbers.
template <NarrowFormat format> struct FormatOf {
  static constexpr u32 exponentBits = format == NarrowFormat::E4M3 ? 4 : 5;
  static constexpr u32 mantissaBits = format == NarrowFormat::Half   ? 10
                                      : format == NarrowFormat::E5M2 ? 2
                                                                     : 3;
  static constexpr bool hasInfinity = format != NarrowFormat::E4M3;

  static constexpr u32 bits = 1 + exponentBits + mantissaBits;
  static constexpr u32 signBit = 1u << (bits - 1);
  static constexpr u32 magnitudeMask = signBit - 1;
  /// Infinity's code, or else NaN's.
  static constexpr u32 overflowCode =
      hasInfinity ? ((1u << exponentBits) - 1) << mantissaBits : magnitudeMask;
  static constexpr u32 quietNaNCode =
      hasInfinity ? overflowCode | 1u << (mantissaBits - 1) : magnitudeMask;

  /// From a code's place to the place of the same bits in an f32.
  static constexpr u32 shift = 23 - mantissaBits;
  /// Difference of the exponents' biases, in place.
  static constexpr u32 rebias = (127 - ((1u << (exponentBits - 1)) - 1)) << 23;
  /// One in an f32's exponent.
  static constexpr u32 one = 1u << 23;
};

/// Exact. Bits of `code` above the format's are zero.
template <NarrowFormat format> COIL_DEVICE inline float decode(u32 code) {
  using Format = FormatOf<format>;
  u32 magnitude = (code & Format::magnitudeMask) << Format::shift;
  u32 sign = (code & Format::signBit) << (32 - Format::bits);
  u32 result = magnitude + Format::rebias;
  if (magnitude < Format::one) {
    // A subnormal m is 1.m less 1.0 at the smallest normal exponent, exactly.
    result = bitCast<u32>(bitCast<float>(result + Format::one) -
                          bitCast<float>(Format::rebias + Format::one));
  } else if (Format::hasInfinity) {
    if (magnitude >= Format::overflowCode << Format::shift)
      result = magnitude - (Format::overflowCode << Format::shift) + 0x7f800000u;
  } else if (magnitude == Format::quietNaNCode << Format::shift) {
    result = 0x7fc00000u;
  }
  return bitCast<float>(sign | result);
}

/// The nearest code, ties to even.
template <NarrowFormat format> COIL_DEVICE inline u32 encode(float value) {
  using Format = FormatOf<format>;
  u32 magnitude = bitCast<u32>(value) & 0x7fffffffu;
  u32 sign = (bitCast<u32>(value) >> (32 - Format::bits)) & Format::signBit;
  if (magnitude > 0x7f800000u)
    return sign | Format::quietNaNCode;
  u32 result;
  if (magnitude < Format::rebias + Format::one) {
    // Adding a power of two whose unit is the format's smallest value makes the
    // addition round to it.
    constexpr u32 aligner = Format::rebias + Format::one + (Format::shift << 23);
    result = bitCast<u32>(bitCast<float>(magnitude) + bitCast<float>(aligner)) - aligner;
  } else {
    // Half a unit, less a little if the lowest kept bit is even; then truncation.
    // The carry runs into the exponent, and beyond the largest finite value.
    u32 odd = (magnitude >> Format::shift) & 1;
    result = (magnitude - Format::rebias + (1u << (Format::shift - 1)) - 1 + odd) >> Format::shift;
  }
  return sign | (result < Format::overflowCode ? result : Format::overflowCode);
}

/// bf16 is the upper half of an f32.
COIL_DEVICE inline u16 encodeBFloat16(float value) {
  u32 bits = bitCast<u32>(value);
  // Rounding could carry a NaN into the sign.
  u32 rounded = value != value ? bits | 0x400000u : bits + 0x7fff + ((bits >> 16) & 1);
  return static_cast<u16>(rounded >> 16);
}

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
// The seam's, which a GPU has instructions for.
inline float halfToFloat(u16 bits) { return decode<NarrowFormat::Half>(bits); }
inline u16 floatToHalf(float value) { return static_cast<u16>(encode<NarrowFormat::Half>(value)); }
#endif

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_NARROWFLOATS_H
