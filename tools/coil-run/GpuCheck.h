//===- GpuCheck.h - Results compared on the GPU -----------------*- C++ -*-===//
//
// Data that repeats (CheckData.h) is compared where it lies: a kernel reads one
// repetition of what is expected, and counts the elements that differ. Only where
// some do is a buffer fetched, so that the host can say which.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TOOLS_COIL_RUN_GPUCHECK_H
#define COIL_TOOLS_COIL_RUN_GPUCHECK_H

#include "runtime/executor/cuda/KernelStore.h"
#include "tools/coil-run/CheckData.h"
#include "tools/coil-run/Gpu.h"

namespace coil::run {

/// For one thread at a time.
class GpuCheck {
public:
  /// `library` is the NVRTC to load; empty: the system's. Unsupported if there is
  /// none, or none for this GPU.
  static Result<std::unique_ptr<GpuCheck>> create(const Gpu &gpu, const std::string &library);

  /// How many of the elements at `data`, an address of the GPU, are not what is
  /// expected. An element has `elementBytes` bytes, which need not be aligned.
  Result<uint64_t> countWrong(const std::byte *data, const Repetition &expected,
                              size_t elementBytes);

private:
  explicit GpuCheck(const Gpu &gpu) : gpu(gpu) {}

  const Gpu &gpu;
  std::shared_ptr<const cuda::LoadedKernel> kernel;
  cuda::DeviceBuffer tile;   ///< grows as needed
  cuda::DeviceBuffer result; ///< one number
};

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_GPUCHECK_H
