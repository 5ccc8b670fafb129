//===- Expand.cpp - From a program to its instance ------------------------===//

#include "compiler/semantics/Expand.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/TypeSwitch.h>
#include <llvm/Support/MathExtras.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Builders.h>

using namespace mlir;

namespace coil {

namespace {

/// A `!coil.place` with its numbers known.
struct PlaceRun {
  InstanceBuffer buffer;
  int32_t rank;
  int64_t begin, count;
};

class Expander {
public:
  Expander(ir::AlgorithmOp algorithm, int64_t ranks, int64_t root, LocationTable &locations)
      : algorithm(algorithm), locations(locations) {
    instance.name = algorithm.getSymName().str();
    instance.collective = *parseCollective(std::string_view(algorithm.getCollective()));
    instance.ranks = ranks;
    instance.root = root;
  }

  FailureOr<Instance> run() {
    values[algorithm.getRanks()] = instance.ranks;
    if (BlockArgument root = algorithm.getRoot())
      values[root] = instance.root;
    if (failed(runBlock(algorithm.getBody().front())))
      return failure();
    return std::move(instance);
  }

private:
  int64_t valueOf(Value value) const { return values.lookup(value); }

  LogicalResult runBlock(Block &block) {
    for (Operation &op : block)
      if (failed(runOp(&op)))
        return failure();
    return success();
  }

  LogicalResult runOp(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<ir::ChunksOp, ir::ScratchOp, ir::AssertOp, ir::PlaceOp, ir::SendOp, ir::CopyOp,
              ir::ReduceOp, ir::CombineOp, ir::OperandOp, ir::ExchangeOp, scf::ForOp, scf::IfOp>(
            [&](auto op) { return run(op); })
        .Case([&](scf::YieldOp) { return success(); })
        .Default([&](Operation *op) { return compute(op); });
  }

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  LogicalResult run(ir::ChunksOp op) {
    int64_t chunks = valueOf(op.getCount());
    if (chunks < 1 || chunks > INT32_MAX)
      return op.emitError() << "expected at least 1 chunk, found " << chunks;
    instance.chunks = chunks;
    return success();
  }

  LogicalResult run(ir::ScratchOp op) {
    int64_t count = valueOf(op.getCount());
    if (count < 0 || count > INT32_MAX)
      return op.emitError() << "expected a number of scratch chunks that is not negative, found "
                            << count;
    instance.scratch.push_back({op.getName().str(), instance.scratchChunks(), count});
    return success();
  }

  LogicalResult run(ir::AssertOp op) {
    if (valueOf(op.getCondition()))
      return success();
    return op.emitError() << op.getMessage() << " (with " << instance.ranks << " ranks)";
  }

  LogicalResult run(scf::ForOp op) {
    int64_t begin = valueOf(op.getLowerBound()), end = valueOf(op.getUpperBound());
    int64_t step = valueOf(op.getStep());
    if (step < 1)
      return op.emitError() << "expected a step of at least 1, found " << step;
    if (op.getNumResults() != 0)
      return op.emitError() << "expected a loop without results";
    if (!op.getInductionVar().getType().isIndex())
      return op.emitError() << "expected a loop over index values";
    for (int64_t i = begin; i < end;) {
      if (++iterations > maxIterations)
        return op.emitError() << "the program takes more than " << maxIterations
                              << " loop iterations";
      values[op.getInductionVar()] = i;
      if (failed(runBlock(*op.getBody())))
        return failure();
      if (llvm::AddOverflow(i, step, i))
        break;
    }
    return success();
  }

  LogicalResult run(scf::IfOp op) {
    if (!llvm::all_of(op.getResultTypes(), isNumber))
      return op.emitError() << "expected results of type index or i1";
    bool taken = valueOf(op.getCondition());
    Region &region = taken ? op.getThenRegion() : op.getElseRegion();
    if (region.empty())
      return success();
    if (failed(runBlock(region.front())))
      return failure();
    if (auto yield = dyn_cast<scf::YieldOp>(region.front().back()))
      for (auto [outer, inner] : llvm::zip_equal(op.getResults(), yield.getOperands()))
        values[outer] = valueOf(inner);
    return success();
  }

  LogicalResult run(ir::ExchangeOp op) {
    exchange = ++exchanges;
    LogicalResult ran = runBlock(op.getBody().front());
    exchange = 0;
    return ran;
  }

  //===--------------------------------------------------------------------===//
  // Places and moves
  //===--------------------------------------------------------------------===//

  LogicalResult run(ir::PlaceOp op) {
    PlaceRun place;
    int64_t ranks = instance.ranks;
    int64_t rank = valueOf(op.getRank()) % ranks;
    place.rank = static_cast<int32_t>(rank < 0 ? rank + ranks : rank);
    place.begin = valueOf(op.getBegin());
    int64_t end;
    if (op.getEnd())
      end = valueOf(op.getEnd());
    else if (llvm::AddOverflow(place.begin, int64_t(1), end))
      return op.emitError() << "chunk " << place.begin << " is out of range";
    if (end < place.begin)
      return op.emitError() << "the run of chunks ends at " << end << ", before its begin "
                            << place.begin;
    if (llvm::SubOverflow(end, place.begin, place.count))
      return op.emitError() << "the run of chunks is too long";
    llvm::StringRef buffer = op.getBuffer();
    if (buffer == "input") {
      place.buffer = InstanceBuffer::Input;
    } else if (buffer == "output") {
      place.buffer = InstanceBuffer::Output;
    } else if (buffer == "data") {
      place.buffer = InstanceBuffer::Data;
    } else {
      place.buffer = InstanceBuffer::Scratch;
      auto it = llvm::find_if(instance.scratch,
                              [&](const ScratchBuffer &scratch) { return scratch.name == buffer; });
      if (it == instance.scratch.end())
        return op.emitError() << "'" << buffer << "' is used before it is declared";
      if (place.begin < 0 || end > it->count)
        return op.emitError() << buffer << "[" << place.begin << "] on rank " << place.rank
                              << " is out of range: the buffer has " << it->count << " chunk"
                              << (it->count == 1 ? "" : "s");
      place.begin += it->first;
    }
    places[op.getPlace()] = place;
    return success();
  }

  LogicalResult addStatements(Operation *op, StatementKind kind, const PlaceRun &destination,
                              llvm::ArrayRef<PlaceRun> sources) {
    for (const PlaceRun &source : sources)
      if (source.count != destination.count)
        return op->emitError() << "moves " << source.count << " chunk"
                               << (source.count == 1 ? "" : "s") << " to a place of "
                               << destination.count;
    if (kind == StatementKind::Reduce && sources.empty())
      return success();
    if (destination.count > static_cast<int64_t>(maxStatements - instance.statements.size()) ||
        instance.sources.size() > UINT32_MAX / 2)
      return op->emitError() << "the program makes more than " << maxStatements << " moves";
    LocationIndex location = locations.add(op->getLoc());
    for (int64_t i = 0; i < destination.count; ++i) {
      Statement statement;
      statement.kind = kind;
      statement.destination = {destination.buffer, destination.rank, destination.begin + i};
      statement.firstSource = static_cast<uint32_t>(instance.sources.size());
      statement.sourceCount = static_cast<uint32_t>(sources.size());
      statement.location = location;
      statement.exchange = exchange;
      for (const PlaceRun &source : sources)
        instance.sources.push_back({source.buffer, source.rank, source.begin + i});
      instance.statements.push_back(statement);
    }
    return success();
  }

  LogicalResult run(ir::SendOp op) {
    return addStatements(op, StatementKind::Send, places[op.getDestination()],
                         places[op.getSource()]);
  }
  LogicalResult run(ir::CopyOp op) {
    return addStatements(op, StatementKind::Copy, places[op.getDestination()],
                         places[op.getSource()]);
  }
  LogicalResult run(ir::ReduceOp op) { return runCombining(op, StatementKind::Reduce); }
  LogicalResult run(ir::CombineOp op) { return runCombining(op, StatementKind::Combine); }

  template <typename Op> LogicalResult runCombining(Op op, StatementKind kind) {
    operands.clear();
    if (failed(runBlock(op.getOperandsRegion().front())))
      return failure();
    return addStatements(op, kind, places[op.getDestination()], operands);
  }

  LogicalResult run(ir::OperandOp op) {
    operands.push_back(places[op.getPlace()]);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Integers
  //===--------------------------------------------------------------------===//

  LogicalResult overflow(Operation *op, int64_t a, int64_t b) {
    return op->emitError() << "the result for " << a << " and " << b << " does not fit in 64 bits";
  }

  template <bool (*Operate)(int64_t, int64_t, int64_t &)> LogicalResult checked(Operation *op) {
    int64_t a = valueOf(op->getOperand(0)), b = valueOf(op->getOperand(1)), value;
    if (Operate(a, b, value))
      return overflow(op, a, b);
    values[op->getResult(0)] = value;
    return success();
  }
  static bool add(int64_t a, int64_t b, int64_t &value) { return llvm::AddOverflow(a, b, value); }
  static bool subtract(int64_t a, int64_t b, int64_t &value) {
    return llvm::SubOverflow(a, b, value);
  }
  static bool multiply(int64_t a, int64_t b, int64_t &value) {
    return llvm::MulOverflow(a, b, value);
  }

  LogicalResult divide(Operation *op, bool remainder) {
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

  LogicalResult shift(Operation *op, bool left) {
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

  LogicalResult logarithm(ir::Log2Op op) {
    int64_t value = valueOf(op.getValue());
    if (value < 1)
      return op.emitError() << "logarithm of " << value << "; expected at least 1";
    values[op.getResult()] = llvm::Log2_64(static_cast<uint64_t>(value));
    return success();
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

  /// Integers are 64 bits wide; other widths would overflow elsewhere.
  static bool isNumber(Type type) { return type.isIndex() || type.isInteger(1); }

  LogicalResult compute(Operation *op) {
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
        .Case([&](ir::Log2Op log) { return logarithm(log); })
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

  ir::AlgorithmOp algorithm;
  LocationTable &locations;
  Instance instance;
  llvm::DenseMap<Value, int64_t> values;
  llvm::DenseMap<Value, PlaceRun> places;
  llvm::SmallVector<PlaceRun> operands;
  uint32_t exchange = 0, exchanges = 0;
  size_t iterations = 0;
};

} // namespace

FailureOr<Instance> expand(ir::AlgorithmOp algorithm, int64_t ranks, int64_t root,
                           LocationTable &locations) {
  return Expander(algorithm, ranks, root, locations).run();
}

} // namespace coil
