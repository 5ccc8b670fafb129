//===- Expansion.h - A kernel's form, for one rank --------------*- C++ -*-===//
//
// Follows a form as the kernel would on one rank, and compares what it comes to
// with the plan: so no mistake in finding the form can get into a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CODEGEN_EXPANSION_H
#define COIL_RUNTIME_CODEGEN_EXPANSION_H

#include "runtime/base/Status.h"
#include "runtime/codegen/KernelForm.h"
#include "runtime/codegen/KernelGenerator.h"
#include "runtime/plan/Plan.h"

#include <cstdint>

namespace coil::codegen {

/// Checks that `form`, followed by its rank number `index` with those facts, gives
/// exactly the rank's operations in the plan, in order. Errors: InternalError, which
/// says where they differ.
Status checkExpansion(const Plan &plan, const PlanVariant &variant, const ClassForm &form,
                      size_t index, const GeneratedKernel::RankFacts &facts);

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_EXPANSION_H
