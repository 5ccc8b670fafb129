//===- Module.cpp - Loaded kernels and their launches ---------------------===//

#include "runtime/emulated/Module.h"
#include "runtime/kernels/emulation/Emulation.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>

namespace coil::emulated {

namespace {

#if defined(__x86_64__)
constexpr unsigned hostMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned hostMachine = EM_AARCH64;
#else
#error "the emulated driver knows x86-64 and AArch64 alone"
#endif

/// Bytes of the shared object at `image`; nothing if it is none of this machine's.
std::optional<std::size_t> imageBytes(const void *image) {
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0)
    return std::nullopt;
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != hostMachine ||
      header.e_type != ET_DYN)
    return std::nullopt;
  // Linkers write the table of sections last.
  return header.e_shoff + std::size_t(header.e_shnum) * header.e_shentsize;
}

bool writeAll(int file, const void *data, std::size_t bytes) {
  const auto *at = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t written = write(file, at, bytes);
    if (written <= 0)
      return false;
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

} // namespace

DriverResult Module::load(const void *image, std::shared_ptr<Module> &module) {
  std::optional<std::size_t> bytes = imageBytes(image);
  if (!bytes)
    return DriverResult::InvalidImage;
  // The loader takes a path that it has seen before for the same library, so that
  // every module needs a path of its own.
  std::error_code ignored;
  std::string path = std::filesystem::temp_directory_path(ignored) / "coil-kernels-XXXXXX";
  int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0)
    return DriverResult::OperatingSystem;
  void *library = nullptr;
  if (writeAll(file, image, *bytes))
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  unlink(path.c_str());
  if (!library) {
    const char *reason = dlerror();
    std::fprintf(stderr, "emulated CUDA: cannot load kernels: %s\n", reason ? reason : "no memory");
    return DriverResult::InvalidImage;
  }
  std::shared_ptr<Module> made(new Module(library));
  made->kernels = static_cast<const KernelTable *>(dlsym(library, kernelTableSymbol));
  if (!made->kernels || made->kernels->version != kernelTableVersion)
    return DriverResult::InvalidImage;
  module = std::move(made);
  return DriverResult::Success;
}

Module::~Module() {
  // A report of a race may still name this module's source.
  if (!emulation::isTracking())
    dlclose(library);
}

const KernelEntry *Module::find(const char *name) const {
  for (unsigned i = 0; i < kernels->count; ++i)
    if (std::strcmp(kernels->entries[i].name, name) == 0)
      return &kernels->entries[i];
  return nullptr;
}

unsigned Function::residentBlocks(unsigned threads, std::size_t sharedBytes) const {
  // As on real devices, a block takes 1 KiB more than it asks for.
  std::size_t shared = sharedBytes + 1024;
  if (threads == 0 || threads > mostThreadsOfBlock || shared > sharedBytesOfMultiprocessor)
    return 0;
  return static_cast<unsigned>(
      std::min({std::size_t(mostThreadsOfMultiprocessor / threads),
                sharedBytesOfMultiprocessor / shared, std::size_t(mostBlocksOfMultiprocessor)}));
}

namespace {

/// The parameters' values, each at an address that suits any type.
class Arguments {
public:
  Arguments(const KernelEntry &entry, void **parameters) {
    struct alignas(64) Unit {
      std::byte bytes[64];
    };
    std::size_t units = 0;
    for (unsigned i = 0; i < entry.parameterCount; ++i)
      units += (entry.parameterBytes[i] + sizeof(Unit) - 1) / sizeof(Unit);
    std::shared_ptr<Unit[]> values(new Unit[units + 1]);
    Unit *next = values.get();
    for (unsigned i = 0; i < entry.parameterCount; ++i) {
      std::memcpy(next, parameters[i], entry.parameterBytes[i]);
      pointers.push_back(next);
      next += (entry.parameterBytes[i] + sizeof(Unit) - 1) / sizeof(Unit);
    }
    memory = std::move(values);
  }

  void *const *data() const { return pointers.data(); }

private:
  std::shared_ptr<void> memory;
  std::vector<void *> pointers;
};

} // namespace

DriverResult launch(const std::shared_ptr<Function> &function, LaunchShape shape, Stream &stream,
                    void **parameters) {
  const KernelEntry &entry = function->entry;
  if (&function->context != &stream.context)
    return DriverResult::InvalidHandle;
  if (shape.blocks == 0 || shape.threads == 0 || shape.threads > mostThreadsOfBlock ||
      shape.sharedBytes > function->allowedSharedBytes ||
      (entry.parameterCount > 0 && !parameters) ||
      std::find(parameters, parameters + entry.parameterCount, nullptr) !=
          parameters + entry.parameterCount)
    return DriverResult::InvalidValue;
  if (shape.threads % 32 != 0)
    return DriverResult::NotSupported; // incomplete warps are not emulated
  auto arguments = std::make_shared<const Arguments>(entry, parameters);
  return stream.submit([function, shape, arguments](Context &context) {
    emulation::KernelLaunch kernel;
    kernel.blocks = shape.blocks;
    kernel.threads = shape.threads;
    kernel.sharedBytes = shape.sharedBytes;
    kernel.device = static_cast<device::u32>(context.device);
    kernel.body = [&entry = function->entry, data = arguments->data()] { entry.call(data); };
    std::vector<emulation::Problem> problems = emulation::run({std::move(kernel)});
    for (const emulation::Problem &problem : problems)
      std::fprintf(stderr, "emulated CUDA: kernel %s: %s\n", function->entry.name,
                   problem.text.c_str());
    if (!problems.empty())
      context.fail(DriverResult::LaunchFailed);
  });
}

} // namespace coil::emulated
