//===- DriverDevices.cpp - Devices, contexts and errors -------------------===//

#include "runtime/emulated/DriverApi.h"
#include "runtime/emulated/Machine.h"
#include "runtime/emulated/Module.h"

#include <cstring>
#include <fmt/format.h>

using namespace coil::cuda;
using namespace coil::emulated;

namespace {

/// The context of a device, or null.
Context *contextOf(Device device) {
  auto &contexts = machine()->contexts;
  return device >= 0 && static_cast<std::size_t>(device) < contexts.size()
             ? contexts[static_cast<std::size_t>(device)].get()
             : nullptr;
}

DriverContext *handleOf(Context *context) { return reinterpret_cast<DriverContext *>(context); }

/// Null if the handle is none of this machine's.
Context *contextOf(DriverContext *handle) {
  auto *context = reinterpret_cast<Context *>(handle);
  return isContext(context) ? context : nullptr;
}

DriverResult attributeOf(const Context &context, DeviceAttribute attribute, int &value) {
  switch (attribute) {
  case DeviceAttribute::MaxThreadsPerBlock:
    value = mostThreadsOfBlock;
    break;
  case DeviceAttribute::MaxSharedMemoryPerBlock:
    value = usualSharedBytes;
    break;
  case DeviceAttribute::WarpSize:
    value = 32;
    break;
  case DeviceAttribute::MultiprocessorCount:
    value = context.settings.multiprocessors;
    break;
  case DeviceAttribute::PciBusId:
    value = context.device + 1;
    break;
  case DeviceAttribute::Integrated:
  case DeviceAttribute::ComputeMode:
  case DeviceAttribute::PciDeviceId:
  case DeviceAttribute::PciDomainId:
  case DeviceAttribute::MulticastSupported:
  case DeviceAttribute::ComputeCapabilityMinor:
    value = 0;
    break;
  case DeviceAttribute::CanMapHostMemory:
  case DeviceAttribute::UnifiedAddressing:
  case DeviceAttribute::CooperativeLaunch:
  case DeviceAttribute::HostRegisterSupported:
    value = 1;
    break;
  case DeviceAttribute::ComputeCapabilityMajor:
    value = 9;
    break;
  case DeviceAttribute::MaxSharedMemoryPerMultiprocessor:
    value = sharedBytesOfMultiprocessor;
    break;
  case DeviceAttribute::MaxRegistersPerMultiprocessor:
    value = 65536;
    break;
  case DeviceAttribute::MaxSharedMemoryPerBlockOptin:
    value = mostSharedBytes;
    break;
  default:
    return DriverResult::InvalidValue;
  }
  return DriverResult::Success;
}

} // namespace

DriverResult cuGetErrorName(DriverResult error, const char **text) {
  if (!text)
    return DriverResult::InvalidValue;
  const ErrorText *known = findError(error);
  *text = known ? known->name : nullptr;
  return known ? DriverResult::Success : DriverResult::InvalidValue;
}

DriverResult cuGetErrorString(DriverResult error, const char **text) {
  if (!text)
    return DriverResult::InvalidValue;
  const ErrorText *known = findError(error);
  *text = known ? known->sentence : nullptr;
  return known ? DriverResult::Success : DriverResult::InvalidValue;
}

DriverResult cuInit(unsigned flags) {
  return enterAnytime("cuInit",
                      [&] { return flags != 0 ? DriverResult::InvalidValue : initialise(); });
}

DriverResult cuDriverGetVersion(int *version) {
  return enterAnytime("cuDriverGetVersion", [&] {
    if (!version)
      return DriverResult::InvalidValue;
    *version = 13000;
    return DriverResult::Success;
  });
}

DriverResult cuDeviceGetCount(int *count) {
  return enter("cuDeviceGetCount", [&] {
    if (!count)
      return DriverResult::InvalidValue;
    *count = static_cast<int>(machine()->contexts.size());
    return DriverResult::Success;
  });
}

DriverResult cuDeviceGet(Device *device, int ordinal) {
  return enter("cuDeviceGet", [&] {
    if (!device)
      return DriverResult::InvalidValue;
    if (!contextOf(ordinal))
      return DriverResult::InvalidDevice;
    *device = ordinal;
    return DriverResult::Success;
  });
}

DriverResult cuDeviceGetName(char *name, int length, Device device) {
  return enter("cuDeviceGetName", [&] {
    if (!name || length <= 0)
      return DriverResult::InvalidValue;
    if (!contextOf(device))
      return DriverResult::InvalidDevice;
    std::string text = fmt::format("Coil emulated device {}", device);
    auto room = static_cast<std::size_t>(length) - 1;
    name[text.copy(name, room)] = '\0';
    return DriverResult::Success;
  });
}

DriverResult cuDeviceGetAttribute(int *value, DeviceAttribute attribute, Device device) {
  return enter("cuDeviceGetAttribute", [&] {
    if (!value)
      return DriverResult::InvalidValue;
    Context *context = contextOf(device);
    return context ? attributeOf(*context, attribute, *value) : DriverResult::InvalidDevice;
  });
}

DriverResult cuDeviceGetUuid_v2(DeviceUuid *uuid, Device device) {
  return enter("cuDeviceGetUuid_v2", [&] {
    if (!uuid)
      return DriverResult::InvalidValue;
    if (!contextOf(device))
      return DriverResult::InvalidDevice;
    // The same in every process, as a device's is.
    std::memcpy(uuid->bytes, "Coil emulated\0\0", sizeof uuid->bytes);
    uuid->bytes[sizeof uuid->bytes - 1] = static_cast<char>(device + 1);
    return DriverResult::Success;
  });
}

DriverResult cuDevicePrimaryCtxRetain(DriverContext **context, Device device) {
  return enter("cuDevicePrimaryCtxRetain", [&] {
    if (!context)
      return DriverResult::InvalidValue;
    Context *own = contextOf(device);
    if (!own)
      return DriverResult::InvalidDevice;
    own->retain();
    *context = handleOf(own);
    return DriverResult::Success;
  });
}

DriverResult cuDevicePrimaryCtxRelease_v2(Device device) {
  return enter("cuDevicePrimaryCtxRelease_v2", [&] {
    Context *context = contextOf(device);
    return context ? context->release() : DriverResult::InvalidDevice;
  });
}

DriverResult cuDeviceCanAccessPeer(int *canAccess, Device device, Device peer) {
  return enter("cuDeviceCanAccessPeer", [&] {
    if (!canAccess)
      return DriverResult::InvalidValue;
    if (!contextOf(device) || !contextOf(peer))
      return DriverResult::InvalidDevice;
    *canAccess = device != peer && machine()->settings.hasPeers;
    return DriverResult::Success;
  });
}

DriverResult cuCtxPushCurrent_v2(DriverContext *context) {
  return enter("cuCtxPushCurrent_v2", [&] {
    Context *own = contextOf(context);
    if (!own)
      return DriverResult::InvalidContext;
    contextStack().push_back(own);
    return DriverResult::Success;
  });
}

DriverResult cuCtxPopCurrent_v2(DriverContext **context) {
  return enter("cuCtxPopCurrent_v2", [&] {
    if (contextStack().empty())
      return DriverResult::InvalidContext;
    if (context)
      *context = handleOf(contextStack().back());
    contextStack().pop_back();
    return DriverResult::Success;
  });
}

DriverResult cuCtxSetCurrent(DriverContext *context) {
  return enter("cuCtxSetCurrent", [&] {
    Context *own = contextOf(context);
    if (context && !own)
      return DriverResult::InvalidContext;
    if (!contextStack().empty())
      contextStack().pop_back();
    if (own)
      contextStack().push_back(own);
    return DriverResult::Success;
  });
}

DriverResult cuCtxGetCurrent(DriverContext **context) {
  return enter("cuCtxGetCurrent", [&] {
    if (!context)
      return DriverResult::InvalidValue;
    *context = contextStack().empty() ? nullptr : handleOf(contextStack().back());
    return DriverResult::Success;
  });
}

DriverResult cuCtxEnablePeerAccess(DriverContext *peer, unsigned flags) {
  return enterContext("cuCtxEnablePeerAccess", [&](Context &context) {
    if (flags != 0)
      return DriverResult::InvalidValue;
    Context *other = contextOf(peer);
    return other ? context.enableAccess(other->device) : DriverResult::InvalidContext;
  });
}
