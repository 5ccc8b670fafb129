//===- Errors.cpp - The driver's errors by name ---------------------------===//

#include "runtime/emulated/Errors.h"

#include <cctype>
#include <string>

namespace coil::emulated {

namespace {

constexpr ErrorText errors[] = {
    {DriverResult::Success, "CUDA_SUCCESS", "no error"},
    {DriverResult::InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {DriverResult::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {DriverResult::NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {DriverResult::Deinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {DriverResult::NoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {DriverResult::InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {DriverResult::InvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {DriverResult::InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {DriverResult::MapFailed, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    {DriverResult::NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {DriverResult::PeerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {DriverResult::InvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {DriverResult::OperatingSystem, "CUDA_ERROR_OPERATING_SYSTEM",
     "OS call failed or operation not supported on this OS"},
    {DriverResult::InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {DriverResult::IllegalState, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {DriverResult::NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {DriverResult::NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {DriverResult::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {DriverResult::LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {DriverResult::PeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {DriverResult::PeerAccessNotEnabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
     "peer access has not been enabled"},
    {DriverResult::HostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {DriverResult::HostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {DriverResult::LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {DriverResult::CooperativeLaunchTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {DriverResult::NotPermitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {DriverResult::NotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {DriverResult::StreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {DriverResult::StreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {DriverResult::StreamCaptureMerge, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {DriverResult::StreamCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {DriverResult::StreamCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {DriverResult::StreamCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {DriverResult::StreamCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {DriverResult::CapturedEvent, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {DriverResult::StreamCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {DriverResult::Unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

} // namespace

const ErrorText *findError(DriverResult result) {
  for (const ErrorText &error : errors)
    if (error.result == result)
      return &error;
  return nullptr;
}

std::optional<DriverResult> errorNamed(std::string_view name) {
  constexpr std::string_view prefix = "CUDA_ERROR_";
  for (const ErrorText &error : errors) {
    std::string_view full = error.name;
    if (!full.starts_with(prefix))
      continue;
    std::string shortened(full.substr(prefix.size()));
    for (char &letter : shortened)
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    if (shortened == name)
      return error.result;
  }
  return std::nullopt;
}

bool isSticky(DriverResult result) {
  return result == DriverResult::IllegalAddress || result == DriverResult::LaunchFailed;
}

} // namespace coil::emulated
