//===- KernelStore.h - Kernels of plans, compiled once ----------*- C++ -*-===//
//
// Ranks of one process that share a device share its kernels. Kernels are made
// when they are asked for; different ones at a time by different threads.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_KERNELSTORE_H
#define COIL_RUNTIME_EXECUTOR_CUDA_KERNELSTORE_H

#include "runtime/codegen/KernelGenerator.h"
#include "runtime/executor/cuda/Launching.h"
#include "runtime/nvrtc/CubinBundle.h"

#include <map>
#include <string_view>
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

/// Which kernel: a variant's, for some of the plan's ranks.
struct KernelSource {
  const Plan &plan; ///< known by its digest
  size_t variant;
  Protocol protocol;
  /// Empty: all.
  const std::vector<uint32_t> &ranks;
  /// Kernels that were compiled ahead of time and can be trusted; may be null.
  const nvrtc::CubinBundle *bundle;
};

class KernelStore {
public:
  /// The store of a device for kernels as `config` wants them.
  static std::shared_ptr<KernelStore> find(std::shared_ptr<DeviceContext> device,
                                           const CudaConfig &config);

  /// The kernel's text for a variant.
  Result<std::shared_ptr<const GeneratedKernel>> text(const KernelSource &source);
  /// An instance of the kernel, as kernelInstance() gives it: the bundle's if it has
  /// one that fits, else compiled. Errors: Unsupported where that needs NVRTC and
  /// there is none, or if a block does not fit on the device; what NVRTC and the
  /// driver say.
  Result<std::shared_ptr<const LoadedKernel>> load(const KernelSource &source,
                                                   KernelInstance instance);

  /// A kernel that no plan is the source of: a text, known by the kernel's name in it,
  /// that needs NVRTC. Errors: as above.
  Result<std::shared_ptr<const LoadedKernel>> loadText(const std::string &name,
                                                       std::string_view text, uint32_t sharedBytes);

private:
  /// What all devices of the process share.
  struct Shared;
  struct Code {
    std::vector<uint8_t> image;
    std::string name;
  };
  KernelStore(std::shared_ptr<DeviceContext> device, const CudaConfig &config,
              std::shared_ptr<Shared> shared)
      : device(std::move(device)), threads(config.threadsPerBlock), shared(std::move(shared)) {}
  Result<std::shared_ptr<const Code>>
  makeCode(const KernelSource &source, const GeneratedKernel &text, KernelInstance instance);
  /// From the bundle. The error says why it has none.
  Result<std::shared_ptr<const Code>>
  bundled(const KernelSource &source, const GeneratedKernel &text, KernelInstance instance) const;
  /// `expression` is the kernel's instance in the text of file `name`.cu.
  Result<std::shared_ptr<const Code>> compile(const std::string &name, std::string_view text,
                                              const std::string &expression);
  Result<std::shared_ptr<const LoadedKernel>> loadCode(std::string_view name, uint32_t sharedBytes,
                                                       const Code &code) const;

  std::shared_ptr<DeviceContext> device;
  uint32_t threads;
  std::shared_ptr<Shared> shared;
  using TextKey = std::tuple<uint64_t, size_t, Protocol, std::vector<uint32_t>>;
  using KernelKey = std::pair<TextKey, KernelInstance>;
  OnceMap<KernelKey, LoadedKernel> kernels;
  OnceMap<std::string, LoadedKernel> otherKernels;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_KERNELSTORE_H
