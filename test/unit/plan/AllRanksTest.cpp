//===- AllRanksTest.cpp - Programs of all ranks from one's ----------------===//

#include "runtime/plan/AllRanks.h"
#include "runtime/plan/PlanFile.h"
#include "test/unit/plan/TestPlans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The operations of a section as short texts.
std::vector<std::string> listOf(const PlanWorker &worker, const std::vector<PlanOp> &ops) {
  auto name = [](const PlanOperand &place) {
    return fmt::format("{}{}@{}", nameOf(place.kind)[0], place.index, place.rank);
  };
  std::vector<std::string> list;
  for (const PlanOp &op : ops) {
    std::string &text = list.emplace_back(nameOf(op.kind));
    for (uint32_t i = 0; i < op.operandCount; ++i)
      text += " " + name(worker.operands[op.firstOperand + i]);
    if (op.kind == OpKind::Signal || op.kind == OpKind::Wait)
      text += fmt::format(" c{}", op.channel);
    else if (op.kind == OpKind::Push)
      text += fmt::format(" -> c{} length {}", op.channel, op.length);
    else if (op.kind != OpKind::Meet)
      text += fmt::format(" -> {} length {}", name(op.destination), op.length);
  }
  return list;
}

TEST(AllRanks, MovesChannelsAndPlaces) {
  Plan plan = symmetricRing();
  ASSERT_TRUE(validatePlan(plan).isOk()) << validatePlan(plan).message();
  Result<Plan> all = withAllRanks(plan);
  ASSERT_TRUE(all.isOk()) << all.status().message();
  EXPECT_TRUE(validatePlan(*all).isOk()) << validatePlan(*all).message();

  const PlanVariant &staged = all->variants[0];
  EXPECT_TRUE(staged.digits.empty());
  EXPECT_THAT(staged.programOfKind, ElementsAre(0, 1, 2));
  EXPECT_THAT(staged.scratchChunks, ElementsAre(0, 0, 0));
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(staged.channels[i].sourceRank, i);
    EXPECT_EQ(staged.channels[i].destinationRank, (i + 1) % 3);
  }
  // What comes to rank 2 comes from channel 1, which begins at rank 1.
  const PlanWorker &fifo = staged.programs[2].workers[0];
  EXPECT_THAT(listOf(fifo, fifo.body),
              ElementsAre("push i2@2 -> c2 length 2", "pop_reduce i1@2 s1@2 -> o1@2 length 1",
                          "push o1@2 -> c2 length 1", "pop_reduce i0@2 s1@2 -> o0@2 length 0",
                          "push o0@2 -> c2 length 0", "pop s1@2 -> o2@2 length 2",
                          "push o2@2 -> c2 length 2", "pop s1@2 -> o1@2 length 1"));

  const PlanWorker &reader = all->variants[1].programs[1].workers[0];
  EXPECT_THAT(listOf(reader, reader.prologue), ElementsAre("meet i0@0"));
  EXPECT_THAT(listOf(reader, reader.body),
              ElementsAre("get_reduce i0@1 i0@0 -> o0@1 length 0", "signal c1", "wait c0",
                          "get_reduce i2@1 o2@0 -> o2@1 length 2", "signal c1", "wait c0",
                          "get o1@0 -> o1@1 length 1", "signal c1", "wait c0",
                          "get o0@0 -> o0@1 length 0"));
  // The handshake's channels lead from r to r - 1: those of ranks 1 and 2.
  EXPECT_THAT(listOf(reader, reader.epilogue), ElementsAre("signal c4", "wait c5"));
}

TEST(AllRanks, LeavesPlansWithoutSymmetryAsTheyAre) {
  for (const auto &[name, plan] : allTestPlans()) {
    if (plan.variants[0].digits.empty()) {
      EXPECT_EQ(*withAllRanks(plan), plan) << name;
    }
  }
}

TEST(AllRanks, RefusesWhatNobodyCouldRun) {
  Plan plan = symmetricRing();
  plan.ranks = 1 << 20;
  plan.chunks = 1 << 20;
  plan.variants.resize(1);
  plan.variants[0].digits = {{1, 1 << 20, 1}};
  PlanWorker &worker = plan.variants[0].programs[0].workers[0];
  worker.body.resize(1000, worker.body[0]);
  Result<Plan> all = withAllRanks(plan);
  ASSERT_FALSE(all.isOk());
  EXPECT_THAT(all.status().message(),
              HasSubstr("plan ring has 1048576000 operations on 1048576 ranks; at most 33554432"));
}

TEST(PlanSymmetry, FaultsAreRefused) {
  auto messageOf = [](auto change) {
    Plan plan = symmetricRing();
    change(plan);
    return validatePlan(plan).message();
  };
  EXPECT_THAT(messageOf([](Plan &p) { p.variants[0].digits[0].radix = 2; }),
              HasSubstr("symmetry: a digit of weight 1 and radix 2 does not fit in 3 ranks"));
  EXPECT_THAT(messageOf([](Plan &p) { p.variants[0].digits[0].chunkWeight = 2; }),
              HasSubstr("symmetry: chunks of weight 2 and radix 3 do not fit in 3 chunks"));
  EXPECT_THAT(messageOf([](Plan &p) { p.collective = Collective::SendRecv; }),
              HasSubstr("symmetry: sendrecv does not treat all ranks alike"));
  EXPECT_THAT(messageOf([](Plan &p) { p.variants[0].programOfKind = {0, 0}; }),
              HasSubstr("expected the programs of 1 kind of ranks, found 2"));
  EXPECT_THAT(messageOf([](Plan &p) { p.variants[0].scratchChunks.clear(); }),
              HasSubstr("expected the scratch chunks of 1 kind of ranks, found 0"));
  EXPECT_THAT(
      messageOf([](Plan &p) { p.variants[0].channels[0] = {1, 0, 2, 0, Transport::Staged, 2}; }),
      HasSubstr("expected it to begin at rank 0, which its kind is represented by"));
  EXPECT_THAT(messageOf([](Plan &p) { p.variants[1].programs[0].workers[0].operands[0].rank = 0; }),
              HasSubstr("rank 0 would meet itself"));
}

} // namespace
} // namespace coil
