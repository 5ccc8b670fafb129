//===- KernelTable.h - One instruction set's kernels ------------*- C++ -*-===//
//
// Internal to runtime/kernels/cpu and its tests; others include Reduce.h.
//
// Kernels.h is compiled once for each instruction set, and each compilation
// exports nothing but its table. Whatever else it emits has internal linkage: a
// linker that may choose among equal inline functions could otherwise pick one
// with instructions that the machine lacks.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_CPU_KERNELTABLE_H
#define COIL_RUNTIME_KERNELS_CPU_KERNELTABLE_H

#include "runtime/kernels/cpu/Reduce.h"

namespace coil::cpu {

/// Copies bytes with stores that bypass the caches where the machine has them.
using CopyKernel = void (*)(void *destination, const void *source, size_t bytes);

struct KernelTable {
  const char *name;
  ReduceKernel reduce[numDataTypes][numReduceOps];
  ScaleKernel scale[numDataTypes];
  CopyKernel copyStreaming;
};

extern const KernelTable baselineKernels;
#if defined(__x86_64__)
extern const KernelTable avx2Kernels;
extern const KernelTable avx512Kernels;
#endif

/// The most capable table that this machine can run, or, if `limit` names a less
/// capable one, that one. Any other limit (null, unknown, or more than the
/// machine has) is ignored.
const KernelTable &selectKernels(const char *limit);

} // namespace coil::cpu

#endif // COIL_RUNTIME_KERNELS_CPU_KERNELTABLE_H
