//===- KernelsAvx2.cpp - Kernels for AVX2 and F16C -------------------------===//

#include "runtime/kernels/cpu/Kernels.h"

constinit const coil::cpu::KernelTable coil::cpu::avx2Kernels = makeKernels("avx2");
