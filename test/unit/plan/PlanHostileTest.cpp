//===- PlanHostileTest.cpp - Plans with a right checksum and evil contents ===//

#include "compiler/target/plan/PlanWriter.h"
#include "runtime/plan/AllRanks.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/plan/plan_generated.h"
#include "test/unit/plan/TestPlans.h"
#include "tools/coil-plan/PlanJson.h"
#include "tools/coil-plan/PlanText.h"

#include <gmock/gmock.h>
#include <random>

namespace coil {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

Bytes payloadOf(const Plan &plan) {
  Bytes bytes = *writePlan(plan);
  bytes.erase(bytes.begin(), bytes.begin() + sizeof(PlanFileHeader));
  return bytes;
}

/// Reads what may be anything; what is accepted must be good for everything.
bool readsSafely(const Bytes &payload) {
  Result<Plan> plan = readPlan(wrapPlan(payload));
  if (!plan.isOk()) {
    EXPECT_EQ(plan.status().code(), StatusCode::InvalidPlan);
    EXPECT_FALSE(plan.status().message().empty());
    return false;
  }
  EXPECT_TRUE(validatePlan(*plan).isOk());
  EXPECT_FALSE(planText(*plan).empty());
  EXPECT_FALSE(planJson(*plan).empty());
  EXPECT_TRUE(writePlan(*plan).isOk());
  // Of more ranks, the programs of all take long to make.
  if (plan->ranks <= 256) {
    Result<Plan> all = withAllRanks(*plan);
    EXPECT_TRUE(all.isOk()) << all.status().message();
    EXPECT_TRUE(!all.isOk() || validatePlan(*all).isOk()) << validatePlan(*all).message();
  }
  return true;
}

TEST(PlanHostile, SurvivesMutatedPayloads) {
  std::mt19937 random(20260822);
  int accepted = 0, refused = 0;
  for (const auto &[name, plan] : allTestPlans()) {
    const Bytes payload = payloadOf(plan);
    for (int round = 0; round < 5000; ++round) {
      Bytes mutated = payload;
      for (int changes = 1 + random() % 4; changes > 0; --changes) {
        uint8_t &byte = mutated[random() % mutated.size()];
        // Small steps reach further into the checks than random values.
        byte = random() % 2 ? byte + random() % 5 - 2 : random();
      }
      ++(readsSafely(mutated) ? accepted : refused);
    }
  }
  // Neither the reader nor the mutation may be trivial.
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 1000);
}

TEST(PlanHostile, SurvivesEveryChangedByte) {
  const Bytes payload = payloadOf(stagedAllReduce());
  for (size_t i = 0; i < payload.size(); ++i)
    for (int value : {0x00, 0x01, 0x02, 0x7f, 0x80, 0xff}) {
      Bytes mutated = payload;
      mutated[i] = static_cast<uint8_t>(value);
      readsSafely(mutated);
    }
}

TEST(PlanHostile, SurvivesTruncatedPayloads) {
  const Bytes payload = payloadOf(chainBroadcast());
  for (size_t size = 0; size < payload.size(); ++size)
    readsSafely(Bytes(payload.begin(), payload.begin() + size));
}

TEST(PlanHostile, SurvivesGarbage) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Bytes garbage(random() % 300);
    for (uint8_t &byte : garbage)
      byte = random() % 4 ? random() % 8 : random();
    if (garbage.size() >= 8 && round % 2)
      std::copy_n("\x08\0\0\0COIL", 8, garbage.begin());
    EXPECT_FALSE(readsSafely(garbage));
    EXPECT_FALSE(readPlan(garbage).isOk());
  }
}

TEST(PlanHostile, RefusesPartsThatMultiplyByOverlapping) {
  // 1000 variants that are one and the same 36 KB of operations, 36 MB if believed.
  flatbuffers::FlatBufferBuilder builder;
  auto ops = builder.CreateVectorOfStructs<planfb::Op>(1000, [](size_t, planfb::Op *op) {
    *op = planfb::Op(planfb::OpKind::Barrier, false, 0, planfb::Operand(), 0, 0, 0, 0);
  });
  std::vector worker{planfb::CreateWorker(builder, 0, ops)};
  std::vector program{planfb::CreateProgram(builder, builder.CreateVector(worker))};
  auto variant = planfb::CreateVariant(builder, 0, false, planfb::Transport::P2P, 0,
                                       builder.CreateVector(program));
  std::vector variants(1000, variant);
  planfb::FinishPlanBuffer(
      builder, planfb::CreatePlan(builder, 0, 0, 1, 1, 0, builder.CreateVector(variants)));
  Result<Plan> plan = readPlan(wrapPlan({builder.GetBufferPointer(), builder.GetSize()}));
  ASSERT_FALSE(plan.isOk());
  EXPECT_THAT(plan.status().message(), HasSubstr("its parts overlap"));
}

TEST(PlanHostile, RefusesTablesThatMultiplyByOverlapping) {
  // Each level refers 200 times to the one below: 8 million workers if believed.
  flatbuffers::FlatBufferBuilder builder;
  auto repeated = [&builder](auto table) { return builder.CreateVector(std::vector(200, table)); };
  auto worker = planfb::CreateWorker(builder);
  auto program = planfb::CreateProgram(builder, repeated(worker));
  auto variant =
      planfb::CreateVariant(builder, 0, false, planfb::Transport::P2P, 0, repeated(program));
  planfb::FinishPlanBuffer(builder, planfb::CreatePlan(builder, 0, 0, 1, 1, 0, repeated(variant)));
  Result<Plan> plan = readPlan(wrapPlan({builder.GetBufferPointer(), builder.GetSize()}));
  ASSERT_FALSE(plan.isOk());
  EXPECT_THAT(plan.status().message(), HasSubstr("not a well-formed FlatBuffer"));
}

TEST(PlanHostile, TakesLinearTimeForSharedProgramsAndRuns) {
  // 100 000 ranks that share 100 000 operations, and 100 000 operations that
  // share 100 000 operands: 10^10 steps each, were they taken one by one.
  constexpr uint32_t many = 100000;
  Plan plan;
  plan.collective = Collective::Barrier;
  plan.ranks = many;
  plan.chunks = 1;
  PlanVariant &variant = plan.variants.emplace_back();
  variant.programOfKind.resize(many);
  variant.scratchChunks.resize(many);
  PlanWorker &worker = variant.programs.emplace_back().workers.emplace_back();
  for (uint32_t i = 0; i < many; ++i)
    addBarrier(worker.body);
  EXPECT_TRUE(validatePlan(plan).isOk());

  worker.body.clear();
  variant.programOfKind[0] = 1;
  PlanWorker &first = variant.programs.emplace_back().workers.emplace_back();
  for (uint32_t rank = 1; rank < many; ++rank)
    first.operands.push_back({OperandKind::Input, rank, 0});
  first.prologue.assign(many, {OpKind::Meet, false, 0, {}, 0, many - 1, 0, 0});
  Status status = validatePlan(plan);
  ASSERT_FALSE(status.isOk());
  EXPECT_THAT(status.message(), HasSubstr("operand 0: an earlier operation has it already"));
}

} // namespace
} // namespace coil
