//===- FakeDriver.h - Driver functions that do next to nothing --*- C++ -*-===//
//
// Two devices with host memory, whose launches are recorded and run nothing. For
// tests of what the executor asks of a driver; kernels run on the emulated one.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_UNIT_CUDA_FAKEDRIVER_H
#define COIL_TEST_UNIT_CUDA_FAKEDRIVER_H

#include "runtime/executor/cuda/Device.h"
#include "runtime/kernels/device/Launch.h"

#include <memory>
#include <string>
#include <vector>

namespace coil::test {

struct FakeLaunch {
  device::Launch launch;
  unsigned blocks = 0, threads = 0, sharedBytes = 0;
  bool isCooperative = false;
  cuda::DriverStream *stream = nullptr;
};

/// What the fake was asked for, and what it shall answer. One for the program.
struct FakeState {
  std::vector<FakeLaunch> launches;
  std::vector<std::string> calls; ///< of events and waits, as text
  cuda::DriverResult launchResult = cuda::DriverResult::Success;
  cuda::DriverResult allocateResult = cuda::DriverResult::Success;
  int contextDepth = 0;
};
FakeState &fakeState();

/// A driver that starts from a clean state.
std::shared_ptr<const cuda::Driver> makeFakeDriver();
std::shared_ptr<cuda::DeviceContext> openFakeDevice(int ordinal = 0);

} // namespace coil::test

#endif // COIL_TEST_UNIT_CUDA_FAKEDRIVER_H
