//===- Lowering.h - One declaration on its way to the dialect ---*- C++ -*-===//
//
// Visits statements and expressions, and keeps the value of each name. Since no
// name shadows another, one table serves all blocks; a name declared again in a
// later block replaces its entry.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_FRONTEND_LOWERING_H
#define COIL_COMPILER_FRONTEND_LOWERING_H

#include "compiler/frontend/Check.h"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringMap.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinOps.h>

#include <map>

namespace coil {

/// Lowers one declaration; a new one is made for each.
class Lowering {
public:
  Lowering(const ast::File &file, const FileNames &fileNames, mlir::ModuleOp module)
      : file(file), fileNames(fileNames), module(module),
        builder(mlir::OpBuilder::atBlockEnd(module.getBody())), indexType(builder.getIndexType()) {}

  /// Makes the function's symbol, without a body.
  void declare(const ast::Function &function);
  /// Gives a declared function its body.
  void lower(const ast::Function &function);
  void lower(const ast::Algorithm &algorithm);

  /// Statements and expressions, as ast::visit hands them out.
  void operator()(const ast::ChunksStmt &stmt);
  void operator()(const ast::ScratchStmt &stmt);
  void operator()(const ast::LetStmt &stmt);
  void operator()(const ast::TableStmt &stmt);
  void operator()(const ast::ForStmt &stmt);
  void operator()(const ast::IfStmt &stmt);
  void operator()(const ast::AssertStmt &stmt);
  void operator()(const ast::ExchangeStmt &stmt);
  void operator()(const ast::MoveStmt &stmt);
  void operator()(const ast::ApplyStmt &stmt);
  void operator()(const ast::SegmentsStmt &stmt);
  void operator()(const ast::EnsuresStmt &stmt);
  void operator()(const ast::ScheduleStmt &stmt);
  mlir::Value operator()(const ast::IntegerExpr &expr) { return constant(expr.value); }
  mlir::Value operator()(const ast::BooleanExpr &expr);
  mlir::Value operator()(const ast::NameExpr &expr);
  mlir::Value operator()(const ast::UnaryExpr &expr);
  mlir::Value operator()(const ast::BinaryExpr &expr);
  mlir::Value operator()(const ast::ConditionalExpr &expr);
  mlir::Value operator()(const ast::CallExpr &expr);
  mlir::Value operator()(const ast::EntryExpr &expr);
  mlir::Value operator()(const ast::FoldExpr &expr);

private:
  mlir::Location location(SourceRange range);
  mlir::Type typeOf(ast::ValueType type);

  // Statements (Lower.cpp).
  void lower(const ast::Parameter &parameter);
  void lower(const ast::Block &block);
  mlir::Value lower(const ast::Place &place);
  /// What loops hand on from round to round.
  using State = llvm::SmallVector<mlir::Value, 2>;
  /// Runs `makeBody` with the insertion point inside of the loop; it takes the state of
  /// a round and gives that of the next. Returns the state after the last.
  State inLoop(const ast::Loop &loop, const State &first,
               llvm::function_ref<State(const State &)> makeBody);
  /// The same for all loops and conditions from `clauses` on.
  State inClauses(llvm::ArrayRef<ast::Clause> clauses, const State &first,
                  llvm::function_ref<State(const State &)> makeBody);
  template <typename Op> void lowerOperands(Op op, const ast::MoveStmt &stmt);
  /// Runs `makeBody` with the insertion point inside of all loops and conditions
  /// from `clauses` on.
  void inClauses(llvm::ArrayRef<ast::Clause> clauses, llvm::function_ref<void()> makeBody);
  void lowerList(const std::vector<ast::ListItem> &items, mlir::Region &region);

  // Expressions (LowerExpr.cpp).
  mlir::Value lower(const ast::Expr &expr) {
    return ast::visit(expr, [&](const auto &each) -> mlir::Value { return (*this)(each); });
  }
  /// Null if the language has no function of that name.
  mlir::Value lowerBuiltin(llvm::StringRef name, llvm::ArrayRef<mlir::Value> arguments,
                           mlir::Location loc);
  /// The right operand is computed only if the left one leaves the result open,
  /// so that `n != 0 && x / n > 1` never divides by 0.
  mlir::Value lowerLogical(const ast::BinaryExpr &expr);
  /// Each integer once, at the head of the declaration, so that the body shows
  /// what it computes.
  mlir::Value constant(int64_t value);
  mlir::Value truth(bool value, mlir::Location loc);
  void setInsertionPointToHead();

  const ast::File &file;
  const FileNames &fileNames;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  mlir::Type indexType;
  llvm::StringMap<mlir::Value> names;
  std::map<int64_t, mlir::Value> constants;
  mlir::Block *constantBlock = nullptr;
  /// The last operation of the head.
  mlir::Operation *lastConstant = nullptr;
};

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_LOWERING_H
