//===- Lower.cpp - From a checked tree to the coil dialect ----------------===//

#include "compiler/frontend/Lower.h"

#include "dialect/Coil/Coil.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringMap.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/Verifier.h>

#include <map>

namespace coil {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace {

/// Lowers one algorithm: visits statements and expressions, and keeps the value
/// of each name. Since no name shadows another, one table serves all blocks; a
/// name declared again in a later block replaces its entry.
class Lowering {
public:
  explicit Lowering(mlir::ModuleOp module)
      : builder(OpBuilder::atBlockEnd(module.getBody())), indexType(builder.getIndexType()) {}

  void lower(const ast::Algorithm &algorithm) {
    Location loc = location(algorithm.range);
    auto op = ir::AlgorithmOp::create(builder, loc, algorithm.name.text,
                                      algorithm.contract.collective.text);
    mlir::Block &body = op.getBody().emplaceBlock();
    names["ranks"] = body.addArgument(indexType, loc);
    if (algorithm.contract.root)
      names[algorithm.contract.root->text] =
          body.addArgument(indexType, location(algorithm.contract.root->range));
    builder.setInsertionPointToStart(&body);
    constantBlock = &body;
    lower(algorithm.body);
  }

  // Statements.
  void operator()(const ast::ChunksStmt &stmt) {
    Value count = lower(*stmt.count);
    ir::ChunksOp::create(builder, location(stmt.range), count);
  }
  void operator()(const ast::ScratchStmt &stmt) {
    Value count = lower(*stmt.count);
    ir::ScratchOp::create(builder, location(stmt.range), stmt.name.text, count);
  }
  void operator()(const ast::LetStmt &stmt) { names[stmt.name.text] = lower(*stmt.value); }
  void operator()(const ast::ForStmt &stmt) {
    inLoop(stmt.loop, [&] { lower(stmt.body); });
  }
  void operator()(const ast::IfStmt &stmt) {
    Value condition = lower(*stmt.condition);
    auto op = scf::IfOp::create(builder, location(stmt.range), condition,
                                /*withElseRegion=*/stmt.elseBody.has_value());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op.thenBlock());
    lower(stmt.thenBody);
    if (stmt.elseBody) {
      builder.setInsertionPointToStart(op.elseBlock());
      lower(*stmt.elseBody);
    }
  }
  void operator()(const ast::AssertStmt &stmt) {
    Value condition = lower(*stmt.condition);
    ir::AssertOp::create(builder, location(stmt.range), condition, stmt.message);
  }
  void operator()(const ast::ExchangeStmt &stmt) {
    auto op = ir::ExchangeOp::create(builder, location(stmt.range));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
    lower(stmt.body);
  }
  void operator()(const ast::MoveStmt &stmt) {
    Location loc = location(stmt.range);
    switch (stmt.verb) {
    case ast::Verb::Send: {
      Value source = lower(stmt.operands.front().place), destination = lower(stmt.destination);
      ir::SendOp::create(builder, loc, source, destination);
      return;
    }
    case ast::Verb::Copy: {
      Value source = lower(stmt.operands.front().place), destination = lower(stmt.destination);
      ir::CopyOp::create(builder, loc, source, destination);
      return;
    }
    case ast::Verb::Reduce:
      lowerOperands(ir::ReduceOp::create(builder, loc, lower(stmt.destination)), stmt);
      return;
    case ast::Verb::Combine:
      lowerOperands(ir::CombineOp::create(builder, loc, lower(stmt.destination)), stmt);
      return;
    }
  }

  // Expressions.
  Value operator()(const ast::IntegerExpr &expr) { return constant(expr.value); }
  Value operator()(const ast::NameExpr &expr) { return names.lookup(expr.name); }
  Value operator()(const ast::UnaryExpr &expr) {
    Location loc = location(expr.range);
    // A negative number is a constant, not a subtraction.
    if (expr.op == ast::UnaryOp::Negate && expr.operand->kind == ast::Expr::Kind::Integer)
      return constant(-static_cast<const ast::IntegerExpr &>(*expr.operand).value);
    Value operand = lower(*expr.operand);
    switch (expr.op) {
    case ast::UnaryOp::Negate:
      return arith::SubIOp::create(builder, loc, constant(0), operand);
    case ast::UnaryOp::Complement:
      return arith::XOrIOp::create(builder, loc, operand, constant(-1));
    case ast::UnaryOp::Not:
      return arith::XOrIOp::create(builder, loc, operand, truth(true, loc));
    }
    llvm_unreachable("unknown unary operator");
  }
  Value operator()(const ast::BinaryExpr &expr) {
    if (expr.op == ast::BinaryOp::And || expr.op == ast::BinaryOp::Or)
      return lowerLogical(expr);
    Location loc = location(expr.range);
    Value left = lower(*expr.left), right = lower(*expr.right);
    auto compare = [&](arith::CmpIPredicate predicate) -> Value {
      return arith::CmpIOp::create(builder, loc, predicate, left, right);
    };
    switch (expr.op) {
    case ast::BinaryOp::Equal:
      return compare(arith::CmpIPredicate::eq);
    case ast::BinaryOp::NotEqual:
      return compare(arith::CmpIPredicate::ne);
    case ast::BinaryOp::Less:
      return compare(arith::CmpIPredicate::slt);
    case ast::BinaryOp::LessEqual:
      return compare(arith::CmpIPredicate::sle);
    case ast::BinaryOp::Greater:
      return compare(arith::CmpIPredicate::sgt);
    case ast::BinaryOp::GreaterEqual:
      return compare(arith::CmpIPredicate::sge);
    case ast::BinaryOp::BitOr:
      return arith::OrIOp::create(builder, loc, left, right);
    case ast::BinaryOp::BitXor:
      return arith::XOrIOp::create(builder, loc, left, right);
    case ast::BinaryOp::BitAnd:
      return arith::AndIOp::create(builder, loc, left, right);
    case ast::BinaryOp::ShiftLeft:
      return arith::ShLIOp::create(builder, loc, left, right);
    case ast::BinaryOp::ShiftRight:
      return arith::ShRSIOp::create(builder, loc, left, right);
    case ast::BinaryOp::Add:
      return arith::AddIOp::create(builder, loc, left, right);
    case ast::BinaryOp::Subtract:
      return arith::SubIOp::create(builder, loc, left, right);
    case ast::BinaryOp::Multiply:
      return arith::MulIOp::create(builder, loc, left, right);
    case ast::BinaryOp::Divide:
      return arith::FloorDivSIOp::create(builder, loc, left, right);
    case ast::BinaryOp::Remainder:
      return ir::ModOp::create(builder, loc, indexType, left, right);
    case ast::BinaryOp::And:
    case ast::BinaryOp::Or:
      break;
    }
    llvm_unreachable("unknown binary operator");
  }
  Value operator()(const ast::CallExpr &expr) {
    Location loc = location(expr.range);
    Value result = lower(*expr.arguments.front());
    if (expr.callee.text == "log2")
      return ir::Log2Op::create(builder, loc, indexType, result);
    bool isMinimum = expr.callee.text == "min";
    for (const ast::ExprPtr &argument : llvm::drop_begin(expr.arguments)) {
      Value next = lower(*argument);
      if (isMinimum)
        result = arith::MinSIOp::create(builder, loc, result, next);
      else
        result = arith::MaxSIOp::create(builder, loc, result, next);
    }
    return result;
  }

private:
  Location location(SourceRange range) {
    LineColumn position = range.file->position(range.begin);
    return mlir::FileLineColLoc::get(builder.getContext(), range.file->name(), position.line,
                                     position.column);
  }

  void lower(const ast::Block &block) {
    for (const ast::StmtPtr &stmt : block.statements)
      ast::visit(*stmt, *this);
  }
  Value lower(const ast::Expr &expr) {
    return ast::visit(expr, [&](const auto &each) -> Value { return (*this)(each); });
  }

  Value lower(const ast::Place &place) {
    Value begin = lower(*place.begin), end = place.end ? lower(*place.end) : Value();
    Value rank = lower(*place.rank);
    return ir::PlaceOp::create(builder, location(place.range), place.buffer.text, begin, end, rank);
  }

  /// Runs `makeBody` with the insertion point inside of the loop.
  void inLoop(const ast::Loop &loop, llvm::function_ref<void()> makeBody) {
    Value begin = lower(*loop.begin), end = lower(*loop.end);
    Value step = loop.step ? lower(*loop.step) : constant(1);
    auto op = scf::ForOp::create(builder, location(loop.range), begin, end, step);
    names[loop.variable.text] = op.getInductionVar();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op.getBody());
    makeBody();
  }

  template <typename Op> void lowerOperands(Op op, const ast::MoveStmt &stmt) {
    OpBuilder::InsertionGuard guard(builder);
    mlir::Block &block = op.getOperandsRegion().emplaceBlock();
    for (const ast::Operand &operand : stmt.operands) {
      builder.setInsertionPointToEnd(&block);
      lowerOperand(operand, 0);
    }
  }
  /// The loops and conditions of an operand from `clause` on, and its place.
  void lowerOperand(const ast::Operand &operand, size_t clause) {
    if (clause == operand.clauses.size()) {
      Value place = lower(operand.place);
      ir::OperandOp::create(builder, location(operand.place.range), place);
      return;
    }
    const auto &[loop, condition] = operand.clauses[clause];
    inLoop(loop, [&] {
      if (!condition)
        return lowerOperand(operand, clause + 1);
      auto op = scf::IfOp::create(builder, location(condition->range), lower(*condition),
                                  /*withElseRegion=*/false);
      builder.setInsertionPointToStart(op.thenBlock());
      lowerOperand(operand, clause + 1);
    });
  }

  /// The right operand is computed only if the left one leaves the result open,
  /// so that `n != 0 && x / n > 1` never divides by 0.
  Value lowerLogical(const ast::BinaryExpr &expr) {
    Location loc = location(expr.range);
    bool isAnd = expr.op == ast::BinaryOp::And;
    Value left = lower(*expr.left);
    if (!mayFail(*expr.right)) {
      Value right = lower(*expr.right);
      if (isAnd)
        return arith::AndIOp::create(builder, loc, left, right);
      return arith::OrIOp::create(builder, loc, left, right);
    }
    auto op = scf::IfOp::create(builder, loc, mlir::TypeRange(builder.getI1Type()), left,
                                /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    mlir::Block *open = isAnd ? op.thenBlock() : op.elseBlock();
    mlir::Block *decided = isAnd ? op.elseBlock() : op.thenBlock();
    builder.setInsertionPointToStart(open);
    Value right = lower(*expr.right);
    scf::YieldOp::create(builder, loc, right);
    builder.setInsertionPointToStart(decided);
    scf::YieldOp::create(builder, loc, truth(!isAnd, loc));
    return op.getResult(0);
  }

  /// True if computing the expression can be an error.
  static bool mayFail(const ast::Expr &expr) {
    if (expr.kind == ast::Expr::Kind::Unary)
      return mayFail(*static_cast<const ast::UnaryExpr &>(expr).operand);
    if (expr.kind == ast::Expr::Kind::Call) {
      const auto &call = static_cast<const ast::CallExpr &>(expr);
      return call.callee.text == "log2" ||
             llvm::any_of(call.arguments, [](const auto &each) { return mayFail(*each); });
    }
    if (expr.kind != ast::Expr::Kind::Binary)
      return false;
    const auto &binary = static_cast<const ast::BinaryExpr &>(expr);
    switch (binary.op) {
    case ast::BinaryOp::ShiftLeft:
    case ast::BinaryOp::ShiftRight:
    case ast::BinaryOp::Divide:
    case ast::BinaryOp::Remainder:
      return true;
    default:
      return mayFail(*binary.left) || mayFail(*binary.right);
    }
  }

  /// Each integer once, at the head of the algorithm, so that the body shows
  /// what it computes.
  Value constant(int64_t value) {
    Value &known = constants[value];
    if (!known) {
      OpBuilder::InsertionGuard guard(builder);
      if (lastConstant)
        builder.setInsertionPointAfter(lastConstant);
      else
        builder.setInsertionPointToStart(constantBlock);
      lastConstant =
          arith::ConstantIndexOp::create(builder, constantBlock->getParentOp()->getLoc(), value);
      known = lastConstant->getResult(0);
    }
    return known;
  }
  Value truth(bool value, Location loc) {
    return arith::ConstantIntOp::create(builder, loc, value, /*width=*/1);
  }

  OpBuilder builder;
  mlir::Type indexType;
  llvm::StringMap<Value> names;
  std::map<int64_t, Value> constants;
  mlir::Block *constantBlock = nullptr;
  mlir::Operation *lastConstant = nullptr;
};

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> lowerToCoil(const ast::File &file, mlir::MLIRContext &context,
                                              DiagnosticEngine &diagnostics) {
  context.loadDialect<ir::CoilDialect, arith::ArithDialect, scf::SCFDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::FileLineColLoc::get(&context, file.source->name(), 1, 1));
  for (const auto &algorithm : file.algorithms)
    Lowering(*module).lower(*algorithm);

  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    diagnostics.error({file.source}, "internal error: the lowered program is not valid: {}",
                      diagnostic.str());
    return mlir::success();
  });
  return mlir::succeeded(mlir::verify(*module)) ? std::move(module) : nullptr;
}

} // namespace coil
