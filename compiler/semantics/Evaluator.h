//===- Evaluator.h - Computes a program's integers --------------*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_EVALUATOR_H
#define COIL_COMPILER_SEMANTICS_EVALUATOR_H

#include <cstdint>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>

namespace coil {

/// What an expansion has used of its budgets, in all that it runs.
struct Spending {
  size_t iterations = 0;
  size_t statements = 0;
  size_t calls = 0;
  /// Calls of functions that have begun and not ended.
  size_t callDepth = 0;
  /// Their bodies and conditions, which is how deep this program's own stack is.
  size_t levels = 0;
};

/// Runs operations on numbers and keeps their results; i1 is 0 or 1. Wrong
/// numbers (an overflow, a division by zero, ...) are errors at the operation.
class Evaluator {
public:
  Evaluator(int64_t nodes, Spending &spent) : nodes(nodes), spent(spent) {}

  int64_t valueOf(mlir::Value value) const { return values.lookup(value); }
  void set(mlir::Value value, int64_t number) { values[value] = number; }

  /// Integers are 64 bits wide; other widths would overflow elsewhere.
  static bool isNumber(mlir::Type type) { return type.isIndex() || type.isInteger(1); }

  /// Runs one operation without regions, a call of a function included.
  mlir::LogicalResult compute(mlir::Operation *op);
  /// Runs the region that the condition chooses and takes over its results.
  mlir::LogicalResult runIf(mlir::scf::IfOp op,
                            llvm::function_ref<mlir::LogicalResult(mlir::Block &)> runBlock);

  /// Runs the body for each value of the loop's variable and hands its results on.
  mlir::LogicalResult runFor(mlir::scf::ForOp op,
                             llvm::function_ref<mlir::LogicalResult(mlir::Block &)> runBlock);

private:
  template <bool (*Operate)(int64_t, int64_t, int64_t &)>
  mlir::LogicalResult checked(mlir::Operation *op);
  mlir::LogicalResult divide(mlir::Operation *op, bool remainder);
  mlir::LogicalResult shift(mlir::Operation *op, bool left);
  mlir::LogicalResult logarithm(mlir::Operation *op);
  mlir::LogicalResult greatestDivisor(mlir::Operation *op);
  mlir::LogicalResult entry(mlir::Operation *op);
  mlir::LogicalResult call(mlir::func::CallOp op);
  /// Runs a block of the function that `op` calls.
  mlir::LogicalResult runFunction(mlir::func::CallOp op, mlir::Block &block);

  int64_t nodes;
  Spending &spent;
  llvm::DenseMap<mlir::Value, int64_t> values;
};

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EVALUATOR_H
