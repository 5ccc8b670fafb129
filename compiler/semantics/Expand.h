//===- Expand.h - From a program to its instance ----------------*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_EXPAND_H
#define COIL_COMPILER_SEMANTICS_EXPAND_H

#include "compiler/semantics/Instance.h"
#include "compiler/semantics/LocationTable.h"
#include "dialect/Coil/Coil.h"

namespace coil {

/// Runs the program for `ranks` ranks and `root` (0 if the collective has none) and
/// writes down every move. Loops and conditions are executed; ranks are taken
/// modulo the number of ranks, runs of chunks become single chunks. Errors of
/// the program (a false assertion, an overflow, a division by zero, a scratch
/// index out of range, a program beyond the budgets below) are emitted at their
/// operation.
mlir::FailureOr<Instance> expand(ir::AlgorithmOp algorithm, int64_t ranks, int64_t root,
                                 LocationTable &locations);

/// Moves of an instance that are accepted; more are refused with a clear error.
inline constexpr size_t maxStatements = size_t(1) << 26;
/// Loop iterations that are accepted.
inline constexpr size_t maxIterations = size_t(1) << 26;

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXPAND_H
