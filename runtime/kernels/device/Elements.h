//===- Elements.h - The element types of device code ------------*- C++ -*-===//
//
// What a collective's elements are in memory and what they are computed in:
// integers, f32 and f64 in themselves, narrower floats in f32 with one rounding
// at the end of a statement.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_ELEMENTS_H
#define COIL_RUNTIME_KERNELS_DEVICE_ELEMENTS_H

#include "runtime/kernels/device/NarrowFloats.h"

namespace coil::device {

struct Half {
  u16 bits;
};
struct BFloat16 {
  u16 bits;
};
/// OCP's "fn": no infinity, so that overflow becomes NaN.
struct Float8E4M3 {
  u8 bits;
};
struct Float8E5M2 {
  u8 bits;
};

/// An unsigned integer of `bytes` bytes.
template <u32 bytes> struct BitsOf;
template <> struct BitsOf<1> {
  using Type = u8;
};
template <> struct BitsOf<2> {
  using Type = u16;
};
template <> struct BitsOf<4> {
  using Type = u32;
};
template <> struct BitsOf<8> {
  using Type = u64;
};
template <typename Element> using Bits = typename BitsOf<sizeof(Element)>::Type;

/// How an element is computed on: `Accumulation`, widen() to it, which is exact,
/// and round() from it, to nearest even.
template <typename Element> struct Arithmetic {
  using Accumulation = Element;
  COIL_DEVICE static Element widen(Element value) { return value; }
  COIL_DEVICE static Element round(Element value) { return value; }
};

template <> struct Arithmetic<Half> {
  using Accumulation = float;
  COIL_DEVICE static float widen(Half value) { return halfToFloat(value.bits); }
  COIL_DEVICE static Half round(float value) { return {floatToHalf(value)}; }
};

template <> struct Arithmetic<BFloat16> {
  using Accumulation = float;
  COIL_DEVICE static float widen(BFloat16 value) {
    return bitCast<float>(static_cast<u32>(value.bits) << 16);
  }
  COIL_DEVICE static BFloat16 round(float value) { return {encodeBFloat16(value)}; }
};

template <> struct Arithmetic<Float8E4M3> {
  using Accumulation = float;
  COIL_DEVICE static float widen(Float8E4M3 value) {
    u32 magnitude = value.bits & 0x7fu;
    // An f16 with the same exponent field and mantissa is 2^8 times less.
    float result = magnitude == 0x7f ? bitCast<float>(0x7fc00000u)
                                     : halfToFloat(static_cast<u16>(magnitude << 7)) * 256;
    return bitCast<float>(bitCast<u32>(result) | (value.bits & 0x80u) << 24);
  }
  COIL_DEVICE static Float8E4M3 round(float value) {
    return {static_cast<u8>(encode<NarrowFormat::E4M3>(value))};
  }
};

template <> struct Arithmetic<Float8E5M2> {
  using Accumulation = float;
  // The upper half of an f16.
  COIL_DEVICE static float widen(Float8E5M2 value) {
    return halfToFloat(static_cast<u16>(value.bits << 8));
  }
  COIL_DEVICE static Float8E5M2 round(float value) {
    return {static_cast<u8>(encode<NarrowFormat::E5M2>(value))};
  }
};

template <typename Element> using Accumulation = typename Arithmetic<Element>::Accumulation;

/// True for the accumulation types that are floats.
template <typename T> inline constexpr bool isFloat = false;
template <> inline constexpr bool isFloat<float> = true;
template <> inline constexpr bool isFloat<double> = true;

/// An accumulation type's unsigned integer of the same size.
template <typename T> using Unsigned = Bits<T>;

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_ELEMENTS_H
