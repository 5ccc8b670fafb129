//===- KernelStore.h - Kernels of plans, compiled once ----------*- C++ -*-===//
//
// Ranks of one process that share a device share its kernels. Kernels are made
// when they are asked for; different ones at a time by different threads.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_KERNELSTORE_H
#define COIL_RUNTIME_EXECUTOR_CUDA_KERNELSTORE_H

#include "runtime/codegen/Codegen.h"
#include "runtime/executor/cuda/Launching.h"

#include <map>
#include <tuple>

namespace coil::cuda {

/// Values made on demand, each by one thread while others wait for it.
template <typename Key, typename Value> class OnceMap {
public:
  template <typename Make> Result<std::shared_ptr<const Value>> get(const Key &key, Make make) {
    std::shared_ptr<Slot> slot;
    {
      std::lock_guard lock(mutex);
      std::shared_ptr<Slot> &known = slots[key];
      if (!known)
        known = std::make_shared<Slot>();
      slot = known;
    }
    std::lock_guard lock(slot->mutex);
    if (!slot->value) {
      COIL_ASSIGN_OR_RETURN(slot->value, make());
    }
    return slot->value;
  }

private:
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const Value> value;
  };
  std::mutex mutex;
  std::map<Key, std::shared_ptr<Slot>> slots;
};

class KernelStore {
public:
  /// The store of a device for kernels as `config` wants them.
  static std::shared_ptr<KernelStore> find(std::shared_ptr<DeviceContext> device,
                                           const CudaConfig &config);

  /// The kernel's text for a variant; the plan is known by its digest.
  Result<std::shared_ptr<const codegen::GeneratedKernel>> text(const Plan &plan, size_t variant,
                                                               Protocol protocol);
  /// The kernel for a type and an operator. Errors: Unsupported without NVRTC, or
  /// if a block does not fit on the device; what NVRTC and the driver say.
  Result<std::shared_ptr<const LoadedKernel>> load(const Plan &plan, size_t variant,
                                                   Protocol protocol, DataType type, ReduceOp op);

private:
  KernelStore(std::shared_ptr<DeviceContext> device, const CudaConfig &config)
      : device(std::move(device)), config(config) {}
  Result<std::shared_ptr<const LoadedKernel>> compile(const codegen::GeneratedKernel &text,
                                                      DataType type, ReduceOp op);

  std::shared_ptr<DeviceContext> device;
  CudaConfig config;
  using TextKey = std::tuple<uint64_t, size_t, Protocol>;
  using KernelKey = std::tuple<uint64_t, size_t, Protocol, DataType, ReduceOp>;
  OnceMap<TextKey, codegen::GeneratedKernel> texts;
  OnceMap<KernelKey, LoadedKernel> kernels;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_KERNELSTORE_H
