//===- Gpu.cpp - The GPU that a rank runs on ------------------------------===//

#include "tools/coil-run/Gpu.h"

namespace coil::run {

namespace {
cuda::DevicePointer address(const std::byte *pointer) {
  return reinterpret_cast<cuda::DevicePointer>(pointer);
}
} // namespace

Result<std::unique_ptr<Gpu>> Gpu::open(int ordinal) {
  std::unique_ptr<Gpu> gpu(new Gpu());
  COIL_ASSIGN_OR_RETURN(std::shared_ptr<const cuda::Driver> driver, cuda::Driver::load({}));
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

} // namespace coil::run
