//===- DriverKernels.cpp - Modules, functions and launches ----------------===//

#include "runtime/emulated/DriverApi.h"
#include "runtime/emulated/Handles.h"
#include "runtime/emulated/Module.h"

#include <map>

using namespace coil::cuda;
using namespace coil::emulated;

namespace {

/// A module in a context, with the functions that were asked for.
struct LoadedModule {
  Context &context;
  std::shared_ptr<Module> module;
  std::mutex mutex;
  std::map<const KernelEntry *, DriverFunction *> functions;

  LoadedModule(Context &context, std::shared_ptr<Module> module)
      : context(context), module(std::move(module)) {}
};

using ModuleTable = HandleTable<LoadedModule, DriverModule>;
using FunctionTable = HandleTable<Function, DriverFunction>;

// Never destroyed: threads may outlive static objects.
ModuleTable &modules() {
  static auto *table = new ModuleTable;
  return *table;
}
FunctionTable &functions() {
  static auto *table = new FunctionTable;
  return *table;
}

struct Dimensions {
  unsigned x, y, z;
  bool isEmpty() const { return x == 0 || y == 0 || z == 0; }
  bool isLine() const { return y == 1 && z == 1; }
};

DriverResult launchIn(Context &context, DriverFunction *handle, Dimensions grid, Dimensions block,
                      unsigned sharedBytes, DriverStream *streamHandle, void **parameters,
                      bool isCooperative) {
  std::shared_ptr<Function> function = functions().find(handle);
  std::shared_ptr<Stream> stream = findStream(context, streamHandle);
  if (!function || !stream)
    return DriverResult::InvalidHandle;
  if (grid.isEmpty() || block.isEmpty())
    return DriverResult::InvalidValue;
  if (!grid.isLine() || !block.isLine())
    return DriverResult::NotSupported; // device code has one dimension
  if (isCooperative && grid.x > std::uint64_t(function->residentBlocks(block.x, sharedBytes)) *
                                    static_cast<unsigned>(context.settings.multiprocessors))
    return DriverResult::CooperativeLaunchTooLarge;
  return launch(function, {grid.x, block.x, sharedBytes}, *stream, parameters);
}

} // namespace

DriverResult cuModuleLoadData(DriverModule **module, const void *image) {
  return enterContext("cuModuleLoadData", [&](Context &context) {
    if (!module || !image)
      return DriverResult::InvalidValue;
    if (DriverResult refused = refuseInCapture(); refused != DriverResult::Success)
      return refused;
    std::shared_ptr<Module> loaded;
    DriverResult result = Module::load(image, loaded);
    if (result == DriverResult::Success)
      *module = modules().add(std::make_shared<LoadedModule>(context, std::move(loaded)));
    return result;
  });
}

DriverResult cuModuleUnload(DriverModule *module) {
  return enterContext("cuModuleUnload", [&](Context &) {
    std::shared_ptr<LoadedModule> removed = modules().remove(module);
    if (!removed)
      return DriverResult::InvalidHandle;
    std::lock_guard lock(removed->mutex);
    for (auto [entry, function] : removed->functions)
      functions().remove(function);
    return DriverResult::Success;
  });
}

DriverResult cuModuleGetFunction(DriverFunction **function, DriverModule *module,
                                 const char *name) {
  return enterContext("cuModuleGetFunction", [&](Context &) {
    if (!function || !name)
      return DriverResult::InvalidValue;
    std::shared_ptr<LoadedModule> loaded = modules().find(module);
    if (!loaded)
      return DriverResult::InvalidHandle;
    const KernelEntry *entry = loaded->module->find(name);
    if (!entry)
      return DriverResult::NotFound;
    std::lock_guard lock(loaded->mutex);
    DriverFunction *&known = loaded->functions[entry];
    if (!known)
      known = functions().add(std::make_shared<Function>(loaded->module, loaded->context, *entry));
    *function = known;
    return DriverResult::Success;
  });
}

DriverResult cuFuncGetAttribute(int *value, FunctionAttribute attribute, DriverFunction *function) {
  return enterContext("cuFuncGetAttribute", [&](Context &) {
    std::shared_ptr<Function> found = functions().find(function);
    if (!found)
      return DriverResult::InvalidHandle;
    if (!value)
      return DriverResult::InvalidValue;
    switch (attribute) {
    case FunctionAttribute::MaxThreadsPerBlock:
      *value = mostThreadsOfBlock;
      return DriverResult::Success;
    case FunctionAttribute::SharedSizeBytes:
    case FunctionAttribute::LocalSizeBytes:
      *value = 0;
      return DriverResult::Success;
    case FunctionAttribute::NumRegisters:
      *value = registersOfThread;
      return DriverResult::Success;
    case FunctionAttribute::MaxDynamicSharedSizeBytes:
      *value = static_cast<int>(found->allowedSharedBytes.load());
      return DriverResult::Success;
    }
    return DriverResult::InvalidValue;
  });
}

DriverResult cuFuncSetAttribute(DriverFunction *function, FunctionAttribute attribute, int value) {
  return enterContext("cuFuncSetAttribute", [&](Context &) {
    std::shared_ptr<Function> found = functions().find(function);
    if (!found)
      return DriverResult::InvalidHandle;
    if (attribute != FunctionAttribute::MaxDynamicSharedSizeBytes || value < 0 ||
        static_cast<unsigned>(value) > mostSharedBytes)
      return DriverResult::InvalidValue;
    found->allowedSharedBytes = static_cast<unsigned>(value);
    return DriverResult::Success;
  });
}

DriverResult cuLaunchKernel(DriverFunction *function, unsigned gridX, unsigned gridY,
                            unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                            unsigned sharedBytes, DriverStream *stream, void **parameters,
                            void **extra) {
  return enterContext("cuLaunchKernel", [&](Context &context) {
    if (extra)
      return DriverResult::NotSupported;
    return launchIn(context, function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes,
                    stream, parameters, false);
  });
}

DriverResult cuLaunchCooperativeKernel(DriverFunction *function, unsigned gridX, unsigned gridY,
                                       unsigned gridZ, unsigned blockX, unsigned blockY,
                                       unsigned blockZ, unsigned sharedBytes, DriverStream *stream,
                                       void **parameters) {
  return enterContext("cuLaunchCooperativeKernel", [&](Context &context) {
    return launchIn(context, function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes,
                    stream, parameters, true);
  });
}

DriverResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, DriverFunction *function,
                                                         int blockSize, std::size_t sharedBytes) {
  return enterContext("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&](Context &) {
    std::shared_ptr<Function> found = functions().find(function);
    if (!found)
      return DriverResult::InvalidHandle;
    if (!blocks || blockSize <= 0)
      return DriverResult::InvalidValue;
    *blocks =
        static_cast<int>(found->residentBlocks(static_cast<unsigned>(blockSize), sharedBytes));
    return DriverResult::Success;
  });
}
