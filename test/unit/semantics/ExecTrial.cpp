//===- ExecTrial.cpp - A program that is run, not reasoned about ----------===//

#include "test/unit/semantics/ExecTrial.h"

#include <algorithm>
#include <fmt/format.h>

namespace coil {

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

ExecTrial::ExecTrial(const ExecPlan &plan, bool inPlace, int tiles, int calls)
    : plan(plan), variant(plan.variants.front()), inPlace(inPlace), tiles(tiles), calls(calls) {
  for (int64_t rank = 0; rank < plan.ranks; ++rank)
    addRank(rank);
}

size_t ExecTrial::events() const {
  size_t count = 0;
  for (const auto &thread : threads)
    count += thread.size();
  return count;
}

size_t ExecTrial::chunkNumber(int64_t rank, ExecBuffer buffer, int64_t index, int tile) {
  if (buffer == ExecBuffer::Input && inPlace) {
    if (auto output = sharedOutput(rank, index)) {
      buffer = ExecBuffer::Output;
      index = *output;
    }
  }
  if (buffer == ExecBuffer::Scratch)
    tile = 0;
  return numbers.try_emplace({rank, buffer, index, tile}, numbers.size()).first->second;
}

std::optional<int64_t> ExecTrial::sharedOutput(int64_t rank, int64_t index) const {
  int64_t chunks = plan.chunks;
  switch (plan.collective) {
  case Collective::AllReduce:
    return index;
  case Collective::AllGather:
    return rank * chunks + index;
  case Collective::ReduceScatter:
    return index / chunks == rank ? std::optional(index % chunks) : std::nullopt;
  case Collective::Broadcast:
  case Collective::Reduce:
    return rank == variant.root ? std::optional(index) : std::nullopt;
  case Collective::Gather:
    return rank == variant.root ? std::optional(rank * chunks + index) : std::nullopt;
  case Collective::Scatter:
    return rank == variant.root && index / chunks == rank ? std::optional(index % chunks)
                                                          : std::nullopt;
  default:
    return std::nullopt;
  }
}

int64_t ExecTrial::inputChunks() const {
  return segmentCounts(plan.collective, plan.ranks).input * plan.chunks;
}

int64_t ExecTrial::outputChunks() const {
  return segmentCounts(plan.collective, plan.ranks).output * plan.chunks;
}

/// The input chunks that output chunk `index` of a rank must be made of, as
/// (rank, chunk); none if nothing is promised.
std::vector<std::pair<int64_t, int64_t>> ExecTrial::promised(int64_t rank, int64_t index) const {
  std::vector<std::pair<int64_t, int64_t>> sources;
  for (int64_t source = 0; source < plan.ranks; ++source) {
    bool fromSegment = index / plan.chunks == source;
    switch (plan.collective) {
    case Collective::AllReduce:
      sources.push_back({source, index});
      break;
    case Collective::Reduce:
      if (rank == variant.root)
        sources.push_back({source, index});
      break;
    case Collective::ReduceScatter:
      sources.push_back({source, rank * plan.chunks + index});
      break;
    case Collective::Gather:
      if (rank != variant.root)
        break;
      [[fallthrough]];
    case Collective::AllGather:
      if (fromSegment)
        sources.push_back({source, index % plan.chunks});
      break;
    case Collective::AllToAll:
      if (fromSegment)
        sources.push_back({source, rank * plan.chunks + index % plan.chunks});
      break;
    case Collective::Broadcast:
      if (source == variant.root)
        sources.push_back({source, index});
      break;
    case Collective::Scatter:
      if (source == variant.root)
        sources.push_back({source, rank * plan.chunks + index});
      break;
    case Collective::SendRecv:
      if ((source + 1) % plan.ranks == rank)
        sources.push_back({source, index});
      break;
    default:
      break;
    }
  }
  return sources;
}

void ExecTrial::addRank(int64_t rank) {
  gates.push_back(threads.size());
  std::vector<TrialEvent> gate;
  for (int call = 0; call < calls; ++call) {
    TrialEvent enter{TrialEventKind::Enter, rank, call}, leave{TrialEventKind::Leave, rank, call};
    for (int tile = 0; tile < tiles; ++tile) {
      for (int64_t index = 0; index < inputChunks(); ++index)
        enter.writes.push_back(chunkNumber(rank, ExecBuffer::Input, index, tile));
      for (int64_t index = 0; index < outputChunks(); ++index) {
        enter.writes.push_back(chunkNumber(rank, ExecBuffer::Output, index, tile));
        leave.reads.push_back(chunkNumber(rank, ExecBuffer::Output, index, tile));
      }
    }
    gate.push_back(enter);
    gate.push_back(leave);
  }
  threads.push_back(std::move(gate));
  for (const ExecWorker &worker : variant.programs[static_cast<size_t>(rank)]) {
    std::vector<TrialEvent> thread;
    size_t barriers = 0;
    for (int call = 0; call < calls; ++call) {
      addSection(thread, worker.prologue, rank, call, 0, barriers);
      for (int tile = 0; tile < tiles; ++tile)
        addSection(thread, worker.body, rank, call, tile, barriers);
      addSection(thread, worker.epilogue, rank, call, 0, barriers);
    }
    threads.push_back(std::move(thread));
  }
}

static bool hasDestination(const ExecOp &op) {
  return !op.operands.empty() && op.kind != ExecOpKind::Send && op.kind != ExecOpKind::Push;
}

void ExecTrial::addSection(std::vector<TrialEvent> &thread, const std::vector<ExecOp> &ops,
                           int64_t rank, int call, int tile, size_t &barriers) {
  for (const ExecOp &op : ops) {
    TrialEvent event{TrialEventKind::Operation, rank, call, tile, &op};
    if (op.kind == ExecOpKind::Barrier) {
      event.kind = TrialEventKind::Arrive;
      event.barrier = barriers++;
      thread.push_back(event);
      event.kind = TrialEventKind::Pass;
    }
    for (const ExecOperand &operand : op.operands)
      if (!operand.isHead)
        addAccess(event, operand.place, /*isWrite=*/false);
    if (hasDestination(op)) {
      addAccess(event, op.destination, /*isWrite=*/true);
      if (op.destination.buffer == ExecBuffer::Input)
        fault = "writes the input";
    }
    thread.push_back(event);
  }
}

void ExecTrial::addAccess(TrialEvent &event, const ExecPlace &place, bool isWrite) {
  (isWrite ? event.writes : event.reads)
      .push_back(chunkNumber(place.rank, place.buffer, place.index, event.tile));
  if (place.rank != event.rank)
    event.visits.insert(place.rank);
  bool isOffRoot = place.rank != variant.root;
  bool rootSends =
      plan.collective == Collective::Broadcast || plan.collective == Collective::Scatter;
  if (isOffRoot && rootSends && place.buffer == ExecBuffer::Input)
    fault = "uses an input that is not there";
  bool rootReceives =
      plan.collective == Collective::Reduce || plan.collective == Collective::Gather;
  if (isOffRoot && rootReceives && place.buffer == ExecBuffer::Output)
    fault = "uses an output that is not there";
}

bool ExecTrial::isBalanced() const {
  // Per section and channel: data that comes less data that goes, and signals.
  std::map<std::pair<int, uint32_t>, std::pair<int64_t, int64_t>> balance;
  for (const auto &program : variant.programs) {
    std::set<std::vector<int64_t>> barriers;
    for (const ExecWorker &worker : program) {
      std::vector<int64_t> counts;
      int section = 0;
      for (const auto *ops : {&worker.prologue, &worker.body, &worker.epilogue}) {
        counts.push_back(0);
        for (const ExecOp &op : *ops) {
          counts.back() += op.kind == ExecOpKind::Barrier;
          auto &[data, signals] = balance[{section, op.channel}];
          data += op.kind == ExecOpKind::Send || op.kind == ExecOpKind::Push;
          signals += (op.kind == ExecOpKind::Signal) - (op.kind == ExecOpKind::Wait);
          for (const ExecOperand &operand : op.operands)
            if (operand.isHead)
              --balance[{section, operand.channel}].first;
        }
        ++section;
      }
      barriers.insert(counts);
    }
    if (barriers.size() > 1)
      return false;
  }
  return std::ranges::all_of(
      balance, [](const auto &entry) { return entry.second == std::pair<int64_t, int64_t>(0, 0); });
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

TrialRun::TrialRun(const ExecTrial &trial, bool onValues) : trial(trial), onValues(onValues) {
  next.resize(trial.threads.size());
  sent.resize(trial.variant.channels.size());
  received = signals = waits = sent;
  entered.resize(static_cast<size_t>(trial.plan.ranks));
  left = entered;
  arrived.resize(static_cast<size_t>(trial.plan.ranks));
  if (onValues) {
    memory.resize(trial.chunks());
    messages.resize(trial.variant.channels.size());
  }
}

bool TrialRun::canStep(size_t thread) const {
  if (next[thread] == trial.threads[thread].size())
    return false;
  const TrialEvent &event = trial.threads[thread][next[thread]];
  auto rank = static_cast<size_t>(event.rank);
  size_t workers = trial.variant.programs[rank].size();
  switch (event.kind) {
  case TrialEventKind::Enter:
    return true;
  case TrialEventKind::Leave:
    for (size_t i = 1; i <= workers; ++i) {
      size_t other = trial.gates[rank] + i;
      if (next[other] < trial.threads[other].size() &&
          trial.threads[other][next[other]].call <= event.call)
        return false;
    }
    return true;
  case TrialEventKind::Pass:
    return arrived[rank].size() > event.barrier && arrived[rank][event.barrier] == workers;
  case TrialEventKind::Arrive:
  case TrialEventKind::Operation:
    break;
  }
  if (entered[rank] <= event.call)
    return false;
  const ExecOp &op = *event.op;
  for (const ExecOperand &operand : op.operands)
    if (operand.isHead && sent[operand.channel] == received[operand.channel])
      return false;
  size_t channel = op.channel;
  switch (op.kind) {
  case ExecOpKind::Push:
    return sent[channel] < received[channel] + trial.variant.channels[channel].slots;
  case ExecOpKind::Wait:
    return signals[channel] > waits[channel];
  case ExecOpKind::Meet:
    return std::ranges::all_of(op.peers,
                               [&](int64_t peer) { return hasEntered(peer, event.call); });
  default:
    return true;
  }
}

void TrialRun::step(size_t thread) {
  const TrialEvent &event = trial.threads[thread][next[thread]];
  if (onValues)
    execute(event);
  count(event);
  ++next[thread];
  ++ran;
}

void TrialRun::count(const TrialEvent &event) {
  auto rank = static_cast<size_t>(event.rank);
  entered[rank] += event.kind == TrialEventKind::Enter;
  left[rank] += event.kind == TrialEventKind::Leave;
  if (event.kind == TrialEventKind::Arrive) {
    if (arrived[rank].size() <= event.barrier)
      arrived[rank].resize(event.barrier + 1);
    ++arrived[rank][event.barrier];
  }
  if (event.kind != TrialEventKind::Operation)
    return;
  const ExecOp &op = *event.op;
  for (const ExecOperand &operand : op.operands)
    if (operand.isHead)
      ++received[operand.channel];
  if (op.kind == ExecOpKind::Push || op.kind == ExecOpKind::Send)
    ++sent[op.channel];
  if (op.kind == ExecOpKind::Signal)
    ++signals[op.channel];
  if (op.kind == ExecOpKind::Wait)
    ++waits[op.channel];
}

void TrialRun::runWithout(std::optional<EventId> held) {
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t thread = 0; thread < next.size(); ++thread)
      while ((!held || *held != EventId(thread, next[thread])) && canStep(thread)) {
        step(thread);
        moved = true;
      }
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void TrialRun::execute(const TrialEvent &event) {
  if (event.kind == TrialEventKind::Enter)
    prepare(event);
  else if (event.kind == TrialEventKind::Leave)
    inspect(event);
  else if (event.kind == TrialEventKind::Operation && !event.op->operands.empty())
    move(event);
}

/// The caller fills the input, and leaves the output undefined.
void TrialRun::prepare(const TrialEvent &event) {
  for (size_t chunk : event.writes)
    memory[chunk] = {};
  bool sendsNothing = (trial.plan.collective == Collective::Broadcast ||
                       trial.plan.collective == Collective::Scatter) &&
                      event.rank != trial.variant.root;
  if (sendsNothing)
    return;
  for (int tile = 0; tile < trial.tiles; ++tile)
    for (int64_t index = 0; index < trial.inputChunks(); ++index) {
      // Entering writes, tile by tile, first the inputs and then the outputs.
      int64_t position = tile * (trial.inputChunks() + trial.outputChunks()) + index;
      Chunk &chunk = memory[event.writes[static_cast<size_t>(position)]];
      chunk = {true, index % trial.plan.chunks, {}};
      chunk.sources[{event.rank, index, tile, event.call}] = {};
    }
}

void TrialRun::inspect(const TrialEvent &event) {
  bool divides = combines(trial.plan.collective) && trial.plan.ranks > 1;
  for (int tile = 0; tile < trial.tiles; ++tile)
    for (int64_t index = 0; index < trial.outputChunks(); ++index) {
      std::map<ExecTrial::Source, Held> expected;
      for (auto [rank, chunk] : trial.promised(event.rank, index))
        expected[{rank, chunk, tile, event.call}] = {1, divides};
      auto position = static_cast<size_t>(tile * trial.outputChunks() + index);
      const Chunk &chunk = memory[event.reads[position]];
      if (!expected.empty() && (!chunk.isSet || chunk.sources != expected))
        found.push_back({fmt::format("output[{}] on rank {} is wrong in tile {} of call {}", index,
                                     event.rank, tile, event.call),
                         nullptr, event.rank, index});
    }
}

void TrialRun::move(const TrialEvent &event) {
  const ExecOp &op = *event.op;
  Chunk result{true, op.length, {}};
  size_t nextRead = 0;
  for (const ExecOperand &operand : op.operands) {
    Chunk chunk;
    if (operand.isHead) {
      chunk = messages[operand.channel].front();
      messages[operand.channel].pop_front();
    } else {
      chunk = memory[event.reads[nextRead++]];
    }
    if (!chunk.isSet)
      found.push_back({"reads what was never set", &op});
    else if (chunk.length != op.length)
      found.push_back({"mixes lengths", &op});
    for (auto [source, held] : chunk.sources) {
      if (op.operands.size() > 1 && held.divisions)
        found.push_back({"combines what was divided", &op});
      auto [it, isNew] = result.sources.emplace(source, held);
      if (!isNew) {
        found.push_back({"combines twice", &op});
        ++it->second.count;
      }
    }
  }
  if (op.complete)
    divide(op, result);
  if (hasDestination(op))
    memory[event.writes.front()] = std::move(result);
  else
    messages[op.channel].push_back(std::move(result));
}

void TrialRun::divide(const ExecOp &op, Chunk &chunk) {
  std::set<int64_t> contributors;
  for (auto &[source, held] : chunk.sources) {
    contributors.insert(std::get<0>(source));
    if (held.divisions++)
      found.push_back({"divides twice", &op});
  }
  if (!combines(trial.plan.collective) ||
      static_cast<int64_t>(contributors.size()) != trial.plan.ranks ||
      static_cast<int64_t>(chunk.sources.size()) != trial.plan.ranks)
    found.push_back({"divides what is not complete", &op});
}

} // namespace coil
