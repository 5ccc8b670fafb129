//===- ExecJudge.cpp - Tries a program out --------------------------------===//

#include "test/unit/semantics/ExecJudge.h"

#include <algorithm>
#include <set>

namespace coil {

namespace {

/// What is wrong in the order in which runWithout() happens to go.
std::optional<std::string> judgeOneRun(const ExecTrial &trial) {
  if (!trial.isBalanced())
    return "counts of a channel's or barrier's ends differ";
  if (trial.staticFault())
    return trial.staticFault();
  TrialRun run(trial, /*onValues=*/true);
  run.runWithout(std::nullopt);
  if (!run.faults().empty())
    return run.faults().front().message;
  if (!run.isThrough())
    return "gets stuck";
  return std::nullopt;
}

/// Finds accesses that nothing orders by holding one event back.
class OrderCheck {
public:
  explicit OrderCheck(const ExecTrial &trial) : trial(trial), reached(trial.threads.size()) {
    for (size_t thread = 0; thread < trial.threads.size(); ++thread)
      reached[thread].resize(trial.threads[thread].size());
  }

  std::optional<std::string> check() {
    struct Access {
      EventId event;
      bool isWrite;
    };
    std::vector<std::vector<Access>> accesses(trial.chunks());
    for (size_t thread = 0; thread < trial.threads.size(); ++thread)
      for (size_t i = 0; i < trial.threads[thread].size(); ++i) {
        const TrialEvent &event = trial.threads[thread][i];
        for (size_t chunk : event.reads)
          accesses[chunk].push_back({{thread, i}, false});
        for (size_t chunk : event.writes)
          accesses[chunk].push_back({{thread, i}, true});
        for (int64_t visited : event.visits) {
          size_t gate = trial.gates[static_cast<size_t>(visited)];
          auto call = static_cast<size_t>(event.call);
          if (canOvertake({gate, 2 * call}, {thread, i}))
            return "accesses memory of a rank that has not entered";
          if (canOvertake({thread, i}, {gate, 2 * call + 1}))
            return "accesses memory of a rank that has left";
        }
      }
    for (const auto &sharing : accesses)
      for (const Access &a : sharing)
        for (const Access &b : sharing)
          if ((a.isWrite || b.isWrite) && a.event.first < b.event.first &&
              canOvertake(a.event, b.event) && canOvertake(b.event, a.event))
            return "has a race";
    return std::nullopt;
  }

private:
  /// True if `second` may begin before `first` has ended.
  bool canOvertake(EventId first, EventId second) {
    std::vector<size_t> &positions = reached[first.first][first.second];
    if (positions.empty()) {
      TrialRun run(trial, /*onValues=*/false);
      run.runWithout(first);
      for (size_t thread = 0; thread < trial.threads.size(); ++thread)
        positions.push_back(run.position(thread));
    }
    return positions[second.first] > second.second;
  }

  const ExecTrial &trial;
  /// For each event how far each thread comes without it; empty until asked for.
  std::vector<std::vector<std::vector<size_t>>> reached;
};

/// Calls `judge` with a trial of calls out of place or in place, and with a root, where one
/// program serves both, of the other ones too; the first that is not right decides.
template <typename Judge>
std::optional<std::string> judgeForms(const ExecPlan &plan, int tiles, int calls, Judge judge) {
  bool inPlace = plan.variants.front().inPlace;
  if (auto wrong = judge(ExecTrial(plan, inPlace, tiles, calls)))
    return wrong;
  if (hasRoot(plan.collective) && !inPlace)
    return judge(ExecTrial(plan, true, tiles, calls));
  return std::nullopt;
}

} // namespace

bool doConflict(const TrialEvent &a, const TrialEvent &b) {
  auto meet = [](const std::vector<size_t> &left, const std::vector<size_t> &right) {
    return std::ranges::any_of(
        left, [&](size_t chunk) { return std::ranges::find(right, chunk) != right.end(); });
  };
  return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
}

std::optional<std::string> judgeExec(const ExecPlan &plan, int tiles, int calls) {
  return judgeForms(plan, tiles, calls, [](const ExecTrial &trial) {
    auto wrong = judgeOneRun(trial);
    return wrong ? wrong : OrderCheck(trial).check();
  });
}

std::optional<std::string> sampleExec(const ExecPlan &plan, int tiles, int calls, int runs,
                                      std::mt19937 &random) {
  return judgeForms(plan, tiles, calls, [&](const ExecTrial &trial) -> std::optional<std::string> {
    if (auto wrong = judgeOneRun(trial))
      return wrong;
    for (int i = 0; i < runs; ++i) {
      TrialRun run(trial, /*onValues=*/true);
      std::vector<size_t> ready;
      do {
        ready.clear();
        for (size_t thread = 0; thread < trial.threads.size(); ++thread)
          if (run.canStep(thread))
            ready.push_back(thread);
        if (!ready.empty())
          run.step(ready[random() % ready.size()]);
      } while (!ready.empty());
      if (!run.faults().empty())
        return run.faults().front().message;
      if (!run.isThrough())
        return "gets stuck";
    }
    return std::nullopt;
  });
}

namespace {

/// Goes through all states of a trial. A state is how far each thread has come, which decides all
/// counters; what memory holds it decides too, unless there is a race, which is found first.
class StateSpace {
public:
  StateSpace(const ExecTrial &trial, size_t mostStates) : trial(trial), mostStates(mostStates) {}

  Exploration explore() {
    std::vector<TrialRun> pending;
    visit(TrialRun(trial, /*onValues=*/false), pending);
    while (!pending.empty() && !complaint) {
      if (seen.size() > mostStates)
        return {};
      TrialRun state = std::move(pending.back());
      pending.pop_back();
      std::vector<size_t> ready;
      for (size_t thread = 0; thread < trial.threads.size(); ++thread)
        if (state.canStep(thread))
          ready.push_back(thread);
      if (ready.empty() && !state.isThrough())
        complaint = "gets stuck";
      for (size_t thread : ready) {
        const TrialEvent &event = trial.threads[thread][state.position(thread)];
        for (int64_t visited : event.visits) {
          if (!state.hasEntered(visited, event.call))
            complaint = "accesses memory of a rank that has not entered";
          if (state.hasLeft(visited, event.call))
            complaint = "accesses memory of a rank that has left";
        }
        for (size_t other : ready)
          if (thread < other && doConflict(event, trial.threads[other][state.position(other)]))
            complaint = "has a race";
        TrialRun after = state;
        after.step(thread);
        visit(std::move(after), pending);
      }
    }
    return {true, complaint};
  }

private:
  void visit(TrialRun state, std::vector<TrialRun> &pending) {
    std::vector<uint16_t> positions;
    for (size_t thread = 0; thread < trial.threads.size(); ++thread)
      positions.push_back(static_cast<uint16_t>(state.position(thread)));
    if (seen.insert(std::move(positions)).second)
      pending.push_back(std::move(state));
  }

  const ExecTrial &trial;
  size_t mostStates;
  std::set<std::vector<uint16_t>> seen;
  std::optional<std::string> complaint;
};

} // namespace

Exploration exploreExec(const ExecPlan &plan, int tiles, int calls, size_t mostStates) {
  bool isComplete = true;
  auto complaint =
      judgeForms(plan, tiles, calls, [&](const ExecTrial &trial) -> std::optional<std::string> {
        if (auto wrong = judgeOneRun(trial))
          return wrong;
        Exploration exploration = StateSpace(trial, mostStates).explore();
        isComplete &= exploration.isComplete;
        return exploration.complaint;
      });
  return {isComplete || complaint.has_value(), complaint};
}

} // namespace coil
