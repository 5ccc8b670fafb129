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

/// What a representative's worker knows. First an entry a worker and shift, the number
/// of steps of the worker's image; then an entry a rank, 1 if it has surely entered the
/// call.
using Clock = std::vector<uint32_t>;

/// Clocks under way on a channel, each for the next that takes one.
struct ChannelClocks {
  std::deque<Clock> messages, signals, credits;
  int64_t unusedSlots = 0;
};

/// A step's image, which accesses a location of a representative.
struct Access {
  ExecStep step;
  int64_t shift = 0;

  bool isOfWorkerOf(const Access &other) const {
    return step.worker == other.step.worker && shift == other.shift;
  }
  bool operator==(const Access &) const = default;
};

struct LocationState {
  bool isWritten = false;
  Access lastWrite;
  /// Since then, the last of each worker.
  std::vector<Access> reads;
};

class RaceCheck {
public:
  RaceCheck(const ExecModel &model, ExecFindings &findings)
      : model(model), findings(findings), channels(model.variant.channels.size()),
        symmetry(model.symmetry()), locations(model.locations()),
        atBarrier(model.variant.programs.size()),
        lastVisit(model.workers.size() * static_cast<size_t>(model.shape.ranks), noVisit) {
    size_t workers = model.workers.size();
    workerEntries = workers * static_cast<size_t>(symmetry.shifts());
    clocks.assign(workers, Clock(workerEntries + static_cast<size_t>(model.shape.ranks)));
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
    for (int64_t kind = 0; kind < model.kinds() && !findings.full(); ++kind)
      checkExit(kind);
  }

private:
  static constexpr uint32_t noVisit = UINT32_MAX;

  uint32_t &entered(uint32_t worker, int64_t rank) {
    return clocks[worker][workerEntries + static_cast<size_t>(rank)];
  }
  /// The last step of a worker that accesses a rank's memory.
  uint32_t &visitOf(uint32_t worker, int64_t rank) {
    return lastVisit[worker * static_cast<size_t>(model.shape.ranks) + static_cast<size_t>(rank)];
  }
  size_t entryOf(uint32_t worker, int64_t shift) const {
    return worker * static_cast<size_t>(symmetry.shifts()) + static_cast<size_t>(shift);
  }
  bool isBefore(const Access &earlier, const Clock &clock) const {
    return clock[entryOf(earlier.step.worker, earlier.shift)] > earlier.step.position;
  }

  /// Adds what the image of another clock's worker knows, which the shift leads to.
  void join(Clock &clock, const Clock &other, int64_t shift = 0) const {
    if (shift == 0) {
      for (size_t i = 0; i < clock.size(); ++i)
        clock[i] = std::max(clock[i], other[i]);
      return;
    }
    auto joinEntry = [&](size_t to, size_t from) { clock[to] = std::max(clock[to], other[from]); };
    auto shifts = static_cast<size_t>(symmetry.shifts());
    for (size_t from = 0; from < shifts; ++from) {
      auto to = static_cast<size_t>(symmetry.sum(static_cast<int64_t>(from), shift));
      for (size_t worker = 0; worker < workerEntries; worker += shifts)
        joinEntry(worker + to, worker + from);
    }
    for (int64_t rank = 0; rank < model.shape.ranks; ++rank)
      joinEntry(workerEntries + static_cast<size_t>(symmetry.shiftRank(rank, shift)),
                workerEntries + static_cast<size_t>(rank));
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
    clocks[step.worker][entryOf(step.worker, 0)] = step.position + 1;
    release(step, op);
  }

  void take(uint32_t worker, std::deque<Clock> &from, int64_t shift) {
    join(clocks[worker], from.front(), shift);
    from.pop_front();
  }

  void acquire(ExecStep step, const ExecOp &op) {
    for (int64_t peer : op.peers)
      entered(step.worker, peer) = 1;
    forEachUse(op, [&](ExecUse use, uint32_t channel) {
      ChannelClocks &state = channels[channel];
      int64_t toEnd = model.variant.shiftToEnd(model.channel(channel));
      switch (use) {
      case ExecUse::ReceiveData:
        return take(step.worker, state.messages, toEnd);
      case ExecUse::Wait:
        return take(step.worker, state.signals, toEnd);
      case ExecUse::SendData:
        if (state.unusedSlots > 0)
          --state.unusedSlots;
        else if (model.variant.transport == ExecTransport::Staged)
          take(step.worker, state.credits, symmetry.inverse(toEnd));
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
    uint32_t &count = atBarrier[static_cast<size_t>(symmetry.kindOf(rank))];
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
    // The owner's representative sees another image of this step, and this step another
    // image of what it saw.
    int64_t toOwner = symmetry.shiftOf(place.rank);
    Access own{step, symmetry.inverse(toOwner)};
    auto isOrdered = [&](Access earlier) {
      earlier.shift = symmetry.sum(earlier.shift, toOwner);
      return isBefore(earlier, clock);
    };
    if (state.isWritten && state.lastWrite != own && !isOrdered(state.lastWrite))
      reportRace(step, place, isWrite, state.lastWrite.step, location, /*isOtherWrite=*/true);
    if (!isWrite) {
      auto last = std::ranges::find_if(state.reads,
                                       [&](const Access &read) { return read.isOfWorkerOf(own); });
      if (last != state.reads.end())
        last->step.position = step.position;
      else
        state.reads.push_back(own);
      return;
    }
    for (const Access &read : state.reads)
      if (!read.isOfWorkerOf(own) && !isOrdered(read))
        reportRace(step, place, isWrite, read.step, location, /*isOtherWrite=*/false);
    state.isWritten = true;
    state.lastWrite = own;
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

  void checkExit(int64_t kind) {
    Clock end(clocks.front().size());
    int64_t representative = symmetry.representative(kind);
    for (uint32_t i = 0; i < model.workersOf(representative); ++i)
      join(end, clocks[model.firstWorkerOf(representative) + i]);
    for (int64_t rank = 0; rank < model.shape.ranks; ++rank)
      if (symmetry.kindOf(rank) == kind)
        checkExit(rank, end);
  }

  /// Accesses to a rank's memory come before the end of its call, at which its
  /// representative knows `end`.
  void checkExit(int64_t rank, const Clock &end) {
    int64_t fromOwner = symmetry.inverse(symmetry.shiftOf(rank));
    for (uint32_t worker = 0; worker < model.workers.size(); ++worker) {
      ExecStep last{worker, visitOf(worker, rank)};
      if (last.position == noVisit || isBefore({last, fromOwner}, end))
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
  /// How many of a clock's entries are of workers' images.
  size_t workerEntries = 0;
  std::vector<ChannelClocks> channels;
  const Symmetry &symmetry;
  std::vector<LocationState> locations;
  /// Per kind, the workers whose step of the current barrier was visited.
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
