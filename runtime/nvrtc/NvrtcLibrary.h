//===- NvrtcLibrary.h - Finding and loading libnvrtc ------------*- C++ -*-===//

#ifndef COIL_RUNTIME_NVRTC_NVRTCLIBRARY_H
#define COIL_RUNTIME_NVRTC_NVRTCLIBRARY_H

#include "runtime/base/Status.h"
#include "runtime/nvrtc/NvrtcAbi.h"

#include <memory>
#include <string>
#include <vector>

namespace coil::nvrtc {

/// A loaded library. It stays loaded until the process ends: NVRTC keeps state of
/// its own in threads.
class NvrtcLibrary {
public:
  /// Loads the library at `path`. Empty: what the environment variable
  /// COIL_NVRTC_LIBRARY names, else the first of usualPlaces() that can be loaded.
  /// Errors: Unsupported, which says what was tried and how to get one.
  static Result<std::shared_ptr<const NvrtcLibrary>> load(const std::string &path = {});

  /// libnvrtc.so.13 and .12 (older ones do not know C++20): by name for the dynamic
  /// linker, below CUDA_HOME, CUDA_PATH and /usr/local/cuda, and in the packages that
  /// pip installs (nvidia-cuda-nvrtc) for this environment's Python and the system's.
  static std::vector<std::string> usualPlaces();

  const NvrtcFunctions &functions() const { return table; }
  /// As it was loaded.
  const std::string &path() const { return loadedPath; }
  /// 13 and 0 for CUDA 13.0.
  int majorVersion() const { return major; }
  int minorVersion() const { return minor; }

private:
  NvrtcLibrary() = default;

  NvrtcFunctions table;
  std::string loadedPath;
  int major = 0, minor = 0;
};

/// What to do where no NVRTC is: for error messages and skipped tests.
inline constexpr const char *howToGetNvrtc =
    "install the CUDA toolkit, or run `pip install nvidia-cuda-nvrtc`, or name the library in "
    "COIL_NVRTC_LIBRARY";

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_NVRTCLIBRARY_H
