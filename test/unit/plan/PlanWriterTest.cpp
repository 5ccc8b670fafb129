//===- PlanWriterTest.cpp - What is written is what is read ---------------===//

#include "compiler/target/plan/PlanWriter.h"
#include "runtime/plan/PlanFile.h"
#include "test/unit/plan/TestPlans.h"

#include <gmock/gmock.h>

namespace coil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PlanWriter, RoundTrips) {
  for (auto &[name, plan] : allTestPlans()) {
    Result<std::vector<uint8_t>> bytes = writePlan(plan);
    ASSERT_TRUE(bytes.isOk()) << name << ": " << bytes.status().message();
    Result<Plan> read = readPlan(*bytes);
    ASSERT_TRUE(read.isOk()) << name << ": " << read.status().message();
    plan.digest = planChecksum(std::span(*bytes).subspan(sizeof(PlanFileHeader)));
    EXPECT_EQ(*read, plan) << name;
  }
}

TEST(PlanWriter, RoundTripsExtremeValues) {
  Plan plan = stagedAllReduce();
  plan.name = "ring \"\\ äöü 環";
  plan.producer.clear();
  plan.locations = {{"", UINT32_MAX, UINT32_MAX}, {std::string(100000, 'x'), 0, 0}};
  plan.variants[0].scratchChunks = {UINT32_MAX, 0};
  plan.variants[0].channels[0].slots = maxPlanSlots;
  Result<std::vector<uint8_t>> bytes = writePlan(plan);
  ASSERT_TRUE(bytes.isOk()) << bytes.status().message();
  Result<Plan> read = readPlan(*bytes);
  ASSERT_TRUE(read.isOk()) << read.status().message();
  plan.digest = read->digest;
  EXPECT_EQ(*read, plan);
}

TEST(PlanWriter, WritesTheSameBytesForTheSamePlan) {
  Plan plan = everyOperation();
  std::vector<uint8_t> bytes = *writePlan(plan);
  plan.digest = 5; // no part of what is written
  EXPECT_EQ(*writePlan(plan), bytes);
  EXPECT_EQ(*writePlan(*readPlan(bytes)), bytes);
}

TEST(PlanWriter, RefusesAnInvalidPlan) {
  Plan plan = directAllReduce();
  plan.chunks = 0;
  Result<std::vector<uint8_t>> bytes = writePlan(plan);
  ASSERT_FALSE(bytes.isOk());
  EXPECT_EQ(bytes.status().code(), StatusCode::InvalidPlan);
  EXPECT_THAT(bytes.status().message(), HasSubstr("at least 1 chunk"));
}

TEST(PlanWriter, SharesEqualPrograms) {
  PlanProgram idle, waiting;
  addBarrier(waiting.workers.emplace_back().body);
  PlanVariant variant;
  variant.programs = {idle, waiting, idle, waiting, waiting};
  variant.programOfKind = {1, 0, 3, 2, 1};
  shareEqualPrograms(variant);
  EXPECT_EQ(variant.programs, (std::vector{waiting, idle}));
  EXPECT_THAT(variant.programOfKind, ElementsAre(0, 1, 0, 1, 0));
}

TEST(PlanWriter, KeepsDifferentPrograms) {
  for (auto &[name, plan] : allTestPlans()) {
    PlanVariant shared = plan.variants[0];
    shareEqualPrograms(shared);
    EXPECT_EQ(shared, plan.variants[0]) << name;
  }
}

TEST(PlanWriter, ReadsBackSharedPrograms) {
  Plan plan;
  plan.name = "nothing to do";
  plan.collective = Collective::Barrier;
  plan.ranks = 1000;
  plan.chunks = 1;
  PlanVariant &variant = plan.variants.emplace_back();
  variant.programs.resize(plan.ranks);
  variant.scratchChunks.resize(plan.ranks);
  for (uint32_t rank = 0; rank < plan.ranks; ++rank)
    variant.programOfKind.push_back(rank);
  shareEqualPrograms(variant);
  EXPECT_EQ(variant.programs.size(), 1u);
  Result<std::vector<uint8_t>> bytes = writePlan(plan);
  ASSERT_TRUE(bytes.isOk()) << bytes.status().message();
  Result<Plan> read = readPlan(*bytes);
  ASSERT_TRUE(read.isOk()) << read.status().message();
  EXPECT_EQ(read->variants, plan.variants);
}

} // namespace
} // namespace coil
