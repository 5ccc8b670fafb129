//===- KernelsBaseline.cpp - Kernels for what every machine has ------------===//

#include "runtime/kernels/cpu/Kernels.h"

constinit const coil::cpu::KernelTable coil::cpu::baselineKernels = makeKernels("baseline");
