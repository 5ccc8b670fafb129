//===- Errors.h - The driver's errors by name -------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_EMULATED_ERRORS_H
#define COIL_RUNTIME_EMULATED_ERRORS_H

#include "runtime/executor/cuda/DriverAbi.h"

#include <optional>
#include <string_view>

namespace coil::emulated {

using cuda::DriverResult;

struct ErrorText {
  DriverResult result;
  const char *name;     ///< "CUDA_ERROR_OUT_OF_MEMORY"
  const char *sentence; ///< "out of memory"
};

/// Null for a number that is no error of the driver's.
const ErrorText *findError(DriverResult result);

/// The error that is called "out_of_memory": its name in lower case, without
/// "CUDA_ERROR_".
std::optional<DriverResult> errorNamed(std::string_view name);

/// Whether nothing works in a context after this error.
bool isSticky(DriverResult result);

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_ERRORS_H
