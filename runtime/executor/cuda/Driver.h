//===- Driver.h - NVIDIA's driver, loaded at run time -----------*- C++ -*-===//
//
// One binary serves machines with and without GPUs: libcuda is looked for when a
// communicator on GPUs is asked for, and never before.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_DRIVER_H
#define COIL_RUNTIME_EXECUTOR_CUDA_DRIVER_H

#include "runtime/base/Status.h"
#include "runtime/executor/cuda/DriverAbi.h"

#include <memory>
#include <string>

namespace coil::cuda {

class Driver {
public:
  /// Loads and initialises the library at `path`, or libcuda.so.1 where `path` is
  /// empty. Once for each path: later calls give the same driver. Unsupported,
  /// with what was tried, if there is no driver, it is too old, or it finds no
  /// device.
  static Result<std::shared_ptr<const Driver>> load(const std::string &path);

  /// A driver over functions that are there already; not initialised.
  explicit Driver(const DriverFunctions &functions) : functions(functions) {}

  const DriverFunctions functions;

  /// The error of `call`, with the driver's name and sentence for it.
  Status check(DriverResult result, const char *call) const {
    return result == DriverResult::Success ? Status::ok() : failure(result, call);
  }

private:
  Status failure(DriverResult result, const char *call) const;
};

/// Calls a function of the driver: COIL_CUDA(driver, cuMemFree_v2, pointer).
#define COIL_CUDA(driver, function, ...)                                                           \
  (driver).check((driver).functions.function(__VA_ARGS__), #function)

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_DRIVER_H
