//===- Operators.h - How elements are combined ------------------*- C++ -*-===//
//
// The same bits as runtime/kernels/cpu, but for NaN, where any is as good as
// another: integers wrap; min and max give NaN if either is NaN and take +0 to be
// greater than -0; products and sums are rounded apart; avg divides the complete
// value once, integers towards zero.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_OPERATORS_H
#define COIL_RUNTIME_KERNELS_DEVICE_OPERATORS_H

#include "runtime/kernels/device/Elements.h"
#include "runtime/kernels/device/Reciprocal.h"

namespace coil::device {

template <typename T> COIL_DEVICE inline T wrappingSum(T a, T b) {
  if constexpr (isFloat<T>)
    return add(a, b);
  else
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}

template <typename T> COIL_DEVICE inline T wrappingProduct(T a, T b) {
  if constexpr (isFloat<T>)
    return multiply(a, b);
  else if constexpr (sizeof(T) < 4)
    return static_cast<T>(static_cast<u32>(a) * static_cast<u32>(b));
  else
    return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
}

/// The greater or the lesser of two.
template <bool greater, typename T> COIL_DEVICE inline T extreme(T a, T b) {
  if constexpr (isFloat<T>) {
    if (a != a || b != b)
      return add(a, b);
    if (a == b) { // equal bits, or zeros of either sign
      Unsigned<T> first = bitCast<Unsigned<T>>(a), second = bitCast<Unsigned<T>>(b);
      return bitCast<T>(greater ? first & second : first | second);
    }
  }
  return (a > b) == greater ? a : b;
}

/// An operator: `scales` if a rank's own input is multiplied by a factor before
/// use, `divides` if the complete value is divided by the number of ranks.
struct Sum {
  static constexpr bool scales = false, divides = false;
  template <typename T> COIL_DEVICE static T combine(T a, T b) { return wrappingSum(a, b); }
};
struct Prod {
  static constexpr bool scales = false, divides = false;
  template <typename T> COIL_DEVICE static T combine(T a, T b) { return wrappingProduct(a, b); }
};
struct Max {
  static constexpr bool scales = false, divides = false;
  template <typename T> COIL_DEVICE static T combine(T a, T b) { return extreme<true>(a, b); }
};
struct Min {
  static constexpr bool scales = false, divides = false;
  template <typename T> COIL_DEVICE static T combine(T a, T b) { return extreme<false>(a, b); }
};
struct Avg {
  static constexpr bool scales = false, divides = true;
  template <typename T> COIL_DEVICE static T combine(T a, T b) { return wrappingSum(a, b); }
};
struct PreMulSum {
  static constexpr bool scales = true, divides = false;
  template <typename T> COIL_DEVICE static T combine(T a, T b) { return wrappingSum(a, b); }
};

/// Rounded down.
COIL_DEVICE inline u64 divide(u64 dividend, Reciprocal by) {
  u64 high = multiplyHigh(dividend, by.multiplier);
  return (high + ((dividend - high) >> 1)) >> by.shift;
}

/// What avg divides by: the number of ranks, below 2^31 and at least 2.
struct Divisor {
  u32 number; ///< at least 2
  Reciprocal reciprocal;
};

/// A complete sum by the number of ranks.
template <typename T> COIL_DEVICE inline T average(T sum, const Divisor &divisor) {
  if constexpr (isFloat<T>)
    return divide(sum, static_cast<T>(divisor.number));
  else if constexpr (sizeof(T) == 8 && static_cast<T>(-1) < static_cast<T>(0))
    return sum < 0 ? static_cast<T>(0 - divide(0 - static_cast<u64>(sum), divisor.reciprocal))
                   : static_cast<T>(divide(static_cast<u64>(sum), divisor.reciprocal));
  else if constexpr (sizeof(T) == 8)
    return divide(sum, divisor.reciprocal);
  else if constexpr (static_cast<T>(-1) < static_cast<T>(0))
    return static_cast<T>(static_cast<i32>(sum) / static_cast<i32>(divisor.number));
  else
    return static_cast<T>(static_cast<u32>(sum) / divisor.number);
}

/// An element of a rank's own input by the rank's factor, rounded once.
template <typename Element>
COIL_DEVICE inline Element scaled(Element value, Accumulation<Element> factor) {
  using A = Arithmetic<Element>;
  return A::round(wrappingProduct(A::widen(value), factor));
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_OPERATORS_H
