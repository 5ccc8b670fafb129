//===- KernelWriter.h - A kernel's form as text -----------------*- C++ -*-===//

#ifndef COIL_RUNTIME_CODEGEN_KERNELWRITER_H
#define COIL_RUNTIME_CODEGEN_KERNELWRITER_H

#include "runtime/base/Status.h"
#include "runtime/codegen/KernelForm.h"
#include "runtime/kernels/device/Launch.h"
#include "runtime/plan/Plan.h"

#include <cstdint>
#include <span>
#include <string>

namespace coil::codegen {

/// An identifier for a variant's kernel: "chain_in_place_staged_root2".
std::string kernelName(const Plan &plan, const PlanVariant &variant);

/// The text of the classes in `classNumbers` (ascending indices in `forms`). Errors:
/// Unsupported if it is longer than maxKernelText.
Result<std::string> writeKernel(const Plan &plan, const PlanVariant &variant,
                                device::Protocol protocol, std::span<const ClassForm> forms,
                                std::span<const uint32_t> classNumbers);

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_KERNELWRITER_H
