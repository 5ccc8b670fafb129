//===- ExecRaces.cpp - Accesses that nothing orders -----------------------===//
//
// Goes through the steps in an order that a run may take, with a clock a worker:
// how many steps of each worker have surely happened. An access must find the
// last conflicting ones in its worker's clock; older ones follow, since those
// were ordered before the last.
//
//===----------------------------------------------------------------------===//

#include "compiler/semantics/ExecChecks.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <set>

namespace coil {

namespace {

/// First an entry a worker, the number of its steps; then an entry a rank, 1 if
/// it has surely entered the call.
using Clock = std::vector<uint32_t>;

void join(Clock &clock, const Clock &other) {
  for (size_t i = 0; i < clock.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

/// Clocks under way on a channel, each for the next that takes one.
struct ChannelClocks {
  std::deque<Clock> messages, signals, credits;
  int64_t unusedSlots = 0;
};

struct LocationState {
  bool isWritten = false;
  ExecStep lastWrite;
  /// Since then, the last of each worker.
  std::vector<ExecStep> reads;
};

class RaceCheck {
public:
  RaceCheck(const ExecModel &model, ExecFindings &findings)
      : model(model), findings(findings), channels(model.variant.channels.size()),
        locations(model.locations()), atBarrier(model.variant.programs.size()),
        lastVisit(model.workers.size() * static_cast<size_t>(model.shape.ranks), noVisit) {
    size_t workers = model.workers.size();
    clocks.assign(workers, Clock(workers + static_cast<size_t>(model.shape.ranks)));
    for (uint32_t worker = 0; worker < workers; ++worker)
      entered(worker, model.workers[worker].rank) = 1;
    for (uint32_t channel = 0; channel < channels.size(); ++channel)
      channels[channel].unusedSlots = model.channel(channel).slots;
  }

  void check(const std::vector<ExecStep> &order) {
    for (ExecStep step : order) {
      if (findings.full())
        return;
      visit(step);
    }
    for (int64_t rank = 0; rank < model.shape.ranks && !findings.full(); ++rank)
      checkExit(rank);
  }

private:
  static constexpr uint32_t noVisit = UINT32_MAX;

  uint32_t &entered(uint32_t worker, int64_t rank) {
    return clocks[worker][model.workers.size() + static_cast<size_t>(rank)];
  }
  /// The last step of a worker that accesses a rank's memory.
  uint32_t &visitOf(uint32_t worker, int64_t rank) {
    return lastVisit[worker * static_cast<size_t>(model.shape.ranks) + static_cast<size_t>(rank)];
  }
  bool isBefore(ExecStep earlier, const Clock &clock) const {
    return clock[earlier.worker] > earlier.position;
  }

  void visit(ExecStep step) {
    const ExecOp &op = model.op(step);
    acquire(step, op);
    if (movesData(op.kind)) {
      for (const ExecOperand &operand : op.operands)
        if (!operand.isHead)
          access(step, operand.place, /*isWrite=*/false);
      if (writesMemory(op.kind))
        access(step, op.destination, /*isWrite=*/true);
    }
    clocks[step.worker][step.worker] = step.position + 1;
    release(step, op);
  }

  void take(uint32_t worker, std::deque<Clock> &from) {
    join(clocks[worker], from.front());
    from.pop_front();
  }

  void acquire(ExecStep step, const ExecOp &op) {
    for (int64_t peer : op.peers)
      entered(step.worker, peer) = 1;
    forEachUse(op, [&](ExecUse use, uint32_t channel) {
      ChannelClocks &state = channels[channel];
      switch (use) {
      case ExecUse::ReceiveData:
        return take(step.worker, state.messages);
      case ExecUse::Wait:
        return take(step.worker, state.signals);
      case ExecUse::SendData:
        if (state.unusedSlots > 0)
          --state.unusedSlots;
        else if (model.variant.transport == ExecTransport::Staged)
          take(step.worker, state.credits);
        return;
      case ExecUse::Signal:
        return;
      }
    });
  }

  void release(ExecStep step, const ExecOp &op) {
    const Clock &clock = clocks[step.worker];
    forEachUse(op, [&](ExecUse use, uint32_t channel) {
      if (use == ExecUse::SendData)
        channels[channel].messages.push_back(clock);
      else if (use == ExecUse::Signal)
        channels[channel].signals.push_back(clock);
      else if (use == ExecUse::ReceiveData && model.variant.transport == ExecTransport::Staged)
        channels[channel].credits.push_back(clock);
    });
    if (op.kind == ExecOpKind::Barrier)
      passBarrier(model.rankOf(step));
  }

  /// The steps of one barrier follow each other; the last one joins all workers.
  void passBarrier(int64_t rank) {
    uint32_t first = model.firstWorkerOf(rank), end = first + model.workersOf(rank);
    uint32_t &count = atBarrier[static_cast<size_t>(rank)];
    if (++count < end - first)
      return;
    count = 0;
    for (uint32_t worker = first + 1; worker < end; ++worker)
      join(clocks[first], clocks[worker]);
    for (uint32_t worker = first + 1; worker < end; ++worker)
      clocks[worker] = clocks[first];
  }

  void access(ExecStep step, const ExecPlace &place, bool isWrite) {
    if (place.rank != model.rankOf(step)) {
      uint32_t &visit = visitOf(step.worker, place.rank);
      if (visit == noVisit && !entered(step.worker, place.rank))
        findings.report(model.op(step).location,
                        fmt::format("accesses {}, which may not have entered the call: nothing "
                                    "orders it after rank {}'s start",
                                    ExecModel::describe(place), place.rank));
      visit = step.position;
    }
    // Tiles of user buffers are different memory, and ordered alike.
    if (place.buffer != ExecBuffer::Scratch && model.tileOf(step) > 0)
      return;
    if (model.isOnlyInput(place))
      return;
    size_t location = model.locationOf(place);
    LocationState &state = locations[location];
    const Clock &clock = clocks[step.worker];
    if (state.isWritten && state.lastWrite != step && !isBefore(state.lastWrite, clock))
      reportRace(step, place, isWrite, state.lastWrite, location, /*isOtherWrite=*/true);
    if (!isWrite) {
      auto own = std::ranges::find(state.reads, step.worker, &ExecStep::worker);
      if (own != state.reads.end())
        own->position = step.position;
      else
        state.reads.push_back(step);
      return;
    }
    for (ExecStep read : state.reads)
      if (read.worker != step.worker && !isBefore(read, clock))
        reportRace(step, place, isWrite, read, location, /*isOtherWrite=*/false);
    state.isWritten = true;
    state.lastWrite = step;
    state.reads.clear();
  }

  /// The place under which a step accesses a location.
  const ExecPlace &placeAt(ExecStep step, size_t location, bool isWrite) const {
    const ExecOp &op = model.op(step);
    if (!isWrite)
      for (const ExecOperand &operand : op.operands)
        if (!operand.isHead && model.locationOf(operand.place) == location)
          return operand.place;
    return op.destination;
  }

  std::string describeAccess(ExecStep step, const ExecPlace &place, bool isWrite) const {
    return fmt::format("{}'s {} {} {}", model.describeWorker(step.worker),
                       nameOf(model.op(step).kind), isWrite ? "into" : "of",
                       ExecModel::describeFrom(place, model.rankOf(step)));
  }

  void reportRace(ExecStep step, const ExecPlace &place, bool isWrite, ExecStep other,
                  size_t location, bool isOtherWrite) {
    const ExecOp &op = model.op(step), &otherOp = model.op(other);
    // The same operations may meet again in the next tile.
    if (!reported.insert(std::minmax(&op, &otherOp)).second)
      return;
    const ExecPlace &otherPlace = placeAt(other, location, isOtherWrite);
    uint32_t tile = model.tileOf(step), otherTile = model.tileOf(other);
    auto inTile = [&](uint32_t own) {
      return tile == otherTile                  ? ""
             : own == std::min(tile, otherTile) ? " in a tile"
                                                : " in the next tile";
    };
    std::string message = fmt::format(
        "{}{} and {}{} are not ordered", describeAccess(step, place, isWrite), inTile(tile),
        describeAccess(other, otherPlace, isOtherWrite), inTile(otherTile));
    if (place.buffer != otherPlace.buffer)
      message += "; in place, both are the same memory";
    findings.report(op.location, message, {{otherOp.location, "the other access is here"}});
  }

  void checkExit(int64_t rank) {
    Clock end(clocks.front().size());
    for (uint32_t i = 0; i < model.workersOf(rank); ++i)
      join(end, clocks[model.firstWorkerOf(rank) + i]);
    for (uint32_t worker = 0; worker < model.workers.size(); ++worker) {
      ExecStep last{worker, visitOf(worker, rank)};
      if (last.position == noVisit || isBefore(last, end))
        continue;
      const ExecOp &op = model.op(last);
      const ExecPlace *place = &op.destination;
      for (const ExecOperand &operand : op.operands)
        if (!operand.isHead && operand.place.rank == rank)
          place = &operand.place;
      findings.report(op.location,
                      fmt::format("accesses {}, which may have left the call: nothing orders it "
                                  "before rank {}'s end",
                                  ExecModel::describe(*place), rank));
    }
  }

  const ExecModel &model;
  ExecFindings &findings;
  /// Per worker.
  std::vector<Clock> clocks;
  std::vector<ChannelClocks> channels;
  std::vector<LocationState> locations;
  /// Per rank, the workers whose step of the current barrier was visited.
  std::vector<uint32_t> atBarrier;
  /// Per worker and rank.
  std::vector<uint32_t> lastVisit;
  std::set<std::pair<const ExecOp *, const ExecOp *>> reported;
};

} // namespace

void checkRaces(const ExecModel &model, const std::vector<ExecStep> &order,
                ExecFindings &findings) {
  RaceCheck(model, findings).check(order);
}

} // namespace coil
