//===- ResourceReport.h - What the assembler says of kernels ----*- C++ -*-===//

#ifndef COIL_RUNTIME_NVRTC_RESOURCEREPORT_H
#define COIL_RUNTIME_NVRTC_RESOURCEREPORT_H

#include "runtime/nvrtc/KernelCompiler.h"

#include <string_view>
#include <vector>

namespace coil::nvrtc {

/// Reads the kernels' resources from a log with ptxas's verbose messages. What
/// functions that were not inlined need counts for every kernel, since any may
/// call them.
std::vector<KernelResources> parseResourceReport(std::string_view log);

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_RESOURCEREPORT_H
