//===- KernelForms.h - What coilc makes of a plan's kernels -----*- C++ -*-===//
//
// The forms that follow the plan, which is where the compiler's phases end: the
// runtime makes them too, when a call first needs a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TOOLS_COILC_KERNELFORMS_H
#define COIL_TOOLS_COILC_KERNELFORMS_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"
#include "tools/coilc/Arguments.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coil {

enum class KernelForm {
  Cuda,      ///< CUDA C++
  Ptx,       ///< portable assembly
  Cubin,     ///< machine code
  Resources, ///< a table of what kernels ask of a GPU
};

struct KernelFormFacts {
  KernelForm form;
  std::string_view name;
  /// One sentence for --help.
  std::string_view summary;
};

std::span<const KernelFormFacts> allKernelForms();
std::optional<KernelForm> parseKernelForm(std::string_view name);

/// Writes a form of a plan's kernels to `arguments.output`; gives the exit status,
/// after an error message if it is not 0.
int emitKernels(const Plan &plan, KernelForm form, const CoilcArguments &arguments);

/// The bundle of cubins for `arguments.cubinArchs`. Errors: what the generator and
/// NVRTC say; InvalidArgument for an architecture without a number.
Result<std::vector<uint8_t>> makeCubinBundle(const Plan &plan, const CoilcArguments &arguments);

} // namespace coil

#endif // COIL_TOOLS_COILC_KERNELFORMS_H
