//===- ExecBridge.h - Between the exec dialect and flat programs -*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_EXECBRIDGE_H
#define COIL_COMPILER_SEMANTICS_EXECBRIDGE_H

#include "compiler/schedule/ExecProgram.h"
#include "compiler/semantics/LocationTable.h"
#include "dialect/Exec/Exec.h"

#include <mlir/IR/Builders.h>

namespace coil {

/// Reads a plan (its verifiers have passed) into flat structures.
ExecPlan readExecPlan(exec::PlanOp plan, LocationTable &locations);
/// Null if the plan has none.
std::shared_ptr<const OwnContract> readContract(exec::PlanOp plan);
ExecVariant readExecVariant(exec::VariantOp variant, LocationTable &locations);

/// Creates the operations of a plan, or of one more variant, at the builder's
/// insertion point.
exec::PlanOp buildExecPlan(mlir::OpBuilder &builder, const ExecPlan &plan,
                           const LocationTable &locations);
exec::VariantOp buildExecVariant(mlir::OpBuilder &builder, const ExecVariant &variant,
                                 const LocationTable &locations);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXECBRIDGE_H
