//===- Reciprocal.h - Division by one number --------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_RECIPROCAL_H
#define COIL_RUNTIME_KERNELS_DEVICE_RECIPROCAL_H

#include "runtime/kernels/device/Integers.h"

namespace coil::device {

/// Division of 64-bit integers by one number as a multiplication by its reciprocal,
/// scaled to 65 bits so that it is exact for every dividend (Granlund and Montgomery,
/// "Division by Invariant Integers using Multiplication", 1994, figure 4.1).
struct Reciprocal {
  u64 multiplier;
  u32 shift;
};

/// `divisor` is at least 2.
COIL_HOST_DEVICE inline Reciprocal reciprocalOf(u32 divisor) {
  u32 shift = 0;
  while (u64(2) << shift < divisor)
    ++shift;
  // (2^(shift + 1) - divisor) * 2^64 / divisor, digit after digit of 32 bits.
  u64 rest = ((u64(2) << shift) - divisor) << 32;
  u64 low = rest % divisor << 32;
  return {(rest / divisor << 32) + low / divisor + 1, shift};
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_RECIPROCAL_H
