//===- MutationRun.h - Holds the verifiers against judges -------*- C++ -*-===//

#ifndef COIL_TEST_MUTATION_MUTATIONRUN_H
#define COIL_TEST_MUTATION_MUTATIONRUN_H

#include "test/mutation/Figures.h"
#include "test/mutation/ProgramReader.h"

#include <functional>
#include <random>

namespace coil {

/// An algorithm for a number of ranks, which is right.
struct RightCase {
  std::string name;
  std::string text;
  /// Where the text lies, and imports from.
  std::string folder;
  InstanceRequest request;
  Instance instance;
  /// As lowerInstance() gives them.
  std::vector<ExecPlan> plans;

  std::string describe() const;
};

/// Mutates right programs at random. The i-th mutant is a function of the seed and i alone.
class MutationRun {
public:
  MutationRun(std::vector<RightCase> cases, uint32_t seed) : cases(std::move(cases)), seed(seed) {}

  /// Mutants `first` to `first + count` of the texts, of the statements of instances, and of the
  /// rank programs, which include those of rightPrograms().
  void mutateTexts(int64_t first, int64_t count);
  void mutateInstances(int64_t first, int64_t count);
  void mutatePrograms(int64_t first, int64_t count);

  /// The right programs themselves, before anything is changed: all must be accepted.
  void judgeRightOnes();

  std::string print() const;
  /// A program and both opinions, for each mutant on which they differ.
  const std::vector<std::string> &disputes() const { return disputed; }

private:
  struct Verdict {
    /// Why the program is wrong; empty if it is right.
    std::string verifier, judge;
    bool isReplayed = false, isExplored = false;
    /// What makes the two disagree all the same: a finding that no run shows, say.
    std::string objection;
  };

  std::mt19937 randomOf(int64_t index, uint32_t part) const;
  Verdict judgeInstance(const Instance &instance, std::mt19937 &random);
  /// As judgeInstance, of a proved instance: what the compiler makes of it.
  Verdict judgeLowered(const Instance &instance, const CollectiveProof &proof,
                       std::mt19937 &random);
  Verdict judgeProgram(ExecPlan plan, std::mt19937 &random);
  void record(Figures &figures, const Verdict &verdict,
              const std::function<std::string()> &describe);

  std::vector<RightCase> cases;
  uint32_t seed;
  ProgramReader reader;
  /// What the rejected rank programs were rejected for.
  std::map<std::string, int64_t> reasons;
  FigureTable right{"Right programs"}, texts{"Changes of texts"},
      statements{"Changes of statements"}, programs{"Changes of rank programs"};
  std::vector<std::string> disputed;
};

/// The algorithms below `folder` for 2 to `mostRanks` ranks (the fewest, if they need more), on one
/// node and, where the text speaks of nodes, on two; with a root, for the last rank. `problems`
/// gets what cannot be read.
std::vector<RightCase> readExamples(const std::string &folder, int64_t mostRanks,
                                    std::vector<std::string> &problems);

} // namespace coil

#endif // COIL_TEST_MUTATION_MUTATIONRUN_H
