//===- ExecWitness.cpp - Runs that show what a finding says ---------------===//

#include "test/unit/semantics/ExecWitness.h"

#include "test/unit/semantics/ExecJudge.h"

#include <algorithm>
#include <fmt/format.h>

namespace coil {

void numberOperations(ExecPlan &plan) {
  ExecVariant &variant = plan.variants.front();
  plan.location = variant.location = 0;
  for (ExecChannel &channel : variant.channels)
    channel.location = 0;
  LocationIndex next = 1;
  for (auto &program : variant.programs)
    for (ExecWorker &worker : program)
      for (auto *ops : {&worker.prologue, &worker.body, &worker.epilogue})
        for (ExecOp &op : *ops)
          op.location = next++;
}

namespace {

/// A run, thread by thread.
using Schedule = std::vector<size_t>;

class Replay {
public:
  Replay(const ExecTrial &trial, const Finding &finding) : trial(trial), finding(finding) {}

  std::optional<std::string> run() {
    auto says = [&](std::string_view words) {
      return finding.message.find(words) != std::string::npos;
    };
    if (says("no matching"))
      return trial.isBalanced() ? std::optional<std::string>("all counts match") : std::nullopt;
    if (says("moves data in the") || says("never written") || says("other than the root"))
      return std::nullopt; // true of the operation by itself
    if (says("deadlock:"))
      return showDeadlock();
    if (says("are not ordered"))
      return showRace();
    if (says("may not have entered"))
      return showVisit(/*beforeEntering=*/true);
    if (says("may have left"))
      return showVisit(/*beforeEntering=*/false);
    return showFault();
  }

private:
  std::vector<EventId> eventsAt(LocationIndex location) const {
    std::vector<EventId> events;
    for (size_t thread = 0; thread < trial.threads.size(); ++thread)
      for (size_t i = 0; i < trial.threads[thread].size(); ++i) {
        const TrialEvent &event = trial.threads[thread][i];
        if (event.op && event.op->location == location && event.kind != TrialEventKind::Pass)
          events.push_back({thread, i});
      }
    return events;
  }

  /// A run in which `first` happens, and `second` only after it; none if there is no such run.
  std::optional<Schedule> scheduleWith(EventId first, EventId second) const {
    Schedule schedule;
    TrialRun run(trial, /*onValues=*/false);
    auto advance = [&](bool holdsSecond) {
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t thread = 0; thread < trial.threads.size(); ++thread) {
          bool isHeld = holdsSecond && second == EventId(thread, run.position(thread));
          if (isHeld || !run.canStep(thread))
            continue;
          run.step(thread);
          schedule.push_back(thread);
          moved = true;
        }
      }
    };
    advance(/*holdsSecond=*/true);
    if (run.position(first.first) <= first.second)
      return std::nullopt;
    advance(/*holdsSecond=*/false);
    return schedule;
  }

  /// Executes a schedule step by step; true if it is one of the program and brings `first` before
  /// `second`.
  bool brings(const Schedule &schedule, EventId first, EventId second) const {
    TrialRun run(trial, /*onValues=*/false);
    for (size_t thread : schedule) {
      if (!run.canStep(thread))
        return false;
      EventId id(thread, run.position(thread));
      if (id == second)
        return run.position(first.first) > first.second;
      run.step(thread);
    }
    return false;
  }

  bool canBring(EventId first, EventId second) const {
    std::optional<Schedule> schedule = scheduleWith(first, second);
    return schedule && brings(*schedule, first, second);
  }

  std::optional<std::string> showRace() const {
    if (finding.notes.empty())
      return "the finding names one access only";
    for (EventId a : eventsAt(finding.location))
      for (EventId b : eventsAt(finding.notes.front().location))
        if (a != b && doConflict(trial.event(a), trial.event(b)) && canBring(a, b) &&
            canBring(b, a))
          return std::nullopt;
    return "no two runs bring the accesses in both orders";
  }

  std::optional<std::string> showVisit(bool beforeEntering) const {
    for (EventId visit : eventsAt(finding.location))
      for (int64_t visited : trial.event(visit).visits) {
        size_t call = 2 * static_cast<size_t>(trial.event(visit).call);
        size_t gate = trial.gates[static_cast<size_t>(visited)];
        if (beforeEntering ? canBring(visit, {gate, call}) : canBring({gate, call + 1}, visit))
          return std::nullopt;
      }
    return "no run accesses memory outside its owner's call";
  }

  std::optional<std::string> showDeadlock() const {
    TrialRun run(trial, /*onValues=*/false);
    run.runWithout(std::nullopt);
    if (run.isThrough())
      return "the program gets through";
    std::vector<LocationIndex> stopped;
    for (size_t thread = 0; thread < trial.threads.size(); ++thread)
      if (run.position(thread) < trial.threads[thread].size())
        if (const ExecOp *op = trial.threads[thread][run.position(thread)].op)
          stopped.push_back(op->location);
    auto isStopped = [&](LocationIndex location) {
      return std::ranges::find(stopped, location) != stopped.end();
    };
    if (!isStopped(finding.location))
      return "the program does not stop at the operation";
    for (const FindingNote &note : finding.notes)
      if (note.message.find(" waits for ") != std::string::npos && !isStopped(note.location))
        return fmt::format("no worker stops where '{}'", note.message);
    return std::nullopt;
  }

  std::optional<std::string> showFault() const {
    TrialRun run(trial, /*onValues=*/true);
    run.runWithout(std::nullopt);
    for (const TrialFault &fault : run.faults()) {
      if (fault.op && fault.op->location == finding.location)
        return std::nullopt;
      if (!fault.op && finding.message.starts_with(
                           fmt::format("output[{}] on rank {} ends ", fault.output, fault.rank)))
        return std::nullopt;
    }
    return "a run comes to no fault there";
  }

  const ExecTrial &trial;
  const Finding &finding;
};

} // namespace

std::optional<std::string> replay(const ExecPlan &plan, const Finding &finding, int tiles,
                                  int calls) {
  bool isOther = finding.message.ends_with("(where the root calls in place)");
  ExecTrial trial(plan, plan.variants.front().inPlace || isOther, tiles, calls);
  return Replay(trial, finding).run();
}

} // namespace coil
