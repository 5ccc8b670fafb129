//===- NarrowFormat.h - Shapes of the floats below 32 bits ------*- C++ -*-===//
//
// What the vector kernels and the exact scalar conversions must agree on.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_CPU_NARROWFORMAT_H
#define COIL_RUNTIME_KERNELS_CPU_NARROWFORMAT_H

namespace coil::cpu {

/// A binary float: one sign bit, then the exponent, then the mantissa.
struct NarrowFormat {
  int exponentBits;
  int mantissaBits;
  /// If false, only the code of all ones is NaN; the largest exponent's other
  /// codes are finite, and what overflows becomes NaN.
  bool hasInfinity;

  constexpr int bits() const { return 1 + exponentBits + mantissaBits; }
  constexpr int exponentBias() const { return (1 << (exponentBits - 1)) - 1; }
  /// All bits of a code but the sign.
  constexpr int magnitudeMask() const { return (1 << (exponentBits + mantissaBits)) - 1; }
  /// Infinity's code, or else NaN's: what a magnitude that overflows becomes.
  constexpr int overflowCode() const {
    return hasInfinity ? ((1 << exponentBits) - 1) << mantissaBits : magnitudeMask();
  }
  constexpr int quietNaNCode() const {
    return hasInfinity ? overflowCode() | 1 << (mantissaBits - 1) : magnitudeMask();
  }
};

inline constexpr NarrowFormat formatF16{5, 10, true};
inline constexpr NarrowFormat formatBF16{8, 7, true};
inline constexpr NarrowFormat formatF8E4M3{4, 3, false};
inline constexpr NarrowFormat formatF8E5M2{5, 2, true};

} // namespace coil::cpu

#endif // COIL_RUNTIME_KERNELS_CPU_NARROWFORMAT_H
