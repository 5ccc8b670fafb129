//===- Primitives.cpp - How fast a GPU copies and reduces ----------------===//
//
// Runs the device library's copy and two-operand reduction on all of a GPU, beside
// the driver's own copy, and prints the memory traffic of each in GB/s.
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/cuda/Memory.h"
#include "runtime/nvrtc/KernelCompiler.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <vector>

using namespace coil;
using namespace coil::cuda;

namespace {

constexpr unsigned blockThreads = 512;
constexpr size_t bytes = size_t{256} << 20;

constexpr const char *kernelText = R"(
#include "runtime/kernels/device/Reduce.h"

namespace coil::generated {

using namespace coil::device;

struct Work {
  u8 *to;
  const u8 *a, *b;
  u64 count;
  u64 blocks;
};

struct Share {
  u64 begin, size;
};

COIL_DEVICE inline Share shareOf(const Work &work) {
  u64 each = (work.count + work.blocks - 1) / work.blocks, begin = blockIndex() * each;
  return {begin, begin < work.count ? lesser(each, work.count - begin) : 0};
}

template <typename Element> COIL_KERNEL void copyAll(COIL_GRID_CONSTANT const Work work) {
  Share share = shareOf(work);
  u64 at = share.begin * sizeof(Element);
  copyMemory<Element, Sum>(work.to + at, work.a + at, false, share.size, Terms<Element>{});
}

template <typename Element> COIL_KERNEL void reduceAll(COIL_GRID_CONSTANT const Work work) {
  Share share = shareOf(work);
  u64 at = share.begin * sizeof(Element);
  Operands<2> operands = {{work.a + at, work.b + at}, 0};
  reduceMemory<Element, Sum>(work.to + at, operands, share.size, Terms<Element>{});
}

} // namespace coil::generated
)";

struct Work {
  DevicePointer to, a, b;
  uint64_t count, blocks;
};

class Bench {
public:
  Status run() {
    COIL_ASSIGN_OR_RETURN(std::shared_ptr<const Driver> driver, Driver::load({}));
    COIL_ASSIGN_OR_RETURN(device, DeviceContext::open(driver, 0));
    COIL_ASSIGN_OR_RETURN(stream, Stream::create(device));
    COIL_ASSIGN_OR_RETURN(to, DeviceBuffer::create(device, bytes, stream));
    COIL_ASSIGN_OR_RETURN(a, DeviceBuffer::create(device, bytes, stream));
    COIL_ASSIGN_OR_RETURN(b, DeviceBuffer::create(device, bytes, stream));
    fmt::print("primitives on {}, {} MiB, traffic in GB/s\n", device->describe(), bytes >> 20);

    ContextGuard guard(*device);
    if (!guard.status().isOk())
      return {guard.status().code(), guard.status().message()};
    const Driver &calls = *driver;
    COIL_RETURN_IF_ERROR(report("the driver's copy", 2, [&] {
      return COIL_CUDA(calls, cuMemcpyAsync, to.get(), a.get(), bytes, stream.get());
    }));

    const std::vector<std::string> instances = {
        "coil::generated::copyAll<float>", "coil::generated::reduceAll<float>",
        "coil::generated::reduceAll<coil::device::BFloat16>",
        "coil::generated::reduceAll<coil::device::Float8E4M3>"};
    const std::vector<size_t> elementBytes = {4, 4, 2, 1};
    COIL_ASSIGN_OR_RETURN(nvrtc::KernelCompiler compiler, nvrtc::KernelCompiler::load());
    nvrtc::CompileRequest request;
    request.text = kernelText;
    request.name = "primitives.cu";
    request.nameExpressions = instances;
    request.arch = compiler.archFor(device->capability());
    COIL_ASSIGN_OR_RETURN(nvrtc::CompiledKernels kernels, compiler.compile(request));
    kernels.bytes.push_back(0); // ends PTX; machine code knows its end
    COIL_ASSIGN_OR_RETURN(Module module, Module::load(device, kernels.bytes.data()));
    for (size_t i = 0; i < instances.size(); ++i) {
      COIL_ASSIGN_OR_RETURN(DriverFunction * function,
                            module.function(kernels.loweredNames[i].c_str()));
      Work work{to.get(), a.get(), b.get(), bytes / elementBytes[i], device->multiprocessors() * 4};
      void *parameters[] = {&work};
      auto blocks = static_cast<unsigned>(work.blocks);
      auto enqueue = [&] {
        return COIL_CUDA(calls, cuLaunchKernel, function, blocks, 1, 1, blockThreads, 1, 1, 0,
                         stream.get(), parameters, nullptr);
      };
      std::string name = instances[i].substr(sizeof("coil::generated::") - 1);
      COIL_RETURN_IF_ERROR(report(name, i == 0 ? 2 : 3, enqueue));
    }
    return Status::ok();
  }

private:
  /// Times a kernel that touches each of the buffers' bytes `passes` times in all.
  Status report(const std::string &name, int passes, const std::function<Status()> &enqueue) {
    constexpr int repetitions = 20, rounds = 5;
    double best = 1e9;
    for (int round = 0; round <= rounds; ++round) {
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < repetitions; ++i)
        COIL_RETURN_IF_ERROR(enqueue());
      COIL_RETURN_IF_ERROR(stream.synchronize());
      std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      if (round > 0) // the first warms up
        best = std::min(best, seconds.count() / repetitions);
    }
    fmt::print("  {:42} {:8.1f}\n", name, static_cast<double>(bytes) * passes / best / 1e9);
    return Status::ok();
  }

  std::shared_ptr<DeviceContext> device;
  Stream stream;
  DeviceBuffer to, a, b;
};

} // namespace

int main() {
  Status status = Bench().run();
  if (status.isOk())
    return 0;
  fmt::print(stderr, "gpu_primitives: {}\n", status.message());
  return 1;
}
