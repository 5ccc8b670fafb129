//===- ExecMutationTest.cpp - Programs broken at random -------------------===//
//
// Changes right programs at random and compares verifyExec with the judge, which
// tries them out: neither may know better. test/mutation does so at length, with the programs
// that the compiler makes of the examples.
//
//===----------------------------------------------------------------------===//

#include "compiler/semantics/ExecVerifier.h"
#include "test/unit/semantics/ExecJudge.h"
#include "test/unit/semantics/ExecMutator.h"
#include "test/unit/semantics/ExecText.h"
#include "test/unit/semantics/ExecWitness.h"
#include "test/unit/semantics/RightPrograms.h"

#include <gtest/gtest.h>

using namespace coil;

namespace {

class MutationTest : public testing::TestWithParam<NamedProgram> {};

TEST_P(MutationTest, VerifierAgreesWithJudge) {
  // The judge has nothing against the program itself.
  ExecPlan right = parseExec(GetParam().text);
  ASSERT_EQ(judgeExec(right, 3, 2).value_or(""), "");

  std::mt19937 random(20240229);
  int accepted = 0, rejected = 0;
  for (int i = 0; i < 400; ++i) {
    ExecPlan plan = right;
    for (size_t changes = 1 + random() % 3; changes > 0; --changes)
      mutate(plan, static_cast<ExecMutation>(random() % numExecMutations), random);
    numberOperations(plan);
    std::vector<Finding> findings = verifyExec(plan, plan.variants.front());
    std::optional<std::string> complaint = judgeExec(plan, 3, 2);
    ASSERT_EQ(findings.empty(), !complaint)
        << "verifier: " << (findings.empty() ? "right" : findings.front().message)
        << "\njudge: " << complaint.value_or("right") << "\n"
        << printExec(plan);
    for (const Finding &finding : findings)
      ASSERT_EQ(replay(plan, finding, 3, 2).value_or(""), "")
          << "finding: " << finding.message << "\n"
          << printExec(plan);
    ++(findings.empty() ? accepted : rejected);
  }
  // Both must occur for the comparison to mean much.
  EXPECT_GT(accepted, 5);
  EXPECT_GT(rejected, 50);
}

INSTANTIATE_TEST_SUITE_P(ExecVerifier, MutationTest, testing::ValuesIn(rightPrograms()),
                         [](const auto &info) { return info.param.name; });

// The states of a small program are all gone through, and say the same.
TEST(ExplorationTest, AgreesWithJudge) {
  std::mt19937 random(20240301);
  int explored = 0;
  for (const NamedProgram &program : rightPrograms()) {
    ExecPlan right = parseExec(program.text);
    for (int i = 0; i < 40; ++i) {
      ExecPlan plan = right;
      if (i > 0)
        mutate(plan, static_cast<ExecMutation>(random() % numExecMutations), random);
      Exploration exploration = exploreExec(plan, 2, 1, 3000);
      if (!exploration.isComplete)
        continue;
      ++explored;
      ASSERT_EQ(exploration.complaint.has_value(), judgeExec(plan, 2, 1).has_value())
          << "exploration: " << exploration.complaint.value_or("right")
          << "\njudge: " << judgeExec(plan, 2, 1).value_or("right") << "\n"
          << printExec(plan);
    }
  }
  EXPECT_GT(explored, 100);
}

} // namespace
