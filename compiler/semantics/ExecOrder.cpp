//===- ExecOrder.cpp - An order of all steps, or a deadlock ---------------===//
//
// If a run gets stuck, each worker that is blocked waits for a step of another
// one, which stands at or behind the step that blocks the latter; following these
// leads into a cycle.
//
//===----------------------------------------------------------------------===//

#include "compiler/semantics/ExecChecks.h"
#include "compiler/semantics/ExecRun.h"
#include "compiler/semantics/ExecSlots.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace coil {

namespace {

class DeadlockReport {
public:
  DeadlockReport(const ExecModel &model, const ExecRun &run) : model(model), run(run) {}

  void report(ExecFindings &findings) {
    std::vector<Wait> cycle = findCycle();
    const Wait &first = cycle.front();
    std::vector<int64_t> others;
    for (const Wait &wait : cycle)
      if (model.rankOf(wait.step) != model.rankOf(first.step))
        others.push_back(model.rankOf(wait.step));
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());

    std::string message = fmt::format(
        "deadlock: {}'s {} waits{} for itself", model.describeWorker(first.step.worker),
        describeWaiting(first), others.empty() ? "" : " through " + describeRanks(others));
    std::vector<FindingNote> notes;
    for (size_t i = 0; i < cycle.size(); ++i)
      describeEdge(cycle[i], cycle[(i + 1) % cycle.size()], notes);
    auto push = std::ranges::find_if(cycle, isForSlot);
    if (push != cycle.end())
      if (auto needed = fewestSlots(model)) {
        int64_t most = *std::ranges::max_element(*needed);
        message += fmt::format("; needs at least {} slot{}, has {}", most, most == 1 ? "" : "s",
                               model.channel(push->channel).slots);
        describeSlots(*needed, notes);
      }
    findings.report(model.op(first.step).location, message, std::move(notes));
  }

private:
  /// What a blocked step waits for: the `ordinal`-th `use` of the channel in its
  /// section, or the `ordinal`-th barrier, by worker `provider`.
  struct Wait {
    ExecStep step;
    uint32_t provider;
    bool isBarrier;
    ExecUse use;
    uint32_t channel;
    /// Of the step itself and of what it waits for.
    int64_t ordinal, awaitedOrdinal;
  };

  static bool isForSlot(const Wait &wait) {
    return !wait.isBarrier && wait.use == ExecUse::ReceiveData;
  }

  int64_t countBarriersBefore(ExecStep step) const {
    int64_t count = 0;
    for (ExecStep s = model.sectionBegin(step); s.position < step.position; ++s.position)
      count += model.op(s).kind == ExecOpKind::Barrier;
    return count;
  }

  int64_t countUsesBefore(ExecStep step, ExecUse use, uint32_t channel) const {
    int64_t count = 0;
    for (ExecStep s = model.sectionBegin(step); s.position < step.position; ++s.position)
      forEachUse(model.op(s), [&](ExecUse opUse, uint32_t opChannel) {
        count += opUse == use && opChannel == channel;
      });
    return count;
  }

  Wait waitOf(uint32_t worker) const {
    ExecStep step = run.blockedStep(worker);
    const ExecOp &op = model.op(step);
    if (op.kind == ExecOpKind::Barrier) {
      int64_t ordinal = countBarriersBefore(step);
      uint32_t provider = model.firstWorkerOf(model.rankOf(step));
      while (run.isAtBarrier(provider))
        ++provider;
      return {step, provider, true, ExecUse::Wait, 0, ordinal, ordinal};
    }
    std::optional<Wait> wait;
    forEachUse(op, [&](ExecUse use, uint32_t channel) {
      if (wait || !run.isMissing(use, channel))
        return;
      int64_t ordinal = countUsesBefore(step, use, channel);
      int64_t awaited = use == ExecUse::SendData ? ordinal - model.channel(channel).slots : ordinal;
      ExecUse awaitedUse = counterpartOf(use);
      uint32_t provider = model.workerAt(model.channel(channel), awaitedUse);
      wait = Wait{step, provider, false, awaitedUse, channel, ordinal, awaited};
    });
    return *wait;
  }

  /// Begins with the smallest step.
  std::vector<Wait> findCycle() const {
    uint32_t worker = 0;
    while (!run.isBlocked(worker))
      ++worker;
    std::vector<Wait> walk;
    std::vector<int64_t> visitedAt(model.workers.size(), -1);
    while (visitedAt[worker] < 0) {
      visitedAt[worker] = static_cast<int64_t>(walk.size());
      walk.push_back(waitOf(worker));
      worker = walk.back().provider;
    }
    walk.erase(walk.begin(), walk.begin() + visitedAt[worker]);
    std::ranges::rotate(walk, std::ranges::min_element(walk, {}, &Wait::step));
    return walk;
  }

  /// Notes how many slots the channels need that have too few, the first of them.
  void describeSlots(const std::vector<int64_t> &needed, std::vector<FindingNote> &notes) const {
    constexpr size_t mostNotes = 4;
    std::vector<uint32_t> tooFew;
    for (uint32_t channel = 0; channel < needed.size(); ++channel)
      if (needed[channel] > model.channel(channel).slots)
        tooFew.push_back(channel);
    for (size_t i = 0; i < std::min(tooFew.size(), mostNotes); ++i) {
      const ExecChannel &channel = model.channel(tooFew[i]);
      std::string message = fmt::format("{} slots instead of {} in channel @{}", needed[tooFew[i]],
                                        channel.slots, channel.name);
      if (tooFew.size() == 1)
        message += " alone would be enough";
      else if (i == 0)
        message += fmt::format(" would be enough, and more in {} other channel{}",
                               tooFew.size() - 1, tooFew.size() == 2 ? "" : "s");
      notes.push_back({channel.location, std::move(message)});
    }
  }

  std::string describeUse(const ExecOp &op, ExecUse use, uint32_t channel, int64_t ordinal) const {
    const std::string &name = model.channel(channel).name;
    switch (use) {
    case ExecUse::Signal:
      return fmt::format("signal {} on channel @{}", ordinal, name);
    case ExecUse::Wait:
      return fmt::format("wait for signal {} on channel @{}", ordinal, name);
    default:
      return fmt::format("{} of message {} on channel @{}", nameOf(op.kind), ordinal, name);
    }
  }

  std::string describeWaiting(const Wait &wait) const {
    if (wait.isBarrier)
      return fmt::format("barrier {}", wait.ordinal);
    return describeUse(model.op(wait.step), counterpartOf(wait.use), wait.channel, wait.ordinal);
  }

  /// The step that `wait` waits for, looked up in the section of `blocked`, at
  /// which its worker stands.
  ExecStep awaitedStep(const Wait &wait, ExecStep blocked) const {
    int64_t seen = 0;
    ExecStep step = model.sectionBegin(blocked);
    for (; step.position < model.workers[step.worker].steps; ++step.position) {
      bool found = false;
      if (wait.isBarrier)
        found = model.op(step).kind == ExecOpKind::Barrier && seen++ == wait.awaitedOrdinal;
      forEachUse(model.op(step), [&](ExecUse use, uint32_t channel) {
        if (!wait.isBarrier && use == wait.use && channel == wait.channel)
          found |= seen++ == wait.awaitedOrdinal;
      });
      if (found)
        return step;
    }
    return blocked;
  }

  /// Notes that `wait` needs a step of the worker that stands at `next`, and that
  /// the latter comes before that step.
  void describeEdge(const Wait &wait, const Wait &next, std::vector<FindingNote> &notes) const {
    ExecStep awaited = awaitedStep(wait, next.step);
    const ExecOp &awaitedOp = model.op(awaited);
    std::string waiter = model.describeWorker(wait.step.worker);
    std::string provider = model.describeWorker(wait.provider);
    std::string waiting = describeWaiting(wait);
    std::string need, awaitedName;
    if (wait.isBarrier) {
      awaitedName = fmt::format("barrier {}", wait.awaitedOrdinal);
      need = fmt::format("for {}'s barrier", provider);
    } else {
      awaitedName = describeUse(awaitedOp, wait.use, wait.channel, wait.awaitedOrdinal);
      if (wait.use == ExecUse::Signal)
        need = fmt::format("for {}'s signal", provider);
      else if (isForSlot(wait))
        need = fmt::format("for a free slot, freed by {}'s {} of message {}", provider,
                           nameOf(awaitedOp.kind), wait.awaitedOrdinal);
      else
        need = fmt::format("for {}'s {}", provider, nameOf(awaitedOp.kind));
    }
    notes.push_back(
        {model.op(wait.step).location, fmt::format("{}'s {} waits {}", waiter, waiting, need)});
    if (awaited != next.step)
      notes.push_back(
          {awaitedOp.location, fmt::format("{} comes to its {} only after its {}", provider,
                                           awaitedName, describeWaiting(next))});
  }

  const ExecModel &model;
  const ExecRun &run;
};

} // namespace

std::vector<ExecStep> orderSteps(const ExecModel &model, ExecFindings &findings) {
  ExecRun run(model);
  if (!run.isFinished())
    DeadlockReport(model, run).report(findings);
  return std::move(run.steps());
}

} // namespace coil
