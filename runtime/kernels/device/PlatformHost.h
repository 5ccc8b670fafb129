//===- PlatformHost.h - What needs no emulation on the host -----*- C++ -*-===//
//
// The arithmetic of the seam where device code runs on the host. It takes the
// host compiler's options as they are, but never fuses a product with a sum.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_PLATFORMHOST_H
#define COIL_RUNTIME_KERNELS_DEVICE_PLATFORMHOST_H

#include "runtime/kernels/device/Platform.h"

/// A function too big to be repeated where it is called.
#define COIL_OUTLINED inline
/// Before a loop of constant length: its body repeated.
#define COIL_UNROLL
/// Before a loop: its body once, to save registers.
#define COIL_ROLLED

namespace coil::device {

inline float add(float a, float b) { return a + b; }
inline double add(double a, double b) { return a + b; }

// Through memory, for compilers that would fuse the product with a later sum.
inline float multiply(float a, float b) {
  volatile float product = a * b;
  return product;
}
inline double multiply(double a, double b) {
  volatile double product = a * b;
  return product;
}

inline float divide(float dividend, float divisor) { return dividend / divisor; }
inline double divide(double dividend, double divisor) { return dividend / divisor; }

inline u64 multiplyHigh(u64 a, u64 b) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<u64>((Wide(a) * b) >> 64);
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_PLATFORMHOST_H
