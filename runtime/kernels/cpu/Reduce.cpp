//===- Reduce.cpp - The choice of the machine's kernels -------------------===//

#include "runtime/kernels/cpu/Reduce.h"

#include "runtime/kernels/cpu/KernelTable.h"

#include <cstdlib>
#include <cstring>

namespace coil::cpu {

const KernelTable &selectKernels(const char *limit) {
  const KernelTable *best = &baselineKernels;
  auto isLimit = [&] { return limit && std::strcmp(limit, best->name) == 0; };
#if defined(__x86_64__)
  // One step at a time: a limit ends the climb where it is met. These checks
  // include the operating system's saving of the wide registers.
  __builtin_cpu_init();
  if (!isLimit() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
    best = &avx2Kernels;
    if (!isLimit() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      best = &avx512Kernels;
  }
#endif
  return *best;
}

static const KernelTable &kernels() {
  static const KernelTable &selected = selectKernels(std::getenv("COIL_CPU_ISA"));
  return selected;
}

ReduceKernel reduceKernel(DataType type, ReduceOp op) {
  return kernels().reduce[static_cast<size_t>(type)][static_cast<size_t>(op)];
}

ScaleKernel scaleKernel(DataType type) { return kernels().scale[static_cast<size_t>(type)]; }

void copyBytes(void *destination, const void *source, size_t bytes, bool streaming) {
  if (bytes == 0 || destination == source)
    return;
  if (streaming)
    kernels().copyStreaming(destination, source, bytes);
  else
    std::memcpy(destination, source, bytes);
}

const char *activeIsa() { return kernels().name; }

} // namespace coil::cpu
