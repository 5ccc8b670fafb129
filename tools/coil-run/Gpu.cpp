//===- Gpu.cpp - The GPU that a rank runs on ------------------------------===//

#include "tools/coil-run/Gpu.h"

#include <filesystem>
#include <fmt/ranges.h>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

namespace coil::run {

namespace {
cuda::DevicePointer address(const std::byte *pointer) {
  return reinterpret_cast<cuda::DevicePointer>(pointer);
}
} // namespace

Result<std::unique_ptr<Gpu>> Gpu::open(const std::string &library, int ordinal) {
  std::unique_ptr<Gpu> gpu(new Gpu());
  COIL_ASSIGN_OR_RETURN(std::shared_ptr<const cuda::Driver> driver, cuda::Driver::load(library));
  COIL_ASSIGN_OR_RETURN(gpu->device, cuda::DeviceContext::open(std::move(driver), ordinal));
  COIL_ASSIGN_OR_RETURN(gpu->calls, cuda::Stream::create(gpu->device));
  return gpu;
}

Result<cuda::DeviceBuffer> Gpu::allocate(size_t bytes) const {
  return cuda::DeviceBuffer::create(device, bytes, calls);
}

Status Gpu::upload(std::byte *to, const std::byte *from, size_t bytes) const {
  return bytes == 0 ? Status::ok() : copyToDevice(*device, calls, address(to), from, bytes);
}

Status Gpu::download(std::byte *to, const std::byte *from, size_t bytes) const {
  return bytes == 0 ? Status::ok() : copyToHost(*device, calls, to, address(from), bytes);
}

Result<std::string> findEmulatedLibrary() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  std::vector<std::string> tried;
  // As installed, and as built.
  for (std::string_view folder : std::set<std::string_view>{COIL_LIBRARY_FOLDER, "lib"}) {
    fs::path path = program.parent_path().parent_path() / folder / "libcoil-emulated-cuda.so";
    if (fs::exists(path, ignored))
      return path.string();
    tried.push_back(path.string());
  }
  return Status::error(StatusCode::SystemError,
                       "the library that stands in for CUDA was not found; tried {}",
                       fmt::join(tried, ", "));
}

} // namespace coil::run
