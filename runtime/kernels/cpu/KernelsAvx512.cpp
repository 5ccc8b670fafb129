//===- KernelsAvx512.cpp - Kernels for AVX-512 F, BW, DQ and VL ------------===//

#include "runtime/kernels/cpu/Kernels.h"

constinit const coil::cpu::KernelTable coil::cpu::avx512Kernels = makeKernels("avx512");
