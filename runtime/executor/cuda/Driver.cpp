//===- Driver.cpp - NVIDIA's driver, loaded at run time -------------------===//

#include "runtime/executor/cuda/Driver.h"

#include <dlfcn.h>
#include <map>
#include <mutex>

namespace coil::cuda {

Status Driver::failure(DriverResult result, const char *call) const {
  const char *name = nullptr, *sentence = nullptr;
  if (functions.cuGetErrorName)
    (void)functions.cuGetErrorName(result, &name);
  if (functions.cuGetErrorString)
    (void)functions.cuGetErrorString(result, &sentence);
  bool isMissing = result == DriverResult::NoDevice || result == DriverResult::NotSupported ||
                   result == DriverResult::PeerAccessUnsupported ||
                   result == DriverResult::StreamCaptureUnsupported ||
                   result == DriverResult::NoBinaryForGpu;
  return Status::error(isMissing ? StatusCode::Unsupported : StatusCode::SystemError,
                       "{} failed: {} ({}): {}", call, name ? name : "unknown error",
                       static_cast<int>(result), sentence ? sentence : "no description");
}

namespace {

/// Fills the table from a loaded library. Returns the first symbol that it lacks.
const char *resolve(void *library, DriverFunctions &functions) {
#define COIL_DRIVER_RESOLVE(name, parameters)                                                      \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name));              \
  if (!functions.name)                                                                             \
    return #name;
  COIL_DRIVER_FUNCTIONS(COIL_DRIVER_RESOLVE)
#undef COIL_DRIVER_RESOLVE
  return nullptr;
}

Result<std::shared_ptr<const Driver>> open(const std::string &path) {
  std::string name = path.empty() ? "libcuda.so.1" : path;
  // Never closed: what the driver started in this process does not end with us.
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return Status::error(StatusCode::Unsupported, "there is no CUDA driver: cannot load {}: {}{}",
                         name, reason ? reason : "no reason given",
                         path.empty() ? "; it comes with NVIDIA's driver for the GPU" : "");
  }
  DriverFunctions functions;
  if (const char *missing = resolve(library, functions))
    return Status::error(StatusCode::Unsupported,
                         "{} has no function {}; a driver of CUDA 11.4 or later is needed", name,
                         missing);
  auto driver = std::make_shared<const Driver>(functions);
  if (Status status = COIL_CUDA(*driver, cuInit, 0); !status.isOk())
    return Status(StatusCode::Unsupported, std::move(status).withContext(name).message());
  return std::shared_ptr<const Driver>(std::move(driver));
}

} // namespace

Result<std::shared_ptr<const Driver>> Driver::load(const std::string &path) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Driver>> loaded;
  std::lock_guard lock(mutex);
  if (auto found = loaded.find(path); found != loaded.end())
    return found->second;
  COIL_ASSIGN_OR_RETURN(std::shared_ptr<const Driver> driver, open(path));
  loaded.emplace(path, driver);
  return driver;
}

} // namespace coil::cuda
