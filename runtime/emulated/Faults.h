//===- Faults.h - Calls that are made to fail -------------------*- C++ -*-===//
//
// COIL_EMULATED_FAULTS lists faults, separated by commas:
//
//   cuMemAlloc_v2:3=out_of_memory     the third call of cuMemAlloc_v2() fails so
//   cuLaunchKernel:2=launch_failed    the error is sticky, as the driver's is
//   nvrtcCompileProgram:1=compilation
//   cuLaunchKernel:5=exit             the process ends: a rank is lost
//
// Errors of the driver are named as in CUDA_ERROR_OUT_OF_MEMORY, those of NVRTC as
// in NVRTC_ERROR_OUT_OF_MEMORY, in lower case. Calls are counted in each process.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EMULATED_FAULTS_H
#define COIL_RUNTIME_EMULATED_FAULTS_H

#include <string>

namespace coil::emulated {

/// Reads the list. Returns an error message, empty if all is well.
std::string readFaults(const std::string &text);

/// Counts a call, and gives the number of the error that it must return, or 0.
int countCall(const char *function);

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_FAULTS_H
