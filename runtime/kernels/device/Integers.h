//===- Integers.h - Integer types of device code ----------------*- C++ -*-===//
//
// Device code includes no header but its own, so that NVRTC alone compiles it.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_INTEGERS_H
#define COIL_RUNTIME_KERNELS_DEVICE_INTEGERS_H

// Marks a function that both the host and device code call.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define COIL_HOST_DEVICE __host__ __device__
#else
#define COIL_HOST_DEVICE
#endif

namespace coil::device {

using i8 = signed char;
using u8 = unsigned char;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8);

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_INTEGERS_H
