//===- MutationRun.cpp - Holds the verifiers against judges ---------------===//

#include "test/mutation/MutationRun.h"

#include "compiler/frontend/Frontend.h"
#include "compiler/semantics/ExecVerifier.h"
#include "test/mutation/CollectiveJudge.h"
#include "test/mutation/InstanceMutator.h"
#include "test/mutation/TextMutator.h"
#include "test/unit/semantics/ExecJudge.h"
#include "test/unit/semantics/ExecMutator.h"
#include "test/unit/semantics/ExecText.h"
#include "test/unit/semantics/ExecWitness.h"
#include "test/unit/semantics/RightPrograms.h"

#include <algorithm>
#include <fmt/format.h>

namespace coil {

namespace {

/// Tiles and calls of a trial: as many as a judge gets through soon.
struct Extent {
  int tiles, calls;
};
constexpr size_t mostTrialEvents = 700;
/// Orders in which an accepted program is run.
constexpr int sampledRuns = 3;
/// Two tiles of a call are explored if they have no more states.
constexpr size_t mostStates = 20000, mostExploredEvents = 90;

size_t eventsOf(const ExecPlan &plan, Extent extent) {
  return ExecTrial(plan, plan.variants.front().inPlace, extent.tiles, extent.calls).events();
}

Extent extentFor(const ExecPlan &plan) {
  for (Extent extent : {Extent{3, 2}, Extent{2, 2}})
    if (eventsOf(plan, extent) <= mostTrialEvents)
      return extent;
  return {2, 1};
}

size_t below(std::mt19937 &random, size_t bound) { return random() % bound; }

/// Changes a program once, now and then twice, by `change(kind)`, which is false where there is
/// nothing of the kind. Kinds are equally likely, so that rare ones occur as well. Returns the
/// name of the kind.
template <typename Mutation, int count, typename Change>
std::string changed(std::mt19937 &random, Change change) {
  constexpr int mostTries = 100;
  std::string name;
  int wanted = below(random, 4) == 0 ? 2 : 1;
  for (int tries = 0; tries < mostTries && wanted > 0; ++tries) {
    auto mutation = static_cast<Mutation>(below(random, count));
    if (!change(mutation))
      continue;
    name = name.empty() ? nameOf(mutation) : "two changes";
    --wanted;
  }
  return name.empty() ? "no change" : name;
}

/// What kind of fault a finding of verifyExec is.
std::string reasonOf(const std::string &message) {
  static constexpr std::pair<const char *, const char *> reasons[] = {
      {"deadlock:", "deadlock"},
      {"are not ordered", "race"},
      {"may not have entered", "access before its owner enters"},
      {"may have left", "access after its owner leaves"},
      {"no matching", "no counterpart"},
      {"before it is set", "unset value"},
      {" twice", "doubled contribution"},
      {"complete", "completed wrongly"},
      {"ends with", "wrong result"},
      {"length class", "mixed lengths"},
      {"never written", "written input"},
      {"other than the root", "buffer that is not there"},
  };
  for (auto [words, reason] : reasons)
    if (message.find(words) != std::string::npos)
      return reason;
  return "other";
}

} // namespace

std::string RightCase::describe() const {
  return fmt::format("{} with {} ranks on {} node{}, root {}", name, request.ranks, request.nodes,
                     request.nodes == 1 ? "" : "s", request.root);
}

std::mt19937 MutationRun::randomOf(int64_t index, uint32_t part) const {
  std::seed_seq sequence{seed, part, static_cast<uint32_t>(index)};
  return std::mt19937(sequence);
}

MutationRun::Verdict MutationRun::judgeProgram(ExecPlan plan, std::mt19937 &random) {
  Verdict verdict;
  numberOperations(plan);
  Extent extent = extentFor(plan);
  std::vector<Finding> findings = verifyExec(plan, plan.variants.front());
  if (!findings.empty())
    verdict.verifier = findings.front().message;
  verdict.judge = judgeExec(plan, extent.tiles, extent.calls).value_or("");
  if (verdict.judge.empty() && findings.empty())
    verdict.judge = sampleExec(plan, extent.tiles, extent.calls, sampledRuns, random).value_or("");
  for (const Finding &finding : findings)
    if (auto unshown = replay(plan, finding, extent.tiles, extent.calls)) {
      verdict.objection = fmt::format("no run shows '{}': {}", finding.message, *unshown);
      return verdict;
    }
  verdict.isReplayed = !findings.empty();
  if (eventsOf(plan, {2, 1}) > mostExploredEvents)
    return verdict;
  Exploration exploration = exploreExec(plan, 2, 1, mostStates);
  verdict.isExplored = exploration.isComplete;
  auto judgeOfCall = judgeExec(plan, 2, 1);
  if (exploration.isComplete && exploration.complaint.has_value() != judgeOfCall.has_value())
    verdict.objection =
        fmt::format("of one call, all states say '{}', holding back says '{}'",
                    exploration.complaint.value_or("right"), judgeOfCall.value_or("right"));
  return verdict;
}

MutationRun::Verdict MutationRun::judgeLowered(const Instance &instance,
                                               const CollectiveProof &proof, std::mt19937 &random) {
  Verdict verdict;
  std::vector<ExecPlan> plans = lowerInstance(instance, proof, verdict.verifier);
  if (!verdict.verifier.empty())
    return verdict;
  size_t chosen = below(random, plans.size());
  for (size_t i = 0; i < plans.size(); ++i) {
    const ExecPlan &plan = plans[i];
    std::vector<Finding> findings = verifyExec(plan, plan.variants.front());
    std::string judge;
    // One form is tried out; that would take long with all.
    if (i == chosen && eventsOf(plan, {2, 1}) <= 2 * mostTrialEvents) {
      Extent extent = extentFor(plan);
      judge = judgeExec(plan, extent.tiles, extent.calls).value_or("");
    }
    if (findings.empty() && judge.empty())
      continue;
    const ExecVariant &variant = plan.variants.front();
    std::string form = fmt::format("{}, {}", variant.inPlace ? "in place" : "out of place",
                                   nameOf(variant.transport));
    verdict.verifier = findings.empty() ? "" : form + ": " + findings.front().message;
    verdict.judge = judge.empty() ? "" : form + ": " + judge;
    // Right algorithms must stay right: whoever complains, something is wrong.
    verdict.objection =
        fmt::format("what the compiler makes of it is not accepted\n{}", printExec(plan));
    return verdict;
  }
  return verdict;
}

MutationRun::Verdict MutationRun::judgeInstance(const Instance &instance, std::mt19937 &random) {
  Verdict verdict;
  CollectiveProof proof = verifyCollective(instance, /*algorithmLocation=*/0);
  std::vector<CollectiveFault> faults = judgeCollective(instance);
  if (!faults.empty())
    verdict.judge = faults.front().statement ? fmt::format("{} {}", *faults.front().statement + 1,
                                                           faults.front().message)
                                             : faults.front().message;
  if (proof.isProved())
    return faults.empty() ? judgeLowered(instance, proof, random) : verdict;
  const Finding &finding = proof.findings.front();
  verdict.verifier = fmt::format("{} {}", finding.location, finding.message);
  // The judge finds a fault where the verifier does.
  bool isShown = std::ranges::any_of(faults, [&](const CollectiveFault &fault) {
    return fault.statement ? *fault.statement + 1 == finding.location
                           : finding.message.find("ends with") != std::string::npos;
  });
  if (!isShown)
    verdict.objection = "the judge has nothing against that statement";
  verdict.isReplayed = isShown;
  return verdict;
}

void MutationRun::record(Figures &figures, const Verdict &verdict,
                         const std::function<std::string()> &describe) {
  figures.replayed += verdict.isReplayed;
  figures.explored += verdict.isExplored;
  if (verdict.verifier.empty() == verdict.judge.empty() && verdict.objection.empty()) {
    ++(verdict.verifier.empty() ? figures.accepted : figures.rejected);
    return;
  }
  ++figures.disputed;
  auto opinion = [](const std::string &text) { return text.empty() ? "right" : text; };
  std::string text = fmt::format("{}\nverifier: {}\njudge: {}\n", describe(),
                                 opinion(verdict.verifier), opinion(verdict.judge));
  if (!verdict.objection.empty())
    text += verdict.objection + "\n";
  disputed.push_back(std::move(text));
}

void MutationRun::judgeRightOnes() {
  int64_t index = 0;
  for (const RightCase &right_ : cases) {
    std::mt19937 random = randomOf(index++, 0);
    Verdict verdict = judgeInstance(right_.instance, random);
    if (verdict.verifier.empty() != verdict.judge.empty() || !verdict.verifier.empty())
      verdict.objection = "a right program is not accepted";
    record(right.of("algorithms"), verdict, [&] { return right_.describe(); });
    for (const ExecPlan &plan : right_.plans) {
      Verdict ofPlan = judgeProgram(plan, random);
      if (!ofPlan.verifier.empty() || !ofPlan.judge.empty())
        ofPlan.objection = "a right program is not accepted";
      record(right.of("rank programs"), ofPlan,
             [&] { return right_.describe() + "\n" + printExec(plan); });
    }
  }
}

void MutationRun::mutateTexts(int64_t first, int64_t count) {
  for (int64_t index = first; index < first + count; ++index) {
    std::mt19937 random = randomOf(index, 1);
    const RightCase &from = cases[below(random, cases.size())];
    SourceManager sources;
    DiagnosticEngine diagnostics;
    std::string text = from.text;
    std::string kind = changed<TextMutation, numTextMutations>(random, [&](TextMutation wanted) {
      auto file = parseFile(sources.add("program.coil", text), diagnostics);
      std::vector<TextEdit> edits = file ? editsOf(*file) : std::vector<TextEdit>();
      std::erase_if(edits, [&](const TextEdit &edit) { return edit.mutation != wanted; });
      if (!edits.empty())
        text = edited(text, edits[below(random, edits.size())]);
      return !edits.empty();
    });
    Figures &figures = texts.of(kind);
    std::optional<Instance> instance = reader.read(text, from.folder, from.request);
    if (!instance) {
      ++figures.refused;
      if (reader.refusal().empty())
        disputed.push_back(
            fmt::format("{}: {}\n{}refused without a word\n", index, from.describe(), text));
      continue;
    }
    record(figures, judgeInstance(*instance, random), [&] {
      return fmt::format("text {}: {}\n{}{}", index, from.describe(), text,
                         printInstance(*instance));
    });
  }
}

void MutationRun::mutateInstances(int64_t first, int64_t count) {
  for (int64_t index = first; index < first + count; ++index) {
    std::mt19937 random = randomOf(index, 2);
    const RightCase &from = cases[below(random, cases.size())];
    Instance instance = from.instance;
    std::string kind = changed<InstanceMutation, numInstanceMutations>(
        random, [&](InstanceMutation wanted) { return mutate(instance, wanted, random); });
    record(statements.of(kind), judgeInstance(instance, random), [&] {
      return fmt::format("statements {}: {}\n{}", index, from.describe(), printInstance(instance));
    });
  }
}

void MutationRun::mutatePrograms(int64_t first, int64_t count) {
  std::vector<ExecPlan> byHand;
  for (const NamedProgram &program : rightPrograms())
    byHand.push_back(parseExec(program.text));
  for (int64_t index = first; index < first + count; ++index) {
    std::mt19937 random = randomOf(index, 3);
    std::string name = "a program written by hand";
    ExecPlan plan;
    if (below(random, 4) == 0) {
      plan = byHand[below(random, byHand.size())];
    } else {
      // One that is tried out in a short time.
      do {
        const RightCase &from = cases[below(random, cases.size())];
        plan = from.plans[below(random, from.plans.size())];
        name = from.describe();
      } while (eventsOf(plan, {2, 1}) > mostTrialEvents);
    }
    std::string kind = changed<ExecMutation, numExecMutations>(
        random, [&](ExecMutation wanted) { return mutate(plan, wanted, random); });
    Verdict verdict = judgeProgram(plan, random);
    if (!verdict.verifier.empty())
      ++reasons[reasonOf(verdict.verifier)];
    record(programs.of(kind), verdict,
           [&] { return fmt::format("programs {}: {}\n{}", index, name, printExec(plan)); });
  }
}

std::string MutationRun::print() const {
  std::string text;
  Figures all;
  for (const FigureTable *table : {&texts, &statements, &programs})
    all += table->sum();
  for (const FigureTable *table : {&right, &texts, &statements, &programs})
    text += table->print() + "\n";
  text += "Rank programs were rejected for\n";
  for (const auto &[reason, count] : reasons)
    text += fmt::format("  {:<32}{:>9}\n", reason, count);
  return text + fmt::format("\n{} mutants, {} accepted by both, {} rejected by both, {} refused "
                            "before a proof, {} disputed\n",
                            all.total(), all.accepted, all.rejected, all.refused, all.disputed);
}

} // namespace coil
