//===- KernelStore.cpp - Kernels of plans, compiled once ------------------===//

#include "runtime/executor/cuda/KernelStore.h"

#include "runtime/kernels/device/SharedLayout.h"
#include "runtime/nvrtc/KernelCompiler.h"

namespace coil::cuda {

struct KernelStore::Shared {
  using CodeKey = std::tuple<std::string, std::string, std::string>; ///< text, instance, arch
  std::string library, cacheFolder;
  OnceMap<TextKey, GeneratedKernel> texts;
  OnceMap<CodeKey, Code> codes;
  OnceMap<int, nvrtc::KernelCompiler> compilers;
};

std::shared_ptr<KernelStore> KernelStore::find(std::shared_ptr<DeviceContext> device,
                                               const CudaConfig &config) {
  using SharedKey = std::pair<std::string, std::string>;
  using StoreKey = std::tuple<const DeviceContext *, SharedKey, uint32_t>;
  static std::mutex mutex;
  static std::map<SharedKey, std::weak_ptr<Shared>> sharedParts;
  static std::map<StoreKey, std::weak_ptr<KernelStore>> stores;
  std::lock_guard lock(mutex);
  std::erase_if(stores, [](const auto &entry) { return entry.second.expired(); });
  SharedKey key{config.nvrtcLibrary, config.kernelCache};
  std::weak_ptr<KernelStore> &entry = stores[{device.get(), key, config.threadsPerBlock}];
  if (std::shared_ptr<KernelStore> store = entry.lock())
    return store;
  std::shared_ptr<Shared> shared = sharedParts[key].lock();
  if (!shared) {
    shared = std::make_shared<Shared>();
    shared->library = config.nvrtcLibrary;
    shared->cacheFolder = config.kernelCache;
    sharedParts[key] = shared;
  }
  std::shared_ptr<KernelStore> store(new KernelStore(std::move(device), config, std::move(shared)));
  entry = store;
  return store;
}

Result<std::shared_ptr<const GeneratedKernel>> KernelStore::text(const KernelSource &source) {
  TextKey key{source.plan.digest, source.variant, source.protocol, source.ranks};
  return shared->texts.get(key, [&]() -> Result<std::shared_ptr<const GeneratedKernel>> {
    COIL_ASSIGN_OR_RETURN(GeneratedKernel kernel, generateKernel(source.plan, source.variant,
                                                                 {source.protocol, source.ranks}));
    return std::make_shared<const GeneratedKernel>(std::move(kernel));
  });
}

Result<std::shared_ptr<const KernelStore::Code>>
KernelStore::bundled(const KernelSource &source, const GeneratedKernel &text,
                     KernelInstance instance) const {
  auto variant = static_cast<uint32_t>(source.variant);
  auto capability = static_cast<uint32_t>(device->capability());
  const nvrtc::BundledCubin *cubin =
      source.bundle->find(variant, instance.type, instance.op, source.protocol, capability);
  if (!cubin)
    return Status::error(StatusCode::Unsupported,
                         "the plan's cubins have none of variant {} for {} ({}), protocol {} and "
                         "compute capability {}.{}",
                         variant, nameOf(instance.type), nameOf(instance.op),
                         nameOf(source.protocol), capability / 10, capability % 10);
  if (cubin->source != nvrtc::kernelSource(text.text))
    return Status::error(StatusCode::Unsupported,
                         "the plan's cubins are of kernels that another version of Coil generated");
  return std::make_shared<const Code>(Code{cubin->bytes, cubin->loweredName});
}

Result<std::shared_ptr<const KernelStore::Code>> KernelStore::makeCode(const KernelSource &source,
                                                                       const GeneratedKernel &text,
                                                                       KernelInstance instance) {
  auto compileHere = [&] {
    return compile(source.plan.name, text.text,
                   kernelExpression(text.name, instance.type, instance.op));
  };
  if (!source.bundle)
    return compileHere();
  Result<std::shared_ptr<const Code>> code = bundled(source, text, instance);
  if (code.isOk())
    return code;
  Result<std::shared_ptr<const Code>> compiled = compileHere();
  if (compiled.isOk())
    return compiled;
  return std::move(compiled).status().withContext(code.status().message());
}

Result<std::shared_ptr<const KernelStore::Code>>
KernelStore::compile(const std::string &name, std::string_view text,
                     const std::string &expression) {
  COIL_ASSIGN_OR_RETURN(
      std::shared_ptr<const nvrtc::KernelCompiler> compiler,
      shared->compilers.get(0, [&]() -> Result<std::shared_ptr<const nvrtc::KernelCompiler>> {
        COIL_ASSIGN_OR_RETURN(nvrtc::KernelCompiler loaded,
                              nvrtc::KernelCompiler::load(
                                  shared->library, shared->cacheFolder.empty()
                                                       ? nvrtc::CubinCache::usual()
                                                       : nvrtc::CubinCache(shared->cacheFolder)));
        return std::make_shared<const nvrtc::KernelCompiler>(std::move(loaded));
      }));
  std::string arch = compiler->archFor(device->capability());
  if (arch.empty())
    return Status::error(StatusCode::Unsupported,
                         "{} compiles nothing for {} of compute capability {}.{}",
                         compiler->describe(), device->describe(), device->capability() / 10,
                         device->capability() % 10);
  return shared->codes.get(
      {std::string(text), expression, arch}, [&]() -> Result<std::shared_ptr<const Code>> {
        nvrtc::CompileRequest request;
        request.text = text;
        request.name = name + ".cu";
        request.nameExpressions = {expression};
        request.arch = arch;
        bool isPtx = arch.starts_with("compute_");
        request.target = isPtx ? nvrtc::CompileTarget::Ptx : nvrtc::CompileTarget::Cubin;
        COIL_ASSIGN_OR_RETURN(nvrtc::CompiledKernels compiled, compiler->compile(request));
        // The driver reads PTX up to its end mark.
        if (isPtx)
          compiled.bytes.push_back(0);
        return std::make_shared<const Code>(
            Code{std::move(compiled.bytes), compiled.loweredNames.front()});
      });
}

Result<std::shared_ptr<const LoadedKernel>> KernelStore::load(const KernelSource &source,
                                                              KernelInstance instance) {
  KernelKey key{{source.plan.digest, source.variant, source.protocol, source.ranks}, instance};
  return kernels.get(key, [&]() -> Result<std::shared_ptr<const LoadedKernel>> {
    COIL_ASSIGN_OR_RETURN(std::shared_ptr<const GeneratedKernel> generated, text(source));
    COIL_ASSIGN_OR_RETURN(std::shared_ptr<const Code> code, makeCode(source, *generated, instance));
    return loadCode(generated->name,
                    device::sharedBytes(generated->sendEnds, generated->receiveEnds,
                                        generated->peerSlots, threads),
                    *code);
  });
}

Result<std::shared_ptr<const LoadedKernel>>
KernelStore::loadText(const std::string &name, std::string_view text, uint32_t sharedBytes) {
  return otherKernels.get(name, [&]() -> Result<std::shared_ptr<const LoadedKernel>> {
    COIL_ASSIGN_OR_RETURN(std::shared_ptr<const Code> code, compile(name, text, name));
    return loadCode(name, sharedBytes, *code);
  });
}

Result<std::shared_ptr<const LoadedKernel>>
KernelStore::loadCode(std::string_view name, uint32_t sharedBytes, const Code &code) const {
  const Driver &driver = device->driver();
  auto kernel = std::make_shared<LoadedKernel>();
  COIL_ASSIGN_OR_RETURN(kernel->module, Module::load(device, code.image.data()));
  COIL_ASSIGN_OR_RETURN(kernel->function, kernel->module.function(code.name.c_str()));
  kernel->threads = threads;
  kernel->sharedBytes = sharedBytes;
  ContextGuard guard(*device);
  if (!guard.status().isOk())
    return Status(guard.status().code(), guard.status().message());
  auto get = [&](FunctionAttribute attribute, int &value) {
    return COIL_CUDA(driver, cuFuncGetAttribute, &value, attribute, kernel->function);
  };
  int mostThreads = 0, registers = 0;
  COIL_RETURN_IF_ERROR(get(FunctionAttribute::MaxThreadsPerBlock, mostThreads));
  COIL_RETURN_IF_ERROR(get(FunctionAttribute::NumRegisters, registers));
  kernel->registers = static_cast<uint32_t>(registers);
  if (threads > static_cast<uint32_t>(mostThreads))
    return Status::error(StatusCode::Unsupported,
                         "kernel {} runs with at most {} threads a block on {} ({} registers a "
                         "thread), {} were asked for",
                         name, mostThreads, device->describe(), registers, threads);
  if (kernel->sharedBytes > device->mostSharedBytes())
    return Status::error(StatusCode::Unsupported,
                         "kernel {} needs {} bytes of shared memory a block, {} has {}", name,
                         kernel->sharedBytes, device->describe(), device->mostSharedBytes());
  COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuFuncSetAttribute, kernel->function,
                                 FunctionAttribute::MaxDynamicSharedSizeBytes,
                                 static_cast<int>(kernel->sharedBytes)));
  int blocks = 0;
  COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                                 kernel->function, static_cast<int>(threads), kernel->sharedBytes));
  kernel->residentBlocks = static_cast<uint32_t>(blocks) * device->multiprocessors();
  return std::shared_ptr<const LoadedKernel>(std::move(kernel));
}

} // namespace coil::cuda
