//===- Expand.cpp - From a program to its instance ------------------------===//

#include "compiler/semantics/Expand.h"

#include "compiler/semantics/Evaluator.h"

#include <llvm/ADT/TypeSwitch.h>
#include <llvm/Support/MathExtras.h>
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
  Expander(ir::AlgorithmOp algorithm, const InstanceRequest &request, Spending &spent,
           LocationTable &locations)
      : algorithm(algorithm), request(request), spent(spent), locations(locations),
        evaluator(request.nodes, spent) {
    instance.name = algorithm.getSymName().str();
    instance.collective = *parseCollective(std::string_view(algorithm.getCollective()));
    instance.ranks = request.ranks;
    instance.root = request.root;
  }

  FailureOr<Instance> run() {
    evaluator.set(algorithm.getRanks(), instance.ranks);
    if (BlockArgument root = algorithm.getRoot())
      evaluator.set(root, instance.root);
    if (failed(runBlock(algorithm.getBody().front())))
      return failure();
    return std::move(instance);
  }

private:
  int64_t valueOf(Value value) const { return evaluator.valueOf(value); }

  LogicalResult runBlock(Block &block) {
    for (Operation &op : block)
      if (failed(runOp(&op)))
        return failure();
    return success();
  }

  LogicalResult runOp(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<ir::ParameterOp, ir::ChunksOp, ir::ScratchOp, ir::AssertOp, ir::PlaceOp, ir::SendOp,
              ir::CopyOp, ir::ReduceOp, ir::CombineOp, ir::OperandOp, ir::ExchangeOp, scf::ForOp,
              scf::IfOp>([&](auto op) { return run(op); })
        .Case([&](scf::YieldOp) { return success(); })
        .Default([&](Operation *op) { return evaluator.compute(op); });
  }

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  LogicalResult run(ir::ParameterOp op) {
    auto given = request.parameters.find(op.getName().str());
    bool isGiven = given != request.parameters.end();
    if (!isGiven && !op.getValue())
      return op.emitError() << "parameter '" << op.getName()
                            << "' has no default: expected a value for it";
    int64_t value = isGiven ? given->second : valueOf(op.getValue());
    if (op.getLow()) {
      int64_t low = valueOf(op.getLow()), high = valueOf(op.getHigh());
      if (low >= high)
        return op.emitError() << "the range of parameter '" << op.getName()
                              << "' holds nothing: it begins at " << low << " and ends at " << high;
      if (value < low || value >= high)
        return op.emitError() << "parameter '" << op.getName() << "' is " << value << "; expected "
                              << low << " to " << high - 1;
    }
    evaluator.set(op.getResult(), value);
    return success();
  }

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
      if (++spent.iterations > maxIterations)
        return op.emitError() << "the program takes more than " << maxIterations
                              << " loop iterations";
      evaluator.set(op.getInductionVar(), i);
      if (failed(runBlock(*op.getBody())))
        return failure();
      if (llvm::AddOverflow(i, step, i))
        break;
    }
    return success();
  }

  LogicalResult run(scf::IfOp op) {
    return evaluator.runIf(op, [&](Block &block) { return runBlock(block); });
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
    if (destination.count > static_cast<int64_t>(maxStatements - spent.statements) ||
        instance.sources.size() > UINT32_MAX / 2)
      return op->emitError() << "the program makes more than " << maxStatements << " moves";
    spent.statements += static_cast<size_t>(destination.count);
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

  ir::AlgorithmOp algorithm;
  const InstanceRequest &request;
  Spending &spent;
  LocationTable &locations;
  Instance instance;
  Evaluator evaluator;
  llvm::DenseMap<Value, PlaceRun> places;
  llvm::SmallVector<PlaceRun> operands;
  uint32_t exchange = 0, exchanges = 0;
};

} // namespace

FailureOr<Instance> expand(ir::AlgorithmOp algorithm, const InstanceRequest &request,
                           LocationTable &locations) {
  Spending spent;
  return Expander(algorithm, request, spent, locations).run();
}

} // namespace coil
