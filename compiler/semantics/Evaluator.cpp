//===- Evaluator.cpp - Computes a program's integers ----------------------===//

#include "compiler/semantics/Evaluator.h"

#include "compiler/semantics/Expand.h"
#include "dialect/Coil/Coil.h"

#include <llvm/ADT/TypeSwitch.h>
#include <llvm/Support/MathExtras.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <numeric>

using namespace mlir;

namespace coil {

static bool add(int64_t a, int64_t b, int64_t &value) { return llvm::AddOverflow(a, b, value); }
static bool subtract(int64_t a, int64_t b, int64_t &value) {
  return llvm::SubOverflow(a, b, value);
}
static bool multiply(int64_t a, int64_t b, int64_t &value) {
  return llvm::MulOverflow(a, b, value);
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  return false;
}

static LogicalResult overflow(Operation *op, int64_t a, int64_t b) {
  return op->emitError() << "the result for " << a << " and " << b << " does not fit in 64 bits";
}

template <bool (*Operate)(int64_t, int64_t, int64_t &)>
LogicalResult Evaluator::checked(Operation *op) {
  int64_t a = valueOf(op->getOperand(0)), b = valueOf(op->getOperand(1)), value;
  if (Operate(a, b, value))
    return overflow(op, a, b);
  set(op->getResult(0), value);
  return success();
}

LogicalResult Evaluator::divide(Operation *op, bool remainder) {
  int64_t a = valueOf(op->getOperand(0)), b = valueOf(op->getOperand(1));
  if (b == 0)
    return op->emitError() << "division of " << a << " by zero";
  if (b == -1) {
    if (a == INT64_MIN && !remainder)
      return overflow(op, a, b);
    values[op->getResult(0)] = remainder ? 0 : -a;
    return success();
  }
  int64_t quotient = a / b, rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) {
    quotient -= 1;
    rest += b;
  }
  values[op->getResult(0)] = remainder ? rest : quotient;
  return success();
}

LogicalResult Evaluator::shift(Operation *op, bool left) {
  int64_t a = valueOf(op->getOperand(0)), b = valueOf(op->getOperand(1));
  if (b < 0 || b > 63)
    return op->emitError() << "shift of " << a << " by " << b << "; expected 0 to 63";
  if (!left) {
    values[op->getResult(0)] = a >> b;
    return success();
  }
  int64_t shifted = static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  if (shifted >> b != a)
    return overflow(op, a, b);
  values[op->getResult(0)] = shifted;
  return success();
}

LogicalResult Evaluator::logarithm(Operation *op) {
  int64_t value = valueOf(op->getOperand(0));
  if (value < 1)
    return op->emitError() << "logarithm of " << value << "; expected at least 1";
  set(op->getResult(0), llvm::Log2_64(static_cast<uint64_t>(value)));
  return success();
}

LogicalResult Evaluator::greatestDivisor(Operation *op) {
  int64_t a = valueOf(op->getOperand(0)), b = valueOf(op->getOperand(1));
  if (a == INT64_MIN || b == INT64_MIN)
    return overflow(op, a, b);
  set(op->getResult(0), std::gcd(a, b));
  return success();
}

LogicalResult Evaluator::entry(Operation *op) {
  auto entry = cast<ir::EntryOp>(op);
  auto table = entry.getTable().getDefiningOp<ir::TableOp>();
  int64_t position = 0;
  for (auto [length, index] : llvm::zip_equal(table.getShape(), entry.getIndices())) {
    int64_t value = valueOf(index);
    if (value < 0 || value >= length)
      return op->emitError() << "the index of a table is " << value << "; expected 0 to "
                             << length - 1;
    position = position * length + value;
  }
  set(op->getResult(0), valueOf(table.getEntries()[static_cast<unsigned>(position)]));
  return success();
}

LogicalResult Evaluator::compute(Operation *op) {
  // A table's entries are values of their own.
  if (isa<ir::TableOp>(op))
    return success();
  if (!llvm::all_of(op->getResultTypes(), isNumber))
    return op->emitError() << "expected a result of type index or i1";
  auto operand = [&](unsigned i) { return valueOf(op->getOperand(i)); };
  auto set = [&](int64_t value) {
    values[op->getResult(0)] = value;
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp constant) -> LogicalResult {
        auto integer = dyn_cast<IntegerAttr>(constant.getValue());
        if (!integer)
          return op->emitError() << "expected an integer constant";
        // i1 true reads as -1 with its sign.
        return set(integer.getType().isInteger(1) ? integer.getValue().getZExtValue()
                                                  : integer.getValue().getSExtValue());
      })
      .Case([&](arith::AddIOp) { return checked<add>(op); })
      .Case([&](arith::SubIOp) { return checked<subtract>(op); })
      .Case([&](arith::MulIOp) { return checked<multiply>(op); })
      .Case([&](arith::FloorDivSIOp) { return divide(op, /*remainder=*/false); })
      .Case([&](ir::ModOp) { return divide(op, /*remainder=*/true); })
      .Case([&](ir::Log2Op) { return logarithm(op); })
      .Case([&](ir::GcdOp) { return greatestDivisor(op); })
      .Case([&](ir::EntryOp) { return entry(op); })
      .Case([&](ir::NodesOp) { return set(nodes); })
      .Case([&](func::CallOp call) { return this->call(call); })
      .Case([&](arith::ShLIOp) { return shift(op, /*left=*/true); })
      .Case([&](arith::ShRSIOp) { return shift(op, /*left=*/false); })
      .Case([&](arith::AndIOp) { return set(operand(0) & operand(1)); })
      .Case([&](arith::OrIOp) { return set(operand(0) | operand(1)); })
      .Case([&](arith::XOrIOp) { return set(operand(0) ^ operand(1)); })
      .Case([&](arith::MinSIOp) { return set(std::min(operand(0), operand(1))); })
      .Case([&](arith::MaxSIOp) { return set(std::max(operand(0), operand(1))); })
      .Case([&](arith::SelectOp) { return set(operand(0) ? operand(1) : operand(2)); })
      .Case([&](arith::CmpIOp cmp) {
        return set(compare(cmp.getPredicate(), operand(0), operand(1)));
      })
      .Default([&](Operation *) {
        return op->emitError() << "is not an operation of a coil.algorithm";
      });
}

LogicalResult Evaluator::runIf(scf::IfOp op, llvm::function_ref<LogicalResult(Block &)> runBlock) {
  if (!llvm::all_of(op.getResultTypes(), isNumber))
    return op.emitError() << "expected results of type index or i1";
  Region &region = valueOf(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  if (failed(runBlock(region.front())))
    return failure();
  if (auto yield = dyn_cast<scf::YieldOp>(region.front().back()))
    for (auto [outer, inner] : llvm::zip_equal(op.getResults(), yield.getOperands()))
      set(outer, valueOf(inner));
  return success();
}

LogicalResult Evaluator::runFor(scf::ForOp op,
                                llvm::function_ref<LogicalResult(Block &)> runBlock) {
  int64_t begin = valueOf(op.getLowerBound()), end = valueOf(op.getUpperBound());
  int64_t step = valueOf(op.getStep());
  if (step < 1)
    return op.emitError() << "expected a step of at least 1, found " << step;
  if (!op.getInductionVar().getType().isIndex() || !llvm::all_of(op.getResultTypes(), isNumber))
    return op.emitError() << "expected a loop over index values, with results of type index or i1";
  llvm::SmallVector<int64_t> state;
  for (Value first : op.getInitArgs())
    state.push_back(valueOf(first));
  for (int64_t i = begin; i < end;) {
    if (++spent.iterations > maxIterations)
      return op.emitError() << "the program takes more than " << maxIterations
                            << " loop iterations";
    set(op.getInductionVar(), i);
    for (auto [argument, value] : llvm::zip_equal(op.getRegionIterArgs(), state))
      set(argument, value);
    if (failed(runBlock(*op.getBody())))
      return failure();
    for (auto [value, next] : llvm::zip_equal(state, op.getBody()->getTerminator()->getOperands()))
      value = valueOf(next);
    if (llvm::AddOverflow(i, step, i))
      break;
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), state))
    set(result, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static LogicalResult callError(func::CallOp op, const char *message, size_t limit) {
  return op.emitError() << message << limit << " in a call of '" << op.getCallee() << "'";
}

LogicalResult Evaluator::call(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee || callee.isDeclaration() || !callee.getBody().hasOneBlock() ||
      op.getNumResults() != 1)
    return op.emitError() << "expected a function with a body of one block and one result";
  if (++spent.calls > maxCalls)
    return callError(op, "function calls are more than ", maxCalls);
  if (spent.callDepth == maxCallDepth)
    return callError(op, "function calls nest deeper than ", maxCallDepth);

  Block &body = callee.getBody().front();
  llvm::DenseMap<Value, int64_t> frame;
  for (auto [parameter, argument] : llvm::zip_equal(body.getArguments(), op.getOperands()))
    frame[parameter] = valueOf(argument);
  std::swap(values, frame);
  ++spent.callDepth;
  LogicalResult ran = runFunction(op, body);
  --spent.callDepth;
  std::swap(values, frame);
  if (failed(ran))
    return failure();
  auto result = cast<func::ReturnOp>(body.getTerminator());
  set(op.getResult(0), frame.lookup(result.getOperand(0)));
  return success();
}

LogicalResult Evaluator::runFunction(func::CallOp op, Block &block) {
  if (spent.levels == maxFunctionLevels)
    return callError(op, "function calls and conditions nest deeper than ", maxFunctionLevels);
  ++spent.levels;
  LogicalResult ran = success();
  for (Operation &each : block) {
    if (isa<func::ReturnOp, scf::YieldOp>(each))
      break;
    if (auto condition = dyn_cast<scf::IfOp>(each))
      ran = runIf(condition, [&](Block &inner) { return runFunction(op, inner); });
    else if (auto loop = dyn_cast<scf::ForOp>(each))
      ran = runFor(loop, [&](Block &inner) { return runFunction(op, inner); });
    else if (auto assertion = dyn_cast<ir::AssertOp>(each))
      ran = valueOf(assertion.getCondition())
                ? success()
                : LogicalResult(each.emitError() << assertion.getMessage());
    else if (auto inner = dyn_cast<func::CallOp>(each))
      ran = call(inner);
    else
      ran = compute(&each);
    if (failed(ran))
      break;
  }
  --spent.levels;
  return ran;
}

} // namespace coil
