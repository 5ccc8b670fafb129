//===- Expand.h - From a program to its instance ----------------*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_EXPAND_H
#define COIL_COMPILER_SEMANTICS_EXPAND_H

#include "compiler/semantics/Instance.h"
#include "compiler/semantics/LocationTable.h"
#include "dialect/Coil/Coil.h"

#include <map>

namespace coil {

/// What a program is expanded for.
struct InstanceRequest {
  int64_t ranks = 1;
  /// 0 if the collective has no root.
  int64_t root = 0;
  /// Nodes that the ranks lie on; divides their number.
  int64_t nodes = 1;
  /// Values of parameters by name, a bool's 0 or 1; others have their default.
  std::map<std::string, int64_t> parameters;

  auto operator<=>(const InstanceRequest &) const = default;
};

/// Runs the program and writes down every move. Loops and conditions are executed; ranks are taken
/// modulo the number of ranks, runs of chunks become single chunks. Errors of
/// the program (a parameter without a value or out of its range, a false assertion, an overflow, a
/// division by zero, a scratch index out of range, a program beyond the budgets below) are emitted
/// at their operation.
mlir::FailureOr<Instance> expand(ir::AlgorithmOp algorithm, const InstanceRequest &request,
                                 LocationTable &locations);

/// Moves of an instance that are accepted; more are refused with a clear error.
inline constexpr size_t maxStatements = size_t(1) << 26;
/// Loop iterations that are accepted.
inline constexpr size_t maxIterations = size_t(1) << 26;
/// Calls of functions that are accepted.
inline constexpr size_t maxCalls = size_t(1) << 22;
/// Calls of functions in calls of functions that are accepted.
inline constexpr size_t maxCallDepth = 1000;
/// As many bodies of functions and conditions in them can be in progress.
inline constexpr size_t maxFunctionLevels = 4000;

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXPAND_H
