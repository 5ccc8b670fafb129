//===- Passes.h - Coil's passes ---------------------------------*- C++ -*-===//
//
// Passes.td describes them, in the order in which they run.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_PASSES_PASSES_H
#define COIL_PASSES_PASSES_H

#include "dialect/Coil/Coil.h"
#include "dialect/Exec/Exec.h"

#include <mlir/IR/BuiltinOps.h>
#include <mlir/Pass/Pass.h>

namespace coil {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace coil

#endif // COIL_PASSES_PASSES_H
