//===- LowerExpr.cpp - Expressions in the coil dialect --------------------===//

#include "compiler/frontend/Lowering.h"

#include "dialect/Coil/Coil.h"

#include <llvm/ADT/STLExtras.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>

#include <limits>

namespace coil {

namespace arith = mlir::arith;
namespace func = mlir::func;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

/// True if computing the expression can be an error.
static bool mayFail(const ast::Expr &expr) {
  if (expr.kind == ast::Expr::Kind::Unary)
    return mayFail(*static_cast<const ast::UnaryExpr &>(expr).operand);
  if (expr.kind == ast::Expr::Kind::Call) {
    const auto &call = static_cast<const ast::CallExpr &>(expr);
    bool isTotal = call.callee.text == "min" || call.callee.text == "max";
    return !isTotal ||
           llvm::any_of(call.arguments, [](const auto &each) { return mayFail(*each); });
  }
  if (expr.kind == ast::Expr::Kind::Conditional || expr.kind == ast::Expr::Kind::Entry ||
      expr.kind == ast::Expr::Kind::Fold)
    return true;
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

Value Lowering::operator()(const ast::UnaryExpr &expr) {
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
Value Lowering::operator()(const ast::BinaryExpr &expr) {
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
Value Lowering::operator()(const ast::BooleanExpr &expr) {
  return truth(expr.value, location(expr.range));
}

Value Lowering::operator()(const ast::NameExpr &expr) {
  if (Value known = names.lookup(expr.name))
    return known;
  // What the language declares is computed where it is first asked for, but at the
  // head of the algorithm, so that it serves every block.
  OpBuilder::InsertionGuard guard(builder);
  Location loc = constantBlock->getParentOp()->getLoc();
  Value nodes = names.lookup("nodes");
  if (!nodes) {
    setInsertionPointToHead();
    nodes = names["nodes"] = ir::NodesOp::create(builder, loc, indexType);
    lastConstant = nodes.getDefiningOp();
  }
  if (expr.name == "nodes")
    return nodes;
  setInsertionPointToHead();
  Value perNode = arith::FloorDivSIOp::create(builder, loc, names.lookup("ranks"), nodes);
  lastConstant = perNode.getDefiningOp();
  return names["ranks_per_node"] = perNode;
}

Value Lowering::operator()(const ast::ConditionalExpr &expr) {
  Location loc = location(expr.range);
  Value condition = lower(*expr.condition);
  // The type of the values is known once the first is lowered.
  mlir::Region whenTrue;
  whenTrue.emplaceBlock();
  Value first;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&whenTrue.front());
    first = lower(*expr.whenTrue);
    scf::YieldOp::create(builder, loc, first);
  }
  auto op = scf::IfOp::create(builder, loc, mlir::TypeRange(first.getType()), condition,
                              /*withElseRegion=*/true);
  op.getThenRegion().takeBody(whenTrue);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.elseBlock());
  Value second = lower(*expr.whenFalse);
  scf::YieldOp::create(builder, loc, second);
  return op.getResult(0);
}

Value Lowering::operator()(const ast::CallExpr &expr) {
  Location loc = location(expr.range);
  llvm::SmallVector<Value> arguments;
  for (const ast::ExprPtr &argument : expr.arguments)
    arguments.push_back(lower(*argument));
  llvm::StringRef name = expr.callee.text;
  if (Value builtin = lowerBuiltin(name, arguments, loc))
    return builtin;
  auto [function, calleeFile] = fileNames.functions.find(expr.callee.text)->second;
  auto callee = module.lookupSymbol<func::FuncOp>(calleeFile->prefix + function->name.text);
  return func::CallOp::create(builder, loc, callee, arguments).getResult(0);
}

Value Lowering::operator()(const ast::EntryExpr &expr) {
  llvm::SmallVector<Value> indices;
  for (const ast::ExprPtr &index : expr.indices)
    indices.push_back(lower(*index));
  return ir::EntryOp::create(builder, location(expr.range), indexType,
                             names.lookup(expr.table.text), indices);
}

Value Lowering::operator()(const ast::FoldExpr &expr) {
  Location loc = location(expr.range);
  if (expr.op == ast::FoldOp::Sum)
    return inClauses(expr.clauses, {constant(0)}, [&](const State &state) -> State {
      return {arith::AddIOp::create(builder, loc, state[0], lower(*expr.value))};
    })[0];
  // The smallest or largest of nothing is an error, so it is kept whether there is any.
  bool isMin = expr.op == ast::FoldOp::Min;
  constexpr int64_t none[] = {std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()};
  State found = inClauses(
      expr.clauses, {constant(none[isMin]), truth(false, loc)}, [&](const State &state) -> State {
        Value value = lower(*expr.value);
        Value best = isMin ? arith::MinSIOp::create(builder, loc, state[0], value).getResult()
                           : arith::MaxSIOp::create(builder, loc, state[0], value).getResult();
        return {best, truth(true, loc)};
      });
  ir::AssertOp::create(
      builder, loc, found[1],
      fmt::format("'{}' is of nothing: its loops have no round", ast::spelling(expr.op)));
  return found[0];
}

Value Lowering::lowerBuiltin(llvm::StringRef name, llvm::ArrayRef<Value> arguments, Location loc) {
  auto subtract = [&](Value left, Value right) -> Value {
    return arith::SubIOp::create(builder, loc, left, right);
  };
  auto modulo = [&](Value left, Value right) -> Value {
    return ir::ModOp::create(builder, loc, indexType, left, right);
  };
  auto word = [&](const char *name) { return (*this)(ast::NameExpr({}, name)); };
  Value first = arguments.empty() ? Value() : arguments.front();
  if (name == "log2")
    return ir::Log2Op::create(builder, loc, indexType, first);
  if (name == "min" || name == "max") {
    for (Value next : arguments.drop_front()) {
      if (name == "min")
        first = arith::MinSIOp::create(builder, loc, first, next);
      else
        first = arith::MaxSIOp::create(builder, loc, first, next);
    }
    return first;
  }
  if (name == "abs")
    return arith::MaxSIOp::create(builder, loc, first, subtract(constant(0), first));
  if (name == "gcd")
    return ir::GcdOp::create(builder, loc, indexType, first, arguments[1]);
  if (name == "ceil_div") {
    Value down =
        arith::FloorDivSIOp::create(builder, loc, subtract(constant(0), first), arguments[1]);
    return subtract(constant(0), down);
  }
  if (name == "is_power_of_two") {
    // At least 1, so that nothing overflows.
    Value positive = arith::MaxSIOp::create(builder, loc, first, constant(1));
    Value rest = arith::AndIOp::create(builder, loc, positive, subtract(positive, constant(1)));
    Value isPower =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, constant(0));
    Value isPositive =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, first, constant(1));
    return arith::AndIOp::create(builder, loc, isPositive, isPower);
  }
  if (name == "node")
    return arith::FloorDivSIOp::create(builder, loc, modulo(first, word("ranks")),
                                       word("ranks_per_node"));
  if (name == "local")
    return modulo(first, word("ranks_per_node"));
  if (name == "rank") {
    Value perNode = word("ranks_per_node");
    Value before = arith::MulIOp::create(builder, loc, modulo(first, word("nodes")), perNode);
    return arith::AddIOp::create(builder, loc, before, modulo(arguments[1], perNode));
  }
  return Value();
}

Value Lowering::lowerLogical(const ast::BinaryExpr &expr) {
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

void Lowering::setInsertionPointToHead() {
  if (lastConstant)
    builder.setInsertionPointAfter(lastConstant);
  else
    builder.setInsertionPointToStart(constantBlock);
}

Value Lowering::constant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    setInsertionPointToHead();
    lastConstant =
        arith::ConstantIndexOp::create(builder, constantBlock->getParentOp()->getLoc(), value);
    known = lastConstant->getResult(0);
  }
  return known;
}

Value Lowering::truth(bool value, Location loc) {
  return arith::ConstantIntOp::create(builder, loc, value, /*width=*/1);
}

} // namespace coil
