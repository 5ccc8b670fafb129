//===- Module.h - Loaded kernels and their launches -------------*- C++ -*-===//

#ifndef COIL_RUNTIME_EMULATED_MODULE_H
#define COIL_RUNTIME_EMULATED_MODULE_H

#include "runtime/emulated/KernelTable.h"
#include "runtime/emulated/Machine.h"
#include "runtime/emulated/Stream.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace coil::emulated {

class Module;

inline constexpr unsigned mostThreadsOfBlock = 1024;
inline constexpr unsigned mostThreadsOfMultiprocessor = 2048;
inline constexpr unsigned mostBlocksOfMultiprocessor = 32;
inline constexpr unsigned usualSharedBytes = 48 << 10;
inline constexpr unsigned mostSharedBytes = 227 << 10;
inline constexpr unsigned sharedBytesOfMultiprocessor = 228 << 10;
inline constexpr unsigned registersOfThread = 32;

struct Function {
  std::shared_ptr<Module> module; ///< stays loaded while it is used
  Context &context;
  const KernelEntry &entry;
  std::atomic<unsigned> allowedSharedBytes = usualSharedBytes;

  Function(std::shared_ptr<Module> module, Context &context, const KernelEntry &entry)
      : module(std::move(module)), context(context), entry(entry) {}

  /// Blocks of a shape that a multiprocessor holds at a time.
  unsigned residentBlocks(unsigned threads, std::size_t sharedBytes) const;
};

/// A shared object that the stand-in for NVRTC has made.
class Module {
public:
  /// `image` is the whole file; its length is in its header.
  static DriverResult load(const void *image, std::shared_ptr<Module> &module);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// Null if there is none of that name.
  const KernelEntry *find(const char *name) const;

private:
  explicit Module(void *library) : library(library) {}

  void *library;
  const KernelTable *kernels = nullptr;
};

struct LaunchShape {
  unsigned blocks, threads, sharedBytes;
};

/// Puts a launch into a stream. The values of the parameters are copied.
DriverResult launch(const std::shared_ptr<Function> &function, LaunchShape shape, Stream &stream,
                    void **parameters);

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_MODULE_H
