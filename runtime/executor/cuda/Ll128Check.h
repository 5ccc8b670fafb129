//===- Ll128Check.h - Whether devices can use the ll128 protocol -*- C++ -*-===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_LL128CHECK_H
#define COIL_RUNTIME_EXECUTOR_CUDA_LL128CHECK_H

#include "runtime/executor/cuda/KernelStore.h"
#include "runtime/executor/cuda/Peers.h"

namespace coil::cuda {

/// Collective: runs runtime/kernels/device/Ll128SelfTest.h between all devices of the
/// communicator, and on each by itself, for a few milliseconds. NVRTC is needed.
///
/// Errors, the same on all ranks: Unsupported if some devices do not reach each other,
/// if a line arrived torn, or without NVRTC; SystemError; Timeout.
Status checkLl128(const char *call, const Peers &peers, SetupExchange &exchange,
                  const std::shared_ptr<DeviceContext> &device, const Stream &stream,
                  KernelStore &kernels);

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_LL128CHECK_H
