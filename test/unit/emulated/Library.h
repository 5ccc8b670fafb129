//===- Library.h - The stand-in for CUDA, loaded as Coil loads it -*- C++ -*-===//

#ifndef COIL_TEST_UNIT_EMULATED_LIBRARY_H
#define COIL_TEST_UNIT_EMULATED_LIBRARY_H

#include "runtime/executor/cuda/DriverAbi.h"
#include "runtime/nvrtc/NvrtcAbi.h"

#include <functional>
#include <gmock/gmock.h>
#include <string>
#include <utility>
#include <vector>

namespace coil::emulated {

using cuda::DevicePointer;
using cuda::DriverResult;
using nvrtc::NvrtcResult;

/// The library's functions; it is loaded at the first call.
const cuda::DriverFunctions &driver();
const nvrtc::NvrtcFunctions &compiler();

/// Runs a test in a process of its own, with variables in its environment that the
/// library reads when it is initialised. The process must not have loaded it.
void inProcess(const std::vector<std::pair<std::string, std::string>> &environment,
               const std::function<void()> &body);

/// What a compilation gives.
struct Compiled {
  NvrtcResult result;
  std::string log, cubin;
  std::vector<std::string> names; ///< lowered, of each kernel
};
Compiled compile(const std::string &text, const std::vector<std::string> &kernels,
                 const std::string &arch = "sm_90");

/// Initialises the driver and makes a device's context current while it lives.
class CurrentContext {
public:
  explicit CurrentContext(int device = 0);
  ~CurrentContext();
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

private:
  int device;
};

/// A kernel that is loaded while it lives.
class LoadedKernel {
public:
  LoadedKernel(const std::string &text, const std::string &kernel);
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel &) = delete;
  LoadedKernel &operator=(const LoadedKernel &) = delete;

  cuda::DriverFunction *function = nullptr;

private:
  cuda::DriverModule *module = nullptr;
};

} // namespace coil::emulated

#endif // COIL_TEST_UNIT_EMULATED_LIBRARY_H
