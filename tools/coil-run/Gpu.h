//===- Gpu.h - The GPU that a rank runs on ----------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_GPU_H
#define COIL_TOOLS_COIL_RUN_GPU_H

#include "runtime/executor/cuda/Memory.h"

#include <cstddef>
#include <memory>

namespace coil::run {

/// A device and the stream in which a rank calls, as an application would have
/// them. Everything here waits until it is done.
class Gpu {
public:
  /// `library` is the driver to load; empty: the system's.
  static Result<std::unique_ptr<Gpu>> open(const std::string &library, int ordinal);

  const std::shared_ptr<cuda::DeviceContext> &context() const { return device; }
  cuda::DriverStream *stream() const { return calls.get(); }
  /// Until all calls in the stream have ended.
  Status synchronize() const { return calls.synchronize(); }
  /// Zeroed memory.
  Result<cuda::DeviceBuffer> allocate(size_t bytes) const;
  Status upload(std::byte *to, const std::byte *from, size_t bytes) const;
  Status download(std::byte *to, const std::byte *from, size_t bytes) const;

private:
  Gpu() = default;

  std::shared_ptr<cuda::DeviceContext> device;
  cuda::Stream calls;
};

/// Where the stand-in for NVIDIA's libraries lies that runs kernels on the host
/// (--target cuda-emulated). SystemError with the places tried if it is in none.
Result<std::string> findEmulatedLibrary();

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_GPU_H
