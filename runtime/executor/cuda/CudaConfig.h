//===- CudaConfig.h - How plans run on NVIDIA GPUs --------------*- C++ -*-===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_CUDACONFIG_H
#define COIL_RUNTIME_EXECUTOR_CUDA_CUDACONFIG_H

#include "runtime/kernels/device/Launch.h"

#include <cstdint>
#include <optional>
#include <string>

namespace coil::cuda {

using device::Protocol;

/// All but the libraries' paths must be the same on all ranks.
struct CudaConfig {
  /// Most instances of a plan's program; fewer where they would not be resident
  /// together.
  uint32_t instances = 8;
  /// Threads of a block: a multiple of 32, at most device::mostBlockThreads.
  uint32_t threadsPerBlock = 512;
  /// Most bytes of a tile; plans with many slots get smaller ones.
  uint64_t tileBytes = 128 << 10;
  /// Staged calls of up to this many bytes a segment use the ll protocol.
  uint64_t llBytes = 16 << 10;
  /// Calls of at least this many bytes a segment run between registered buffers
  /// without a copy on the way, if all buffers are registered.
  uint64_t directBytes = 64 << 10;
  /// Milliseconds that a wait on the device may take; 0: for ever.
  uint64_t timeoutMs = 0;
  /// The protocol of all staged calls, whatever their size and their plan.
  /// Ll128 is tried between all devices when the communicator is made (Ll128Check.h), as
  /// it is when a plan that asks for it is loaded.
  std::optional<Protocol> forceProtocol;
  /// False: no device reads or writes another's memory; messages go through the
  /// host's.
  bool usePeerAccess = true;
  /// libcuda and libnvrtc; empty: where they usually lie.
  std::string driverLibrary, nvrtcLibrary;
  /// Where compiled kernels are kept; empty: the user's cache.
  std::string kernelCache;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_CUDACONFIG_H
