//===- Expand.cpp - From a program to its instance ------------------------===//

#include "compiler/semantics/Expand.h"

#include "compiler/semantics/Expander.h"

#include <llvm/ADT/TypeSwitch.h>
#include <llvm/Support/MathExtras.h>
#include <mlir/IR/Builders.h>

using namespace mlir;

namespace coil {

Expander::Expander(ir::AlgorithmOp algorithm, const InstanceRequest &request, Expansion &shared)
    : algorithm(algorithm), request(request), shared(shared),
      evaluator(request.nodes, shared.spent) {}

FailureOr<Instance> Expander::run() {
  bool cuts = false;
  algorithm.walk([&](Operation *op) { cuts |= isa<ir::ApplyOp, ir::ScheduleOp>(op); });
  if (cuts) {
    // How finely chunks are cut depends on what is applied to which view, and on the schedule.
    isMeasuring = true;
    if (failed(runOnce()))
      return failure();
    isMeasuring = false;
    parts = measuredParts * scheduledParts;
    if (parts > maxParts)
      return tooManyParts(algorithm);
  }
  if (failed(runOnce()))
    return failure();
  return std::move(instance);
}

LogicalResult Expander::runOnce() {
  instance = {};
  instance.name = algorithm.getSymName().str();
  instance.collective = *parseCollective(std::string_view(algorithm.getCollective()));
  instance.ranks = request.ranks;
  instance.root = request.root;
  instance.chunks = parts;
  instance.parts = parts;
  promises.clear();
  promisedSources = 0;
  segments = {0, 0};
  evaluator.set(algorithm.getRanks(), instance.ranks);
  if (BlockArgument root = algorithm.getRoot())
    evaluator.set(root, instance.root);
  if (failed(runBlock(algorithm.getBody().front())))
    return failure();
  if (instance.collective == Collective::Custom)
    instance.contract = contractOf();
  return success();
}

LogicalResult Expander::runBlock(Block &block) {
  for (Operation &op : block)
    if (failed(runOp(&op)))
      return failure();
  return success();
}

LogicalResult Expander::runOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ir::ParameterOp, ir::ChunksOp, ir::ScratchOp, ir::ScheduleOp, ir::AssertOp, ir::PlaceOp,
            ir::SendOp, ir::CopyOp, ir::ReduceOp, ir::CombineOp, ir::OperandOp, ir::ExchangeOp,
            ir::ApplyOp, ir::ItemOp, ir::SegmentsOp, ir::EnsuresOp, ir::SourceOp, scf::ForOp,
            scf::IfOp>([&](auto op) { return run(op); })
      .Case([&](scf::YieldOp) { return success(); })
      .Default([&](Operation *op) { return evaluator.compute(op); });
}

//===--------------------------------------------------------------------===//
// Structure
//===--------------------------------------------------------------------===//

LogicalResult Expander::run(ir::ParameterOp op) {
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

LogicalResult Expander::run(ir::ChunksOp op) {
  int64_t chunks = valueOf(op.getCount());
  if (chunks < 1 || chunks > INT32_MAX)
    return op.emitError() << "expected at least 1 chunk, found " << chunks;
  if (chunks > INT32_MAX / parts)
    return tooFine(op);
  instance.chunks = chunks * parts;
  return success();
}

LogicalResult Expander::run(ir::ScratchOp op) {
  int64_t count = valueOf(op.getCount());
  if (count < 0 || count > INT32_MAX)
    return op.emitError() << "expected a number of scratch chunks that is not negative, found "
                          << count;
  if (count > (INT32_MAX - instance.scratchChunks()) / parts)
    return tooFine(op);
  instance.scratch.push_back({op.getName().str(), instance.scratchChunks(), count * parts});
  return success();
}

LogicalResult Expander::run(ir::ScheduleOp op) {
  // An algorithm that is applied is part of its caller's schedule.
  if (shared.depth > 0)
    return success();
  int64_t slices = 1, workers = 1;
  for (auto [value, number, word, most] :
       {std::tuple(op.getSlices(), &slices, "slices", maxParts),
        std::tuple(op.getParallel(), &workers, "parallel workers", maxWorkers)}) {
    if (value)
      *number = valueOf(value);
    if (*number < 1 || *number > most)
      return op.emitError() << "expected 1 to " << most << " " << word << ", found " << *number;
  }
  scheduledParts = slices * workers;
  instance.workers = workers;
  return success();
}

LogicalResult Expander::run(ir::AssertOp op) {
  if (valueOf(op.getCondition()))
    return success();
  return op.emitError() << op.getMessage() << " (with " << instance.ranks << " ranks)";
}

LogicalResult Expander::run(scf::ForOp op) {
  return evaluator.runFor(op, [&](Block &block) { return runBlock(block); });
}

LogicalResult Expander::run(scf::IfOp op) {
  return evaluator.runIf(op, [&](Block &block) { return runBlock(block); });
}

LogicalResult Expander::run(ir::ExchangeOp op) {
  exchange = ++exchanges;
  LogicalResult ran = runBlock(op.getBody().front());
  exchange = 0;
  return ran;
}

//===--------------------------------------------------------------------===//
// Places and moves
//===--------------------------------------------------------------------===//

LogicalResult Expander::run(ir::PlaceOp op) {
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
  FailureOr<BufferRun> run = resolve(op, op.getBuffer(), place.begin, place.count);
  if (failed(run))
    return failure();
  place.buffer = run->buffer;
  place.begin = run->begin;
  place.count *= parts;
  places[op.getPlace()] = place;
  return success();
}

LogicalResult Expander::addStatements(Operation *op, StatementKind kind,
                                      const PlaceRun &destination,
                                      llvm::ArrayRef<PlaceRun> sources) {
  for (const PlaceRun &source : sources)
    if (source.count != destination.count)
      return op->emitError() << "moves " << source.count / parts << " chunk"
                             << (source.count == parts ? "" : "s") << " to a place of "
                             << destination.count / parts;
  if (isMeasuring || (kind == StatementKind::Reduce && sources.empty()))
    return success();
  if (failed(reserve(op, destination.count)))
    return failure();
  LocationIndex location = shared.locations.add(op->getLoc());
  for (int64_t i = 0; i < destination.count; ++i) {
    Statement statement;
    statement.kind = kind;
    statement.destination = {destination.buffer, destination.rank, destination.begin + i};
    statement.firstSource = static_cast<uint32_t>(instance.sources.size());
    statement.sourceCount = static_cast<uint32_t>(sources.size());
    statement.location = location;
    statement.exchange = exchange;
    statement.worker = workerOf(i);
    for (const PlaceRun &source : sources)
      instance.sources.push_back({source.buffer, source.rank, source.begin + i});
    instance.statements.push_back(statement);
  }
  return success();
}

LogicalResult Expander::run(ir::SendOp op) {
  return addStatements(op, StatementKind::Send, places[op.getDestination()],
                       places[op.getSource()]);
}
LogicalResult Expander::run(ir::CopyOp op) {
  return addStatements(op, StatementKind::Copy, places[op.getDestination()],
                       places[op.getSource()]);
}
LogicalResult Expander::run(ir::ReduceOp op) { return runCombining(op, StatementKind::Reduce); }
LogicalResult Expander::run(ir::CombineOp op) { return runCombining(op, StatementKind::Combine); }

template <typename Op> LogicalResult Expander::runCombining(Op op, StatementKind kind) {
  operands.clear();
  if (failed(runBlock(op.getOperandsRegion().front())))
    return failure();
  return addStatements(op, kind, places[op.getDestination()], operands);
}

LogicalResult Expander::run(ir::OperandOp op) {
  operands.push_back(places[op.getPlace()]);
  return success();
}

LogicalResult Expander::reserve(Operation *op, int64_t statements) {
  if (statements > static_cast<int64_t>(maxStatements - shared.spent.statements) ||
      instance.sources.size() > UINT32_MAX / 2)
    return op->emitError() << "the program makes more than " << maxStatements << " moves";
  shared.spent.statements += static_cast<size_t>(statements);
  return success();
}

LogicalResult Expander::tooFine(Operation *op) {
  return op->emitError() << "expected at most " << INT32_MAX
                         << " chunks, each of which is cut into " << parts << " parts";
}

LogicalResult Expander::tooManyParts(Operation *op) {
  return op->emitError() << "chunks would be cut into more than " << maxParts << " parts";
}

FailureOr<BufferRun> Expander::resolve(Operation *op, llvm::StringRef buffer, int64_t begin,
                                       int64_t count) {
  auto outOfRange = [&](int64_t size) {
    return op->emitError() << buffer << "[" << begin << "] is out of range: the buffer has " << size
                           << " chunk" << (size == 1 ? "" : "s");
  };
  BufferRun run;
  if (buffer == "input") {
    run.buffer = InstanceBuffer::Input;
  } else if (buffer == "output") {
    run.buffer = InstanceBuffer::Output;
  } else if (buffer == "data") {
    run.buffer = InstanceBuffer::Data;
  } else {
    run.buffer = InstanceBuffer::Scratch;
    auto it = llvm::find_if(instance.scratch,
                            [&](const ScratchBuffer &scratch) { return scratch.name == buffer; });
    if (it == instance.scratch.end())
      return op->emitError() << "'" << buffer << "' is used before it is declared";
    int64_t size = it->count / parts;
    if (begin < 0 || begin > size - count)
      return outOfRange(size);
    run.begin = it->first + begin * parts;
    return run;
  }
  // The proof says what is out of range; here it must only be possible to count.
  if (count > maxChunks || begin > maxChunks || begin < -maxChunks)
    return op->emitError() << buffer << "[" << begin << "] is out of range";
  run.begin = begin * parts;
  return run;
}

FailureOr<Instance> expand(ir::AlgorithmOp algorithm, const InstanceRequest &request,
                           LocationTable &locations) {
  Expansion shared(locations);
  return Expander(algorithm, request, shared).run();
}

} // namespace coil
