//===- CpuExecutor.cpp - Runs plans on a processor ------------------------===//

#include "runtime/executor/cpu/CpuExecutor.h"

#include <algorithm>

namespace coil::cpu {

namespace {
/// Calls that touch more bytes than this write their results past the caches.
constexpr uint64_t streamingBytes = 4 << 20;
} // namespace

CpuExecutor::CpuExecutor(const Group &group, std::unique_ptr<PreparedPlan> plan)
    : group(group), prepared(std::move(plan)), patience(group),
      buffers(static_cast<size_t>(group.ranks)), sources(prepared->mostOperands()),
      scaled(new std::byte[prepared->mostInputs() * prepared->tileBytes()]) {}

Status CpuExecutor::run(PreparedVariant &variant, const Call &call) {
  size_t elementSize = sizeOf(call.type);
  if (variant.shape.count != call.count || variant.shape.elementSize != elementSize)
    prepared->reshape(variant, call.count, elementSize);
  running.variant = &variant;
  running.call = call;
  running.elementSize = elementSize;
  running.reduce = reduceKernel(call.type, call.op);
  running.scale = call.scalar ? scaleKernel(call.type) : nullptr;
  running.complete.divisor = call.op == ReduceOp::Avg ? static_cast<uint64_t>(group.ranks) : 1;
  running.streaming = call.count * elementSize >= streamingBytes;

  patience.begin(call.sequence);
  for (PreparedWorker &worker : variant.workers)
    start(worker);
  bool idle = false;
  while (true) {
    bool moved = false, finished = true;
    for (PreparedWorker &worker : variant.workers) {
      moved |= advance(worker);
      finished &= worker.section == PreparedWorker::Finished;
    }
    if (!failure.isOk()) [[unlikely]]
      return std::exchange(failure, Status::ok());
    if (finished)
      return Status::ok();
    if (moved) {
      patience.progressed();
      idle = false;
      continue;
    }
    if (!idle) {
      prepared->beforeWait();
      idle = true;
    }
    if (!patience.mayPoll())
      COIL_RETURN_IF_ERROR(patience.rest(*this));
  }
}

void CpuExecutor::start(PreparedWorker &worker) const {
  worker.section = PreparedWorker::Prologue;
  worker.next = worker.begin(PreparedWorker::Prologue);
  worker.tile = 0;
  worker.atBarrier = false;
}

/// Goes on behind the end of a section. False at the end of the program.
bool CpuExecutor::nextSection(PreparedWorker &worker) const {
  switch (worker.section) {
  case PreparedWorker::Prologue:
    worker.section = PreparedWorker::Body;
    break;
  case PreparedWorker::Body:
    if (++worker.tile < running.variant->shape.tiles)
      break;
    worker.section = PreparedWorker::Epilogue;
    break;
  default:
    worker.section = PreparedWorker::Finished;
    return false;
  }
  worker.next = worker.begin(worker.section);
  return true;
}

bool CpuExecutor::advance(PreparedWorker &worker) {
  bool moved = false;
  while (worker.section != PreparedWorker::Finished) {
    if (worker.next == worker.end(worker.section)) {
      // A rank that never has to wait still hears of failures between tiles.
      if (group.mine().poison.isSet()) [[unlikely]] {
        failure = group.mine().poison.status();
        return moved;
      }
      nextSection(worker);
      moved = true;
      continue;
    }
    if (execute(worker, *worker.next) != Step::Done)
      return moved;
    ++worker.next;
    moved = true;
  }
  return moved;
}

CpuExecutor::Step CpuExecutor::execute(PreparedWorker &worker, const PreparedOp &op) {
  switch (op.kind) {
  case OpKind::Copy:
  case OpKind::Put:
  case OpKind::Get:
    copy(op, worker.tile);
    return Step::Done;
  case OpKind::Reduce:
  case OpKind::GetReduce:
    reduce(op, worker.tile);
    return Step::Done;
  case OpKind::Push:
    return push(op, worker.tile);
  case OpKind::Pop:
    return pop(op, worker.tile);
  case OpKind::PopReduce:
    return popReduce(op, worker.tile);
  case OpKind::Signal:
    op.signaller->signal();
    return Step::Done;
  case OpKind::Wait:
    return op.signalled->tryWait() ? Step::Done : Step::Blocked;
  case OpKind::Meet:
    return meet(op);
  case OpKind::Barrier:
    return barrier(worker);
  }
  failure = Status::error(StatusCode::InternalError, "operation {} is unknown",
                          static_cast<int>(op.kind));
  return Step::Failed;
}

uint64_t CpuExecutor::elementsOf(const PreparedOp &op, uint64_t tile) const {
  uint64_t length = running.variant->bounds[op.length].size;
  uint64_t first = std::min(tile * running.variant->shape.tileElements, length);
  return std::min(running.variant->shape.tileElements, length - first);
}

std::byte *CpuExecutor::addressOf(const PreparedPlace &place, uint64_t tile) const {
  if (place.kind == OperandKind::Scratch)
    return place.scratch;
  const ElementRange &chunk = running.variant->bounds[place.chunk];
  uint64_t first = std::min(tile * running.variant->shape.tileElements, chunk.size);
  uint64_t offset =
      (place.segment * running.call.count + chunk.begin + first) * running.elementSize;
  const CallBuffers &owner = buffers[place.rank];
  // Only operands, which are never written, lie in an input.
  return place.kind == OperandKind::Input ? const_cast<std::byte *>(owner.input) + offset
                                          : owner.output + offset;
}

CpuExecutor::Step CpuExecutor::push(const PreparedOp &op, uint64_t tile) {
  if (!op.sender->hasRoom())
    return Step::Blocked;
  uint64_t elements = elementsOf(op, tile);
  size_t bytes = elements * running.elementSize;
  const PreparedPlace &from = op.operands[0];
  std::byte *payload = op.sender->payload(bytes);
  const std::byte *source = addressOf(from, tile);
  if (scales(from))
    running.scale(payload, source, running.call.scalar, elements);
  else
    copyBytes(payload, source, bytes);
  op.sender->send(running.call.fingerprint);
  return Step::Done;
}

CpuExecutor::Step CpuExecutor::pop(const PreparedOp &op, uint64_t tile) {
  const PreparedPlace &from = op.operands[0];
  if (!from.slot->hasMessage())
    return Step::Blocked;
  if (from.slot->fingerprint() != running.call.fingerprint) [[unlikely]]
    return disagreement(from.source);
  size_t bytes = elementsOf(op, tile) * running.elementSize;
  copyBytes(addressOf(op.destination, tile), from.slot->payload(bytes), bytes,
            running.streaming && op.destination.kind == OperandKind::Output);
  from.slot->release(bytes);
  return Step::Done;
}

CpuExecutor::Step CpuExecutor::popReduce(const PreparedOp &op, uint64_t tile) {
  for (uint32_t i = 0; i < op.operandCount; ++i) {
    const PreparedPlace &from = op.operands[i];
    if (from.kind != OperandKind::Slot)
      continue;
    if (!from.slot->hasMessage())
      return Step::Blocked;
    if (from.slot->fingerprint() != running.call.fingerprint) [[unlikely]]
      return disagreement(from.source);
  }
  reduce(op, tile);
  size_t bytes = elementsOf(op, tile) * running.elementSize;
  for (uint32_t i = 0; i < op.operandCount; ++i)
    if (op.operands[i].kind == OperandKind::Slot)
      op.operands[i].slot->release(bytes);
  return Step::Done;
}

void CpuExecutor::reduce(const PreparedOp &op, uint64_t tile) {
  uint64_t elements = elementsOf(op, tile);
  size_t bytes = elements * running.elementSize;
  std::byte *freeScaled = scaled.get();
  for (uint32_t i = 0; i < op.operandCount; ++i) {
    const PreparedPlace &from = op.operands[i];
    sources[i] = operandAddress(from, tile, bytes);
    if (scales(from)) {
      running.scale(freeScaled, sources[i], running.call.scalar, elements);
      sources[i] = freeScaled;
      freeScaled += prepared->tileBytes();
    }
  }
  running.reduce(addressOf(op.destination, tile), sources.data(), op.operandCount, elements,
                 op.complete ? running.complete : ReduceEpilogue{});
}

void CpuExecutor::copy(const PreparedOp &op, uint64_t tile) {
  uint64_t elements = elementsOf(op, tile);
  size_t bytes = elements * running.elementSize;
  const PreparedPlace &from = op.operands[0];
  std::byte *to = addressOf(op.destination, tile);
  const std::byte *source = addressOf(from, tile);
  if (scales(from))
    running.scale(to, source, running.call.scalar, elements);
  else if (to != source)
    copyBytes(to, source, bytes, running.streaming && op.destination.kind == OperandKind::Output);
}

CpuExecutor::Step CpuExecutor::meet(const PreparedOp &op) {
  for (uint32_t i = 0; i < op.operandCount; ++i) {
    uint32_t other = op.operands[i].rank;
    const EntryRecord &record = group.of(static_cast<int>(other)).recordOf(running.call.sequence);
    if (!record.isOf(running.call.sequence))
      return Step::Blocked;
    if (record.fingerprint() != running.call.fingerprint) [[unlikely]]
      return disagreement(other);
  }
  return Step::Done;
}

CpuExecutor::Step CpuExecutor::barrier(PreparedWorker &worker) {
  PreparedVariant &variant = *running.variant;
  if (!worker.atBarrier) {
    uint64_t workers = variant.workers.size();
    worker.atBarrier = true;
    worker.barrierGoal = (variant.barrierArrivals / workers + 1) * workers;
    ++variant.barrierArrivals;
  }
  if (variant.barrierArrivals < worker.barrierGoal)
    return Step::Blocked;
  worker.atBarrier = false;
  return Step::Done;
}

CpuExecutor::Step CpuExecutor::disagreement(uint32_t other) {
  failure = group.checkAgreement(running.call.sequence);
  if (failure.isOk())
    failure = Status::error(
        StatusCode::InvalidUsage,
        "rank {} sent a message that does not belong to call {} ({}) of rank {}", other,
        running.call.sequence,
        coil::describe(group.mine().recordOf(running.call.sequence).arguments()), group.rank);
  return Step::Failed;
}

//===----------------------------------------------------------------------===//
// What the running call waits for
//===----------------------------------------------------------------------===//

bool CpuExecutor::opWaitsFor(const PreparedOp &op, uint32_t rank) const {
  switch (op.kind) {
  case OpKind::Push:
  case OpKind::Wait:
    return op.peer == rank;
  case OpKind::Pop:
  case OpKind::PopReduce:
    return std::any_of(op.operands, op.operands + op.operandCount, [&](const PreparedPlace &from) {
      return from.kind == OperandKind::Slot && from.source == rank && !from.slot->hasMessage();
    });
  case OpKind::Meet:
    return std::any_of(op.operands, op.operands + op.operandCount, [&](const PreparedPlace &met) {
      return met.rank == rank && !group.of(static_cast<int>(rank))
                                      .recordOf(running.call.sequence)
                                      .isOf(running.call.sequence);
    });
  default:
    return false;
  }
}

bool CpuExecutor::waitsFor(int rank) const {
  return std::any_of(running.variant->workers.begin(), running.variant->workers.end(),
                     [&](const PreparedWorker &worker) {
                       return worker.section != PreparedWorker::Finished &&
                              opWaitsFor(*worker.next, static_cast<uint32_t>(rank));
                     });
}

/// The first unfinished worker, better one that waits for another rank.
const PreparedWorker *CpuExecutor::blockedWorker() const {
  const PreparedWorker *blocked = nullptr;
  for (const PreparedWorker &worker : running.variant->workers) {
    if (worker.section == PreparedWorker::Finished)
      continue;
    for (int rank = 0; rank < group.ranks; ++rank)
      if (rank != group.rank && opWaitsFor(*worker.next, static_cast<uint32_t>(rank)))
        return &worker;
    if (!blocked)
      blocked = &worker;
  }
  return blocked;
}

std::string CpuExecutor::describe() const {
  const PreparedWorker *worker = blockedWorker();
  if (!worker)
    return "for nobody";
  const PreparedOp &op = *worker->next;
  std::string whom = "its own workers";
  for (int rank = group.ranks - 1; rank >= 0; --rank)
    if (rank != group.rank && opWaitsFor(op, static_cast<uint32_t>(rank)))
      whom = fmt::format("rank {}", rank);
  return fmt::format("for {} in {}", whom, describe(op));
}

std::string CpuExecutor::describe(const PreparedOp &op) const {
  const std::vector<PlanLocation> &locations = plan().locations;
  if (op.location >= locations.size())
    return nameOf(op.kind);
  const PlanLocation &location = locations[op.location];
  return fmt::format("{} ({}:{}:{})", nameOf(op.kind), location.file, location.line,
                     location.column);
}

std::string CpuExecutor::describeStart(const PreparedVariant &variant) const {
  for (const PreparedWorker &worker : variant.workers)
    if (!worker.ops.empty())
      return describe(worker.ops.front());
  return "an empty program";
}

} // namespace coil::cpu
