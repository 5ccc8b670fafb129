//===- LoweringTest.cpp - Right algorithms become right programs ----------===//
//
// Random right algorithms go through storage, schedule and both protocols; the
// independent proof must accept every result.
//
//===----------------------------------------------------------------------===//

#include "compiler/schedule/LowerProtocol.h"
#include "compiler/schedule/ScheduleMoves.h"
#include "compiler/semantics/ExecVerifier.h"
#include "test/unit/schedule/RandomAlgorithms.h"

#include <gtest/gtest.h>

namespace coil::test {
namespace {

std::string describe(const std::vector<Finding> &findings) {
  std::string text;
  for (const Finding &finding : findings) {
    text += std::to_string(finding.location) + ": " + finding.message + "\n";
    for (const FindingNote &note : finding.notes)
      text += "  " + std::to_string(note.location) + ": " + note.message + "\n";
  }
  return text;
}

void expectProved(const Instance &instance) {
  const LocationIndex algorithmLocation = static_cast<LocationIndex>(instance.statements.size());
  CollectiveProof proof = verifyCollective(instance, algorithmLocation);
  ASSERT_TRUE(proof.isProved()) << describe(proof.findings);
  CollectiveShape shape{instance.collective, instance.ranks, instance.root, instance.chunks,
                        instance.contract};
  ExecPlan plan;
  plan.collective = instance.collective;
  plan.ranks = instance.ranks;
  plan.chunks = instance.chunks;
  plan.contract = instance.contract;
  for (bool inPlace : {false, true}) {
    if (inPlace && (!shape.hasData() || shape.hasOneForm()))
      continue;
    MoveProgram moves = assignStorage(instance, proof, inPlace, algorithmLocation);
    ExecVariant matched = scheduleMoves(shape, std::move(moves), inPlace);
    EXPECT_EQ(describe(verifyExec(plan, matched)), "") << "matched, in place " << inPlace;
    // One slot a channel must do: the schedule's rounds promise it.
    EXPECT_EQ(describe(verifyExec(plan, lowerToStaged(matched, 1))), "")
        << "staged, in place " << inPlace;
    Finding deadlock;
    std::optional<ExecVariant> p2p = lowerToP2P(plan, matched, deadlock);
    ASSERT_TRUE(p2p) << deadlock.message;
    EXPECT_EQ(describe(verifyExec(plan, *p2p)), "") << "p2p, in place " << inPlace;
  }
}

struct LoweringTest : testing::TestWithParam<int64_t> {};

TEST_P(LoweringTest, RandomReductionsAreProved) {
  for (uint64_t seed = 0; seed < 160; ++seed) {
    RandomShape shape;
    shape.collective = seed & 32 ? Collective::Reduce : Collective::AllReduce;
    shape.ranks = GetParam();
    shape.chunks = 1 + static_cast<int64_t>(seed % 4);
    shape.namesBuffers = seed & 4;
    shape.usesScratch = seed & 8;
    shape.exchanges = seed & 16;
    SCOPED_TRACE("seed " + std::to_string(seed));
    expectProved(randomReduction(shape, seed));
    if (HasFailure())
      return;
  }
}

TEST_P(LoweringTest, RandomContractsAreProved) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Instance instance = randomContract(GetParam(), 1 + static_cast<int64_t>(seed % 3), seed);
    expectProved(instance);
    if (HasFailure())
      return;
    // Without any one of its statements, the contract is not kept.
    if (instance.statements.empty())
      continue;
    size_t left = seed % instance.statements.size();
    instance.statements.erase(instance.statements.begin() + static_cast<ptrdiff_t>(left));
    EXPECT_FALSE(verifyCollective(instance, 0).isProved()) << "without statement " << left;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, LoweringTest, testing::Values(1, 2, 3, 4, 5, 8, 13));

} // namespace
} // namespace coil::test
