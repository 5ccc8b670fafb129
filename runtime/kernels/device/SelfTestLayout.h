//===- SelfTestLayout.h - Memory of the self-test of ll128 ------*- C++ -*-===//
//
// What the host and Ll128SelfTest.h agree on. Each device of a communicator has a
// piece of zeroed memory that the others reach. In the piece of device d, for every
// device s, itself included:
//
//   lines  selfTestLines lines that s writes and d reads
//   read   rounds of the lines that d writes for s which s has read; s counts in it
//   torn   lines from s that d has found torn
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_SELFTESTLAYOUT_H
#define COIL_RUNTIME_KERNELS_DEVICE_SELFTESTLAYOUT_H

#include "runtime/kernels/device/Launch.h"

namespace coil::device {

inline constexpr u32 selfTestLines = 64;

/// Offsets in a piece, of what it has for device `other` of `devices`.
COIL_HOST_DEVICE constexpr u64 selfTestLinesAt(u32 other) {
  return u64(other) * selfTestLines * 128;
}
COIL_HOST_DEVICE constexpr u64 selfTestReadAt(u32 devices, u32 other) {
  return selfTestLinesAt(devices) + u64(other) * 128;
}
COIL_HOST_DEVICE constexpr u64 selfTestTornAt(u32 devices, u32 other) {
  return selfTestReadAt(devices, devices) + u64(other) * 128;
}
COIL_HOST_DEVICE constexpr u64 selfTestBytes(u32 devices) {
  return selfTestTornAt(devices, devices);
}

/// The parameter of a kernel that runs a device's part of some rounds: two blocks for
/// each device. Rounds count from 1 and go on from launch to launch.
struct SelfTestLaunch {
  u8 *const *pieces; ///< [devices] as this device reaches them
  HostBoard *board;  ///< mapped host memory
  u64 timeoutNanoseconds;
  u64 firstRound, lastRound;
  u32 devices, self;
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_SELFTESTLAYOUT_H
