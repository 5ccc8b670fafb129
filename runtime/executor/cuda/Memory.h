//===- Memory.h - Memory that devices reach ---------------------*- C++ -*-===//
//
// Owners of what the driver hands out. Everything here makes the context current
// itself.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_MEMORY_H
#define COIL_RUNTIME_EXECUTOR_CUDA_MEMORY_H

#include "runtime/executor/cuda/Device.h"

#include <cstddef>

namespace coil::cuda {

/// A non-blocking stream, or none.
class Stream {
public:
  Stream() = default;
  Stream(Stream &&other) noexcept
      : device(std::move(other.device)), handle(std::exchange(other.handle, nullptr)) {}
  Stream &operator=(Stream &&other) noexcept;
  ~Stream();
  static Result<Stream> create(std::shared_ptr<DeviceContext> device);

  DriverStream *get() const { return handle; }
  Status synchronize() const;
  /// True if all has ended. An error that happened on the device shows here, too.
  Result<bool> isIdle() const;

private:
  std::shared_ptr<DeviceContext> device;
  DriverStream *handle = nullptr;
};

/// An event without a time.
class Event {
public:
  Event() = default;
  Event(Event &&other) noexcept
      : device(std::move(other.device)), handle(std::exchange(other.handle, nullptr)) {}
  Event &operator=(Event &&other) noexcept;
  ~Event();
  static Result<Event> create(std::shared_ptr<DeviceContext> device);

  DriverEvent *get() const { return handle; }

private:
  std::shared_ptr<DeviceContext> device;
  DriverEvent *handle = nullptr;
};

/// Memory of a device.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other) noexcept
      : device(std::move(other.device)), address(std::exchange(other.address, 0)),
        bytes(std::exchange(other.bytes, 0)) {}
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();
  /// `count` > 0 bytes of zeros. `stream` is the one to fill it in.
  static Result<DeviceBuffer> create(std::shared_ptr<DeviceContext> device, size_t count,
                                     const Stream &stream);

  DevicePointer get() const { return address; }
  uint8_t *data() const { return reinterpret_cast<uint8_t *>(address); }
  size_t size() const { return bytes; }

private:
  std::shared_ptr<DeviceContext> device;
  DevicePointer address = 0;
  size_t bytes = 0;
};

/// Copies to the device and waits for it, in a stream of its own: the legacy
/// default stream would wait for calls in flight.
Status copyToDevice(const DeviceContext &device, const Stream &stream, DevicePointer to,
                    const void *from, size_t bytes);
/// The other way round.
Status copyToHost(const DeviceContext &device, const Stream &stream, void *to, DevicePointer from,
                  size_t bytes);

/// Host memory of this process made known to all devices.
class HostRegistration {
public:
  HostRegistration() = default;
  HostRegistration(HostRegistration &&other) noexcept
      : device(std::move(other.device)), memory(std::exchange(other.memory, nullptr)) {}
  HostRegistration &operator=(HostRegistration &&other) noexcept;
  ~HostRegistration();
  /// Whole pages. The memory must outlive the registration.
  static Result<HostRegistration> create(std::shared_ptr<DeviceContext> device, std::byte *memory,
                                         size_t bytes);

private:
  std::shared_ptr<DeviceContext> device;
  std::byte *memory = nullptr;
};

/// Where registered host memory lies for kernels of `device`.
Result<DevicePointer> deviceAddress(const DeviceContext &device, std::byte *hostMemory);

/// A loaded module.
class Module {
public:
  Module() = default;
  Module(Module &&other) noexcept
      : device(std::move(other.device)), handle(std::exchange(other.handle, nullptr)) {}
  Module &operator=(Module &&other) noexcept;
  ~Module();
  static Result<Module> load(std::shared_ptr<DeviceContext> device, const void *image);
  Result<DriverFunction *> function(const char *name) const;

private:
  std::shared_ptr<DeviceContext> device;
  DriverModule *handle = nullptr;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_MEMORY_H
