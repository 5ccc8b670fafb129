//===- DriverMemory.cpp - Memory and its handles --------------------------===//

#include "runtime/emulated/DriverApi.h"
#include "runtime/emulated/Machine.h"
#include "runtime/emulated/Memory.h"
#include "runtime/emulated/Stream.h"

#include <cstring>

using namespace coil::cuda;
using namespace coil::emulated;

namespace {

/// Runs body(context) if no capture forbids calls that wait or allocate.
template <typename Body> DriverResult enterUncaptured(const char *function, Body body) {
  return enterContext(function, [&](Context &context) {
    DriverResult refused = refuseInCapture();
    return refused == DriverResult::Success ? body(context) : refused;
  });
}

void *memoryAt(DevicePointer pointer) { return reinterpret_cast<void *>(pointer); }

/// Does to memory what a stream would, after all that is in the default stream.
template <typename Body> DriverResult inDefaultStream(Context &context, Body body) {
  context.defaultStream()->synchronize();
  if (context.error() != DriverResult::Success)
    return context.error();
  body();
  return DriverResult::Success;
}

template <typename Value> DriverResult store(void *to, Value value) {
  std::memcpy(to, &value, sizeof value);
  return DriverResult::Success;
}

} // namespace

DriverResult cuMemAlloc_v2(DevicePointer *pointer, std::size_t bytes) {
  return enterUncaptured("cuMemAlloc_v2", [&](Context &context) {
    if (!pointer)
      return DriverResult::InvalidValue;
    std::uintptr_t base = 0;
    DriverResult result =
        deviceMemory().allocate(context.device, context.settings.memoryBytes, bytes, base);
    if (result == DriverResult::Success)
      *pointer = base;
    return result;
  });
}

DriverResult cuMemFree_v2(DevicePointer pointer) {
  return enterUncaptured("cuMemFree_v2", [&](Context &context) {
    if (pointer == 0)
      return DriverResult::Success;
    context.synchronize(); // as the driver does, so that no kernel still uses it
    return deviceMemory().free(pointer);
  });
}

DriverResult cuMemHostAlloc(void **pointer, std::size_t bytes, unsigned flags) {
  return enterUncaptured("cuMemHostAlloc", [&](Context &context) {
    if (!pointer || (flags & ~7u) != 0)
      return DriverResult::InvalidValue;
    std::uintptr_t base = 0;
    DriverResult result = deviceMemory().allocateHost(context.device, bytes, base);
    if (result == DriverResult::Success)
      *pointer = memoryAt(base);
    return result;
  });
}

DriverResult cuMemFreeHost(void *pointer) {
  return enterUncaptured("cuMemFreeHost", [&](Context &context) {
    context.synchronize();
    return deviceMemory().freeHost(reinterpret_cast<std::uintptr_t>(pointer));
  });
}

DriverResult cuMemHostRegister_v2(void *pointer, std::size_t bytes, unsigned flags) {
  return enterUncaptured("cuMemHostRegister_v2", [&](Context &context) {
    if ((flags & ~15u) != 0)
      return DriverResult::InvalidValue;
    return deviceMemory().registerHost(context.device, reinterpret_cast<std::uintptr_t>(pointer),
                                       bytes);
  });
}

DriverResult cuMemHostUnregister(void *pointer) {
  return enterUncaptured("cuMemHostUnregister", [&](Context &) {
    return deviceMemory().unregisterHost(reinterpret_cast<std::uintptr_t>(pointer));
  });
}

DriverResult cuMemHostGetDevicePointer_v2(DevicePointer *devicePointer, void *pointer,
                                          unsigned flags) {
  return enterContext("cuMemHostGetDevicePointer_v2", [&](Context &) {
    auto address = reinterpret_cast<std::uintptr_t>(pointer);
    std::optional<Allocation> allocation = deviceMemory().find(address);
    if (!devicePointer || flags != 0 || !allocation || !allocation->isHost())
      return DriverResult::InvalidValue;
    *devicePointer = address;
    return DriverResult::Success;
  });
}

DriverResult cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes,
                           DriverStream *handle) {
  return enterContext("cuMemcpyAsync", [&](Context &context) {
    std::shared_ptr<Stream> stream = findStream(context, handle);
    if (!stream)
      return DriverResult::InvalidHandle;
    if (!deviceMemory().isAccessible(to, bytes) || !deviceMemory().isAccessible(from, bytes))
      return DriverResult::InvalidValue;
    return stream->submit([=](Context &) { std::memmove(memoryAt(to), memoryAt(from), bytes); });
  });
}

DriverResult cuMemcpyHtoD_v2(DevicePointer to, const void *from, std::size_t bytes) {
  return enterUncaptured("cuMemcpyHtoD_v2", [&](Context &context) {
    if (!deviceMemory().isAccessible(to, bytes) ||
        !deviceMemory().isAccessible(reinterpret_cast<std::uintptr_t>(from), bytes))
      return DriverResult::InvalidValue;
    return inDefaultStream(context, [&] {
      if (bytes > 0)
        std::memmove(memoryAt(to), from, bytes);
    });
  });
}

DriverResult cuMemcpyDtoH_v2(void *to, DevicePointer from, std::size_t bytes) {
  return enterUncaptured("cuMemcpyDtoH_v2", [&](Context &context) {
    if (!deviceMemory().isAccessible(reinterpret_cast<std::uintptr_t>(to), bytes) ||
        !deviceMemory().isAccessible(from, bytes))
      return DriverResult::InvalidValue;
    return inDefaultStream(context, [&] {
      if (bytes > 0)
        std::memmove(to, memoryAt(from), bytes);
    });
  });
}

DriverResult cuMemsetD8_v2(DevicePointer pointer, unsigned char value, std::size_t bytes) {
  return enterUncaptured("cuMemsetD8_v2", [&](Context &context) {
    if (!deviceMemory().isAccessible(pointer, bytes))
      return DriverResult::InvalidValue;
    return inDefaultStream(context, [&] {
      if (bytes > 0)
        std::memset(memoryAt(pointer), value, bytes);
    });
  });
}

DriverResult cuMemsetD8Async(DevicePointer pointer, unsigned char value, std::size_t bytes,
                             DriverStream *handle) {
  return enterContext("cuMemsetD8Async", [&](Context &context) {
    std::shared_ptr<Stream> stream = findStream(context, handle);
    if (!stream)
      return DriverResult::InvalidHandle;
    if (!deviceMemory().isAccessible(pointer, bytes))
      return DriverResult::InvalidValue;
    return stream->submit([=](Context &) {
      if (bytes > 0)
        std::memset(memoryAt(pointer), value, bytes);
    });
  });
}

DriverResult cuMemGetAddressRange_v2(DevicePointer *base, std::size_t *bytes,
                                     DevicePointer pointer) {
  return enterContext("cuMemGetAddressRange_v2", [&](Context &) {
    std::optional<Allocation> allocation = deviceMemory().find(pointer);
    if (!allocation)
      return DriverResult::NotFound;
    if (base)
      *base = allocation->base;
    if (bytes)
      *bytes = allocation->bytes;
    return DriverResult::Success;
  });
}

DriverResult cuPointerGetAttribute(void *value, PointerAttribute attribute, DevicePointer pointer) {
  return enterContext("cuPointerGetAttribute", [&](Context &) {
    std::optional<Allocation> allocation = deviceMemory().find(pointer);
    if (!value || !allocation)
      return DriverResult::InvalidValue;
    switch (attribute) {
    case PointerAttribute::Context:
      return store(value, machine()->contexts[static_cast<std::size_t>(allocation->device)].get());
    case PointerAttribute::MemoryType:
      return store(value, allocation->isHost() ? MemoryType::Host : MemoryType::Device);
    case PointerAttribute::DevicePointer:
      return store(value, pointer);
    case PointerAttribute::IsManaged:
      return store(value, 0u);
    case PointerAttribute::DeviceOrdinal:
      return store(value, allocation->device);
    case PointerAttribute::IsIpcCapable:
      return store(value, allocation->kind == AllocationKind::Device ? 1 : 0);
    case PointerAttribute::RangeStart:
      return store(value, DevicePointer{allocation->base});
    case PointerAttribute::RangeSize:
      return store(value, allocation->bytes);
    }
    return DriverResult::InvalidValue;
  });
}

DriverResult cuIpcGetMemHandle(IpcMemHandle *handle, DevicePointer pointer) {
  return enterContext("cuIpcGetMemHandle", [&](Context &) {
    return handle ? deviceMemory().exportHandle(pointer, *handle) : DriverResult::InvalidValue;
  });
}

DriverResult cuIpcOpenMemHandle_v2(DevicePointer *pointer, IpcMemHandle handle, unsigned flags) {
  return enterUncaptured("cuIpcOpenMemHandle_v2", [&](Context &context) {
    if (!pointer || flags != ipcMemLazyEnablePeerAccess)
      return DriverResult::InvalidValue;
    std::uintptr_t base = 0;
    DriverResult result =
        deviceMemory().import(context.device, context.settings.hasPeers, handle, base);
    if (result == DriverResult::Success)
      *pointer = base;
    return result;
  });
}

DriverResult cuIpcCloseMemHandle(DevicePointer pointer) {
  return enterUncaptured("cuIpcCloseMemHandle", [&](Context &context) {
    context.synchronize();
    return deviceMemory().closeImport(pointer);
  });
}
