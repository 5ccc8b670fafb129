//===- Device.h - A GPU and this process's place on it ----------*- C++ -*-===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_DEVICE_H
#define COIL_RUNTIME_EXECUTOR_CUDA_DEVICE_H

#include "runtime/executor/cuda/Driver.h"

#include <cstdint>
#include <mutex>
#include <set>

namespace coil::cuda {

/// A device's primary context, which the user's code shares, held for as long as
/// this lives. One a device and process.
class DeviceContext {
public:
  /// The device's context, made if nobody in this process holds it. Errors:
  /// InvalidArgument for an ordinal that is out of range, SystemError.
  static Result<std::shared_ptr<DeviceContext>> open(std::shared_ptr<const Driver> driver,
                                                     int ordinal);
  ~DeviceContext();
  DeviceContext(const DeviceContext &) = delete;
  DeviceContext &operator=(const DeviceContext &) = delete;

  const Driver &driver() const { return *library; }
  const std::shared_ptr<const Driver> &driverPointer() const { return library; }
  DriverContext *context() const { return primary; }
  int ordinal() const { return number; }
  const DeviceUuid &uuid() const { return identity; }
  /// "device 0 (NVIDIA H100)".
  std::string describe() const;

  uint32_t multiprocessors() const { return multiprocessorCount; }
  bool hasCooperativeLaunch() const { return cooperative; }
  bool canRegisterHostMemory() const { return hostRegister; }
  uint32_t mostSharedBytes() const { return sharedBytes; }
  /// 90 for compute capability 9.0.
  int capability() const { return major * 10 + minor; }

  /// Whether this device can read and write the other's memory.
  Result<bool> canAccess(int otherOrdinal) const;
  /// Lets kernels here use all memory of `other`'s context.
  Status enableAccess(const DeviceContext &other);

private:
  DeviceContext(std::shared_ptr<const Driver> library, int number)
      : library(std::move(library)), number(number) {}
  Status initialise();

  std::shared_ptr<const Driver> library;
  int number;
  Device device = 0;
  DriverContext *primary = nullptr;
  DeviceUuid identity{};
  std::string name;
  uint32_t multiprocessorCount = 0, sharedBytes = 0;
  int major = 0, minor = 0;
  bool cooperative = false, hostRegister = false;
  std::mutex mutex;
  std::set<const DeviceContext *> accessible;
};

/// Devices that the driver sees.
Result<int> deviceCount(const Driver &driver);
/// The device with this identity, or -1 if this process does not see it.
Result<int> findDevice(const Driver &driver, const DeviceUuid &uuid);

/// Makes a device's context the thread's current one, and lets set-up go on while
/// some stream is being captured, until the end of the scope.
class ContextGuard {
public:
  explicit ContextGuard(const DeviceContext &device);
  ~ContextGuard();
  ContextGuard(const ContextGuard &) = delete;
  ContextGuard &operator=(const ContextGuard &) = delete;
  /// Whether the context is current.
  const Status &status() const { return entered; }

private:
  const Driver &driver;
  Status entered;
  StreamCaptureMode mode = StreamCaptureMode::Relaxed;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_DEVICE_H
