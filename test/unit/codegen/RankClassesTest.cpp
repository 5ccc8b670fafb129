//===- RankClassesTest.cpp - Ranks whose programs share a text ------------===//

#include "runtime/codegen/RankClasses.h"
#include "runtime/plan/AllRanks.h"
#include "test/unit/plan/TestPlans.h"

#include <gtest/gtest.h>

namespace coil::codegen {
namespace {

TEST(RankClasses, EqualUpToNumbers) {
  Plan plan;
  plan.ranks = 3;
  plan.chunks = 1;
  PlanVariant &variant = plan.variants.emplace_back();
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    variant.channels.push_back({rank, 0, (rank + 1) % plan.ranks, 0, Transport::P2P, 0});
    variant.programOfKind.push_back(rank);
    PlanWorker &worker = variant.programs.emplace_back().workers.emplace_back();
    addSync(worker.body, OpKind::Signal, rank);
    if (rank < 2)
      addSync(worker.body, OpKind::Wait, (rank + 2) % plan.ranks);
  }
  RankClasses classes = classifyRanks(plan, variant);
  EXPECT_EQ(classes.ranksOfClass, (std::vector<std::vector<uint32_t>>{{0, 1}, {2}}));
  EXPECT_EQ(classes.classOfRank, (std::vector<uint32_t>{0, 0, 1}));
}

TEST(RankClasses, TheOrderOfOperandsIsNoNumber) {
  // Both ranks add rank 0's input first: its own for rank 0, one in a slot for rank 1.
  Plan plan = stagedAllReduce();
  EXPECT_EQ(classifyRanks(plan, plan.variants[0]).ranksOfClass.size(), 2u);
}

TEST(RankClasses, OtherOperationsMakeOtherClasses) {
  Plan plan = chainBroadcast();
  RankClasses classes = classifyRanks(plan, plan.variants[0]);
  EXPECT_EQ(classes.ranksOfClass.size(), 3u) << "first, middle and last of the chain";
  for (uint32_t i = 0; i < classes.shapes.size(); ++i)
    for (uint32_t k = 0; k < i; ++k)
      EXPECT_FALSE(classes.shapes[i] == classes.shapes[k]);
}

TEST(RankClasses, NumbersAreAsManyAsShapesSay) {
  for (const auto &[name, kept] : allTestPlans()) {
    Plan plan = *withAllRanks(kept);
    for (const PlanVariant &variant : plan.variants) {
      RankClasses classes = classifyRanks(plan, variant);
      ASSERT_EQ(classes.programs.size(), plan.ranks) << name;
      for (const std::vector<FlatWorker> &program : classes.programs)
        for (const FlatWorker &worker : program) {
          size_t count = 0;
          for (const std::vector<uint32_t> &section : worker.calls)
            for (uint32_t call : section)
              count += numberCount(classes.shapes[call]);
          EXPECT_EQ(worker.numbers.size(), count) << name;
        }
    }
  }
}

TEST(RankClasses, EndsAreCountedInOrderOfUse) {
  Plan plan;
  plan.ranks = 3;
  plan.chunks = 1;
  PlanVariant &variant = plan.variants.emplace_back();
  variant.channels = {{0, 0, 1, 0, Transport::P2P, 0}, {0, 0, 2, 0, Transport::P2P, 0}};
  variant.programs.resize(3);
  variant.programOfKind = {0, 1, 2};
  for (PlanProgram &program : variant.programs)
    program.workers.resize(1);
  PlanWorker &first = variant.programs[0].workers[0];
  for (uint32_t channel : {1u, 0u, 1u})
    addSync(first.body, OpKind::Signal, channel);
  RankClasses classes = classifyRanks(plan, variant);
  const FlatWorker &worker = classes.programs[0][0];
  EXPECT_EQ(worker.ends.sends, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(worker.numbers, (std::vector<uint32_t>{0, 1, 0}));
}

TEST(RankClasses, PeersAreBoundAfterTheyAreMet) {
  Plan plan = directAllReduce();
  RankClasses classes = classifyRanks(plan, plan.variants[0]);
  const FlatWorker &worker = classes.programs[0][0];
  std::vector<CallKind> prologue;
  for (uint32_t call : worker.calls[prologueSection])
    prologue.push_back(classes.shapes[call].kind);
  EXPECT_EQ(prologue, (std::vector<CallKind>{CallKind::Meet, CallKind::Bind}));
  EXPECT_EQ(worker.peerSlots, 1u);
  // The rank met; slot, rank and one segment of each buffer.
  EXPECT_EQ(std::vector<uint32_t>(worker.numbers.begin(), worker.numbers.begin() + 5),
            (std::vector<uint32_t>{1, 0, 1, 1, 1}));
}

} // namespace
} // namespace coil::codegen
