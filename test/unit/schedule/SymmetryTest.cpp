//===- SymmetryTest.cpp - Reducing programs by their symmetry -------------===//
//
// Random algorithms that treat ranks alike are reduced, lowered and proved for one rank;
// then the same programs are proved, and tried out, with a program for every rank.
// Where programs are broken, all must agree as well.
//
//===----------------------------------------------------------------------===//

#include "compiler/schedule/LowerProtocol.h"
#include "compiler/schedule/ScheduleMoves.h"
#include "compiler/semantics/ExecSymmetry.h"
#include "compiler/semantics/ExecVerifier.h"
#include "compiler/semantics/ReduceBySymmetry.h"
#include "test/unit/schedule/SymmetricAlgorithms.h"
#include "test/unit/semantics/ExecJudge.h"
#include "test/unit/semantics/ExecText.h"

#include <gtest/gtest.h>
#include <random>

namespace coil::test {
namespace {

struct Group {
  const char *name;
  int64_t ranks;
  std::vector<SymmetryDigit> digits;
};

const Group groups[] = {
    {"ring_of_2", 2, {{1, 2, 1}}},
    {"ring_of_3", 3, {{1, 3, 1}}},
    {"ring_of_5", 5, {{1, 5, 1}}},
    {"exclusive_or_of_4", 4, {{1, 2, 1}, {2, 2, 2}}},
    {"exclusive_or_of_8", 8, {{1, 2, 1}, {2, 2, 2}, {4, 2, 4}}},
    {"2_nodes_of_3", 6, {{1, 3, 1}, {3, 2, 3}}},
};

/// Trying a program out takes quadratic time: a few of the larger ones do.
bool isTriedOut(const Group &group, uint64_t seed) { return group.ranks < 4 || seed % 8 == 5; }

Instance instanceOf(const Group &group, uint64_t seed) {
  RandomShape shape;
  shape.ranks = group.ranks;
  shape.namesBuffers = seed & 1;
  shape.usesScratch = seed & 2;
  shape.exchanges = seed & 4;
  return symmetricReduction(shape, group.digits, seed);
}

ExecPlan planOf(const Instance &instance) {
  ExecPlan plan;
  plan.collective = instance.collective;
  plan.ranks = instance.ranks;
  plan.chunks = instance.chunks;
  return plan;
}

/// The instance's variants of all transports, in place and out of place.
std::vector<ExecVariant> lower(const Instance &instance) {
  ExecPlan plan = planOf(instance);
  CollectiveProof proof = verifyCollective(instance, 0);
  EXPECT_TRUE(proof.isProved()) << proof.findings.front().message;
  CollectiveShape shape{instance.collective, instance.ranks, instance.root, instance.chunks};
  std::vector<ExecVariant> variants;
  for (bool inPlace : {false, true}) {
    ExecVariant matched = scheduleMoves(shape, assignStorage(instance, proof, inPlace, 0), inPlace);
    Finding deadlock;
    std::optional<ExecVariant> p2p = lowerToP2P(plan, matched, deadlock);
    EXPECT_TRUE(p2p) << deadlock.message;
    variants.push_back(matched);
    variants.push_back(lowerToStaged(matched, 1));
    if (p2p)
      variants.push_back(*std::move(p2p));
  }
  return variants;
}

struct ReductionTest : testing::TestWithParam<Group> {};

TEST_P(ReductionTest, ReducedProgramsAreRightForAllRanks) {
  const Group &group = GetParam();
  for (uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Instance whole = instanceOf(group, seed);
    ASSERT_TRUE(verifyCollective(whole, 0).isProved());
    Instance reduced = reduceBySymmetry(whole);
    // There may be more shifts than were put in, never fewer.
    ASSERT_EQ(reduced.symmetry.shifts(), group.ranks);
    EXPECT_EQ(reduced.statements.size() * static_cast<size_t>(group.ranks),
              whole.statements.size());
    ExecPlan plan = planOf(whole);
    for (const ExecVariant &variant : lower(reduced)) {
      std::vector<Finding> findings = verifyExec(plan, variant);
      ASSERT_TRUE(findings.empty()) << findings.front().message;
      ExecVariant all = withAllRanks(plan, variant);
      EXPECT_TRUE(all.symmetry.isTrivial());
      EXPECT_EQ(static_cast<int64_t>(all.programs.size()), group.ranks);
      findings = verifyExec(plan, all);
      ASSERT_TRUE(findings.empty()) << findings.front().message;
      if (!isTriedOut(group, seed))
        continue;
      plan.variants = {std::move(all)};
      ASSERT_EQ(judgeExec(plan, 2, 2).value_or(""), "") << printExec(plan);
    }
  }
}

/// Drops, repeats or moves an operation, or changes a place or a number of slots, of a
/// program that stands for all ranks.
void breakAtRandom(ExecVariant &variant, std::mt19937_64 &random) {
  ExecWorker &worker = variant.programs[random() % variant.programs.size()].front();
  std::vector<ExecOp> *sections[] = {&worker.prologue, &worker.body, &worker.body,
                                     &worker.epilogue};
  std::vector<ExecOp> &ops = *sections[random() % 4];
  if (ops.empty())
    return;
  size_t at = random() % ops.size();
  auto position = ops.begin() + static_cast<ptrdiff_t>(at);
  switch (random() % 6) {
  case 0:
    ops.erase(position);
    return;
  case 1:
    ops.insert(position, ExecOp(*position));
    return;
  case 2:
  case 3: {
    ExecOp op = *position;
    ops.erase(position);
    ops.insert(ops.begin() + static_cast<ptrdiff_t>(random() % (ops.size() + 1)), std::move(op));
    return;
  }
  case 4:
    for (ExecOperand &operand : ops[at].operands)
      if (!operand.isHead && operand.place.buffer != ExecBuffer::Scratch && random() % 2)
        operand.place.buffer =
            operand.place.buffer == ExecBuffer::Input ? ExecBuffer::Output : ExecBuffer::Input;
    return;
  case 5:
    if (ops[at].operands.size() > 1)
      ops[at].operands.erase(ops[at].operands.begin());
    return;
  }
}

TEST_P(ReductionTest, ProofForOneRankAgreesWithThatForAll) {
  const Group &group = GetParam();
  std::mt19937_64 random(7);
  int accepted = 0, rejected = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Instance reduced = reduceBySymmetry(instanceOf(group, seed));
    ExecPlan plan = planOf(reduced);
    for (const ExecVariant &right : lower(reduced))
      for (int i = 0; i < 12; ++i) {
        ExecVariant variant = right;
        for (size_t changes = 1 + random() % 2; changes > 0; --changes)
          breakAtRandom(variant, random);
        ExecVariant all = withAllRanks(plan, variant);
        std::vector<Finding> forOne = verifyExec(plan, variant), forAll = verifyExec(plan, all);
        plan.variants = {std::move(all)};
        ++(forOne.empty() ? accepted : rejected);
        ASSERT_EQ(forOne.empty(), forAll.empty())
            << (forOne.empty() ? forAll : forOne).front().message << "\n"
            << printExec(plan);
        if (!isTriedOut(group, seed) || i % 4)
          continue;
        std::optional<std::string> complaint = judgeExec(plan, 3, 2);
        ASSERT_EQ(forOne.empty(), !complaint)
            << "judge: " << complaint.value_or("right") << "\n"
            << (forOne.empty() ? "" : forOne.front().message) << "\n"
            << printExec(plan);
      }
  }
  EXPECT_GT(accepted, 5);
  EXPECT_GT(rejected, 50);
}

INSTANTIATE_TEST_SUITE_P(Groups, ReductionTest, testing::ValuesIn(groups),
                         [](const auto &info) { return info.param.name; });

TEST(ReduceBySymmetry, OneOtherStatementBreaksIt) {
  Instance instance = instanceOf(groups[2], 0);
  instance.statements.back().location += 1;
  Instance reduced = reduceBySymmetry(instance);
  EXPECT_TRUE(reduced.symmetry.isTrivial());
  EXPECT_EQ(reduced.statements.size(), instance.statements.size());
}

TEST(ReduceBySymmetry, FaultyInstancesStayWhole) {
  Instance instance = instanceOf(groups[1], 0);
  instance.sources.front().index = instance.chunks;
  EXPECT_TRUE(reduceBySymmetry(instance).symmetry.isTrivial());
  instance = instanceOf(groups[1], 0);
  instance.statements.front().destination.buffer = InstanceBuffer::Input;
  EXPECT_TRUE(reduceBySymmetry(instance).symmetry.isTrivial());
}

} // namespace
} // namespace coil::test
