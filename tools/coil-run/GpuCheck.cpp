//===- GpuCheck.cpp - Results compared on the GPU -------------------------===//

#include "tools/coil-run/GpuCheck.h"

#include <algorithm>

namespace coil::run {

namespace {

constexpr const char *kernelName = "coil::check::countWrong";
constexpr unsigned blockThreads = 256;

/// Bytes of elements are compared one by one: buffers may be unaligned, and this is
/// no time that anybody measures.
constexpr const char *kernelText = R"(
#include "runtime/kernels/device/Platform.h"

namespace coil::check {
using namespace coil::device;

COIL_KERNEL void countWrong(const u8 *data, const u8 *tile, u64 elements, u64 elementBytes,
                            u64 tileElements, u64 firstElement, u64 threads, u64 *wrong) {
  u64 mine = 0;
  for (u64 i = u64(blockIndex()) * blockThreads() + threadIndex(); i < elements; i += threads) {
    const u8 *found = data + i * elementBytes;
    const u8 *expected = tile + (firstElement + i) % tileElements * elementBytes;
    bool differs = false;
    for (u64 byte = 0; byte < elementBytes; ++byte)
      differs |= loadData<u8>(found + byte) != loadData<u8>(expected + byte);
    mine += differs;
  }
  if (mine != 0)
    addAcquireRelease<Scope::Device>(wrong, mine);
}

} // namespace coil::check
)";

} // namespace

Result<std::unique_ptr<GpuCheck>> GpuCheck::create(const Gpu &gpu, const std::string &library) {
  cuda::CudaConfig config;
  config.nvrtcLibrary = library;
  config.threadsPerBlock = blockThreads;
  std::unique_ptr<GpuCheck> check(new GpuCheck(gpu));
  COIL_ASSIGN_OR_RETURN(
      check->kernel,
      cuda::KernelStore::find(gpu.context(), config)->loadText(kernelName, kernelText, 0));
  COIL_ASSIGN_OR_RETURN(check->result, gpu.allocate(sizeof(uint64_t)));
  return check;
}

Result<uint64_t> GpuCheck::countWrong(const std::byte *data, const Repetition &expected,
                                      size_t elementBytes) {
  if (expected.count == 0)
    return uint64_t{0};
  if (tile.size() < expected.tile.size()) {
    COIL_ASSIGN_OR_RETURN(tile, gpu.allocate(expected.tile.size()));
  }
  auto onDevice = [](const cuda::DeviceBuffer &buffer) {
    return reinterpret_cast<std::byte *>(buffer.get());
  };
  uint64_t wrong = 0;
  COIL_RETURN_IF_ERROR(gpu.upload(onDevice(tile), expected.tile.data(), expected.tile.size()));
  COIL_RETURN_IF_ERROR(
      gpu.upload(onDevice(result), reinterpret_cast<const std::byte *>(&wrong), sizeof wrong));

  const cuda::DeviceContext &device = *gpu.context();
  uint64_t blocks = std::min<uint64_t>((expected.count + blockThreads - 1) / blockThreads,
                                       uint64_t{4} * device.multiprocessors());
  auto address = reinterpret_cast<cuda::DevicePointer>(data);
  cuda::DevicePointer tileAddress = tile.get(), resultAddress = result.get();
  uint64_t elements = expected.count, bytes = elementBytes, first = expected.firstElement,
           tileElements = expected.tile.size() / elementBytes, threads = blocks * blockThreads;
  void *parameters[] = {&address,      &tileAddress, &elements, &bytes,
                        &tileElements, &first,       &threads,  &resultAddress};
  {
    cuda::ContextGuard guard(device);
    if (!guard.status().isOk())
      return Status(guard.status().code(), guard.status().message());
    COIL_RETURN_IF_ERROR(COIL_CUDA(device.driver(), cuLaunchKernel, kernel->function,
                                   static_cast<unsigned>(blocks), 1, 1, blockThreads, 1, 1, 0,
                                   gpu.stream(), parameters, nullptr));
  }
  COIL_RETURN_IF_ERROR(
      gpu.download(reinterpret_cast<std::byte *>(&wrong), onDevice(result), sizeof wrong));
  return wrong;
}

} // namespace coil::run
