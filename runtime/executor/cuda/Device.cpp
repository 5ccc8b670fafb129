//===- Device.cpp - A GPU and this process's place on it ------------------===//

#include "runtime/executor/cuda/Device.h"

#include <cstring>
#include <map>

namespace coil::cuda {

Result<int> deviceCount(const Driver &driver) {
  int count = 0;
  COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuDeviceGetCount, &count));
  return count;
}

Result<int> findDevice(const Driver &driver, const DeviceUuid &uuid) {
  COIL_ASSIGN_OR_RETURN(int count, deviceCount(driver));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Device device = 0;
    DeviceUuid theirs{};
    COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuDeviceGet, &device, ordinal));
    COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuDeviceGetUuid_v2, &theirs, device));
    if (std::memcmp(&theirs, &uuid, sizeof uuid) == 0)
      return ordinal;
  }
  return -1;
}

Result<std::shared_ptr<DeviceContext>> DeviceContext::open(std::shared_ptr<const Driver> driver,
                                                           int ordinal) {
  static std::mutex mutex;
  static std::map<std::pair<const Driver *, int>, std::weak_ptr<DeviceContext>> contexts;
  std::lock_guard lock(mutex);
  std::weak_ptr<DeviceContext> &known = contexts[{driver.get(), ordinal}];
  if (std::shared_ptr<DeviceContext> context = known.lock())
    return context;
  std::shared_ptr<DeviceContext> context(new DeviceContext(std::move(driver), ordinal));
  COIL_RETURN_IF_ERROR(context->initialise());
  known = context;
  return context;
}

Status DeviceContext::initialise() {
  COIL_ASSIGN_OR_RETURN(int count, deviceCount(*library));
  if (number < 0 || number >= count)
    return Status::error(StatusCode::InvalidArgument,
                         "there is no CUDA device {}, this process sees {}", number, count);
  COIL_RETURN_IF_ERROR(COIL_CUDA(*library, cuDeviceGet, &device, number));
  char text[256] = {};
  COIL_RETURN_IF_ERROR(
      COIL_CUDA(*library, cuDeviceGetName, text, static_cast<int>(sizeof text) - 1, device));
  name = text;
  COIL_RETURN_IF_ERROR(COIL_CUDA(*library, cuDeviceGetUuid_v2, &identity, device));
  auto get = [&](DeviceAttribute attribute, auto &value) {
    int number = 0;
    Status status = COIL_CUDA(*library, cuDeviceGetAttribute, &number, attribute, device);
    value = static_cast<std::remove_reference_t<decltype(value)>>(number);
    return status;
  };
  COIL_RETURN_IF_ERROR(get(DeviceAttribute::ComputeCapabilityMajor, major));
  COIL_RETURN_IF_ERROR(get(DeviceAttribute::ComputeCapabilityMinor, minor));
  COIL_RETURN_IF_ERROR(get(DeviceAttribute::MultiprocessorCount, multiprocessorCount));
  COIL_RETURN_IF_ERROR(get(DeviceAttribute::MaxSharedMemoryPerBlockOptin, sharedBytes));
  COIL_RETURN_IF_ERROR(get(DeviceAttribute::CooperativeLaunch, cooperative));
  COIL_RETURN_IF_ERROR(get(DeviceAttribute::HostRegisterSupported, hostRegister));
  return COIL_CUDA(*library, cuDevicePrimaryCtxRetain, &primary, device);
}

DeviceContext::~DeviceContext() {
  if (primary)
    (void)library->functions.cuDevicePrimaryCtxRelease_v2(device);
}

std::string DeviceContext::describe() const { return fmt::format("device {} ({})", number, name); }

Result<bool> DeviceContext::canAccess(int otherOrdinal) const {
  if (otherOrdinal == number)
    return true;
  Device other = 0;
  int can = 0;
  COIL_RETURN_IF_ERROR(COIL_CUDA(*library, cuDeviceGet, &other, otherOrdinal));
  COIL_RETURN_IF_ERROR(COIL_CUDA(*library, cuDeviceCanAccessPeer, &can, device, other));
  return can != 0;
}

Status DeviceContext::enableAccess(const DeviceContext &other) {
  if (&other == this)
    return Status::ok();
  std::lock_guard lock(mutex);
  if (accessible.contains(&other))
    return Status::ok();
  ContextGuard guard(*this);
  if (!guard.status().isOk())
    return Status(guard.status().code(), guard.status().message());
  DriverResult result = library->functions.cuCtxEnablePeerAccess(other.primary, 0);
  // The user's code may have been here before.
  if (result != DriverResult::PeerAccessAlreadyEnabled)
    COIL_RETURN_IF_ERROR(library->check(result, "cuCtxEnablePeerAccess"));
  accessible.insert(&other);
  return Status::ok();
}

ContextGuard::ContextGuard(const DeviceContext &device)
    : driver(device.driver()), entered(COIL_CUDA(driver, cuCtxPushCurrent_v2, device.context())) {
  if (entered.isOk())
    (void)driver.functions.cuThreadExchangeStreamCaptureMode(&mode);
}

ContextGuard::~ContextGuard() {
  if (!entered.isOk())
    return;
  (void)driver.functions.cuThreadExchangeStreamCaptureMode(&mode);
  DriverContext *popped = nullptr;
  (void)driver.functions.cuCtxPopCurrent_v2(&popped);
}

} // namespace coil::cuda
