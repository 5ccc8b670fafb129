//===- Memory.cpp - Memory that devices reach -----------------------------===//

#include "runtime/executor/cuda/Memory.h"

namespace coil::cuda {

namespace {
Status copyOf(const Status &status) {
  return status.isOk() ? Status::ok() : Status(status.code(), status.message());
}
} // namespace

/// Declares a guard, and leaves the function if the context cannot be entered.
#define COIL_ENTER(device)                                                                         \
  ContextGuard guard(device);                                                                      \
  COIL_RETURN_IF_ERROR(copyOf(guard.status()))

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Result<Stream> Stream::create(std::shared_ptr<DeviceContext> device) {
  COIL_ENTER(*device);
  Stream stream;
  COIL_RETURN_IF_ERROR(
      COIL_CUDA(device->driver(), cuStreamCreate, &stream.handle, streamNonBlocking));
  stream.device = std::move(device);
  return stream;
}

Stream &Stream::operator=(Stream &&other) noexcept {
  std::swap(device, other.device);
  std::swap(handle, other.handle);
  return *this;
}

Stream::~Stream() {
  if (!handle)
    return;
  ContextGuard guard(*device);
  (void)device->driver().functions.cuStreamDestroy_v2(handle);
}

Status Stream::synchronize() const {
  COIL_ENTER(*device);
  return COIL_CUDA(device->driver(), cuStreamSynchronize, handle);
}

Result<bool> Stream::isIdle() const {
  COIL_ENTER(*device);
  DriverResult result = device->driver().functions.cuStreamQuery(handle);
  if (result == DriverResult::NotReady)
    return false;
  COIL_RETURN_IF_ERROR(device->driver().check(result, "cuStreamQuery"));
  return true;
}

Result<Event> Event::create(std::shared_ptr<DeviceContext> device) {
  COIL_ENTER(*device);
  Event event;
  COIL_RETURN_IF_ERROR(
      COIL_CUDA(device->driver(), cuEventCreate, &event.handle, eventDisableTiming));
  event.device = std::move(device);
  return event;
}

Event &Event::operator=(Event &&other) noexcept {
  std::swap(device, other.device);
  std::swap(handle, other.handle);
  return *this;
}

Event::~Event() {
  if (!handle)
    return;
  ContextGuard guard(*device);
  (void)device->driver().functions.cuEventDestroy_v2(handle);
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

Result<DeviceBuffer> DeviceBuffer::create(std::shared_ptr<DeviceContext> device, size_t count,
                                          const Stream &stream) {
  COIL_ENTER(*device);
  const Driver &driver = device->driver();
  DeviceBuffer buffer;
  Status allocated = COIL_CUDA(driver, cuMemAlloc_v2, &buffer.address, count);
  if (!allocated.isOk())
    return std::move(allocated).withContext(
        fmt::format("cannot allocate {} bytes on {}", count, device->describe()));
  buffer.device = device;
  buffer.bytes = count;
  COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuMemsetD8Async, buffer.address, 0, count, stream.get()));
  COIL_RETURN_IF_ERROR(stream.synchronize());
  return buffer;
}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(device, other.device);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!address)
    return;
  ContextGuard guard(*device);
  (void)device->driver().functions.cuMemFree_v2(address);
}

Status copyToDevice(const DeviceContext &device, const Stream &stream, DevicePointer to,
                    const void *from, size_t bytes) {
  COIL_ENTER(device);
  COIL_RETURN_IF_ERROR(COIL_CUDA(device.driver(), cuMemcpyAsync, to,
                                 reinterpret_cast<DevicePointer>(from), bytes, stream.get()));
  return stream.synchronize();
}

Status copyToHost(const DeviceContext &device, const Stream &stream, void *to, DevicePointer from,
                  size_t bytes) {
  COIL_ENTER(device);
  COIL_RETURN_IF_ERROR(COIL_CUDA(device.driver(), cuMemcpyAsync,
                                 reinterpret_cast<DevicePointer>(to), from, bytes, stream.get()));
  return stream.synchronize();
}

//===----------------------------------------------------------------------===//
// Host memory
//===----------------------------------------------------------------------===//

Result<HostRegistration> HostRegistration::create(std::shared_ptr<DeviceContext> device,
                                                  std::byte *memory, size_t bytes) {
  if (!device->canRegisterHostMemory())
    return Status::error(StatusCode::Unsupported, "{} cannot share host memory with other devices",
                         device->describe());
  COIL_ENTER(*device);
  Status registered = COIL_CUDA(device->driver(), cuMemHostRegister_v2, memory, bytes,
                                memHostRegisterPortable | memHostRegisterDeviceMap);
  if (!registered.isOk())
    return std::move(registered)
        .withContext(fmt::format("cannot register {} bytes of host memory with {}", bytes,
                                 device->describe()));
  HostRegistration registration;
  registration.device = std::move(device);
  registration.memory = memory;
  return registration;
}

HostRegistration &HostRegistration::operator=(HostRegistration &&other) noexcept {
  std::swap(device, other.device);
  std::swap(memory, other.memory);
  return *this;
}

HostRegistration::~HostRegistration() {
  if (!memory)
    return;
  ContextGuard guard(*device);
  (void)device->driver().functions.cuMemHostUnregister(memory);
}

Result<DevicePointer> deviceAddress(const DeviceContext &device, std::byte *hostMemory) {
  COIL_ENTER(device);
  DevicePointer address = 0;
  COIL_RETURN_IF_ERROR(
      COIL_CUDA(device.driver(), cuMemHostGetDevicePointer_v2, &address, hostMemory, 0));
  return address;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

Result<Module> Module::load(std::shared_ptr<DeviceContext> device, const void *image) {
  COIL_ENTER(*device);
  Module module;
  COIL_RETURN_IF_ERROR(COIL_CUDA(device->driver(), cuModuleLoadData, &module.handle, image));
  module.device = std::move(device);
  return module;
}

Result<DriverFunction *> Module::function(const char *name) const {
  COIL_ENTER(*device);
  DriverFunction *function = nullptr;
  COIL_RETURN_IF_ERROR(COIL_CUDA(device->driver(), cuModuleGetFunction, &function, handle, name)
                           .withContext(fmt::format("cannot find kernel {}", name)));
  return function;
}

Module &Module::operator=(Module &&other) noexcept {
  std::swap(device, other.device);
  std::swap(handle, other.handle);
  return *this;
}

Module::~Module() {
  if (!handle)
    return;
  ContextGuard guard(*device);
  (void)device->driver().functions.cuModuleUnload(handle);
}

} // namespace coil::cuda
