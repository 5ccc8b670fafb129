//===- IntegerDivision.h - Many integers by one divisor ---------*- C++ -*-===//
//
// What avg does to integers once they are summed. Included only by Kernels.h.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_CPU_INTEGERDIVISION_H
#define COIL_RUNTIME_KERNELS_CPU_INTEGERDIVISION_H

#include "runtime/kernels/cpu/Vectors.h"

#include <type_traits>

namespace coil::cpu {
namespace {

/// Unsigned 64-bit division by a divisor of at least 2 as a multiplication by
/// its reciprocal, scaled to 65 bits so that it is exact for every dividend
/// (Granlund and Montgomery, "Division by Invariant Integers using
/// Multiplication", 1994, figure 4.1).
class Reciprocal {
public:
  explicit COIL_INLINE Reciprocal(uint64_t divisor) : shift(63 - __builtin_clzll(divisor - 1)) {
    // 2^(shift + 1) is the least power of two that is not below the divisor.
    Wide power = Wide(1) << (shift + 1);
    multiplier = uint64_t(((power - divisor) << 64) / divisor + 1);
  }

  COIL_INLINE uint64_t divide(uint64_t dividend) const {
    uint64_t high = uint64_t((Wide(multiplier) * dividend) >> 64);
    return (high + ((dividend - high) >> 1)) >> shift;
  }

private:
  __extension__ typedef unsigned __int128 Wide;
  uint64_t multiplier;
  int shift;
};

/// Divides `count` integers in place by `divisor`, at least 2, towards zero.
template <typename T> void divideIntegers(char *data, size_t count, uint64_t divisor) {
  constexpr bool isSigned = T(-1) < T(0);
  T value;
  if constexpr (sizeof(T) < 8) {
    // The quotient of integers that the float holds exactly, rounded, is never
    // rounded up to the next integer, so cutting off its fraction is exact. A
    // divisor that is not held exactly is greater than any dividend.
    using Float = std::conditional_t<sizeof(T) == 1, float, double>;
    using Integer = std::conditional_t<sizeof(T) == 1, int32_t, int64_t>;
    Float floatDivisor = Float(divisor);
    for (size_t i = 0; i < count; ++i) {
      __builtin_memcpy(&value, data + i * sizeof(T), sizeof(T));
      value = T(Integer(Float(value) / floatDivisor));
      __builtin_memcpy(data + i * sizeof(T), &value, sizeof(T));
    }
  } else {
    Reciprocal reciprocal(divisor);
    for (size_t i = 0; i < count; ++i) {
      __builtin_memcpy(&value, data + i * sizeof(T), sizeof(T));
      bool isNegative = isSigned && value < T(0);
      uint64_t quotient = reciprocal.divide(isNegative ? 0 - uint64_t(value) : uint64_t(value));
      value = T(isNegative ? 0 - quotient : quotient);
      __builtin_memcpy(data + i * sizeof(T), &value, sizeof(T));
    }
  }
}

} // namespace
} // namespace coil::cpu

#endif // COIL_RUNTIME_KERNELS_CPU_INTEGERDIVISION_H
