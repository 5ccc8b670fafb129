//===- JobTest.cpp - Tests of the layout of a run -------------------------===//

#include "tools/coil-run/Job.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace coil;
using namespace coil::run;
using testing::HasSubstr;

namespace {

Options someOptions() {
  Options options;
  options.sizes = {1000, 2000};
  options.types = {DataType::F32, DataType::U8};
  options.memory = {MemoryKind::Registered};
  return options;
}

Plan planWith(Collective collective, std::vector<uint32_t> roots, bool inPlace = true) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = 3;
  plan.chunks = 1;
  for (uint32_t root : roots)
    for (bool place : {false, true}) {
      PlanVariant &variant = plan.variants.emplace_back();
      variant.root = root;
      variant.inPlace = place && inPlace;
    }
  return plan;
}

std::string errorOf(Options options, Plan plan) {
  Result<Job> job = makeJob(std::move(options), std::move(plan), {});
  EXPECT_FALSE(job.isOk());
  return job.status().message();
}

TEST(Job, LaysOutRows) {
  Options options = someOptions();
  options.ops = {ReduceOp::Sum, ReduceOp::Max};
  options.memory = {MemoryKind::Registered, MemoryKind::Plain};
  Result<Job> job = makeJob(options, planWith(Collective::ReduceScatter, {0}), {});
  ASSERT_TRUE(job.isOk()) << job.status().message();
  ASSERT_EQ(job->rows.size(), 16u);
  EXPECT_EQ(job->rows[0].count, 83u);
  EXPECT_EQ(job->rows[0].bytes, 996u);
  EXPECT_EQ(job->rows[1].count, 166u);
  EXPECT_EQ(job->rows[2].op, ReduceOp::Max);
  EXPECT_EQ(job->rows[4].type, DataType::U8);
  EXPECT_EQ(job->rows[8].memory, MemoryKind::Plain);
  EXPECT_TRUE(job->runs[0] && job->runs[1]);
}

TEST(Job, TakesCountsAndIterationsAsGiven) {
  Options options = someOptions();
  options.sizesAreCounts = true;
  options.iterations = 4;
  options.warmup = 0;
  Result<Job> job = makeJob(options, planWith(Collective::AllGather, {0}), {});
  ASSERT_TRUE(job.isOk());
  EXPECT_EQ(job->rows[0].count, 1000u);
  EXPECT_EQ(job->rows[0].bytes, 12000u);
  EXPECT_EQ(job->rows[0].iterations, 4u);
  EXPECT_EQ(job->rows[0].warmup, 0u);
}

TEST(Job, RunsLargeSizesLessOften) {
  Options options = someOptions();
  options.sizes = {0, 1024, 16 << 20, uint64_t{1} << 30};
  Result<Job> job = makeJob(options, planWith(Collective::AllReduce, {0}), {});
  ASSERT_TRUE(job.isOk());
  EXPECT_EQ(job->rows[0].iterations, 2000u);
  EXPECT_EQ(job->rows[2].iterations, 16u);
  EXPECT_EQ(job->rows[3].iterations, 5u);
  EXPECT_EQ(job->rows[3].warmup, 1u);
}

TEST(Job, ChoosesRoots) {
  Options options = someOptions();
  Plan plan = planWith(Collective::Broadcast, {2, 1});
  EXPECT_EQ(makeJob(options, plan, {})->rows[0].root, 1);
  options.root = 2;
  EXPECT_EQ(makeJob(options, plan, {})->rows[0].root, 2);
  options.root = 0;
  EXPECT_THAT(errorOf(options, plan), HasSubstr("--root"));
  options.root.reset();
  options.allRoots = true;
  EXPECT_EQ(makeJob(options, plan, {})->rows.size(), 8u);
  EXPECT_EQ(errorOf(options, planWith(Collective::AllReduce, {0})),
            "--root: allreduce has no root");
}

TEST(Job, LeavesOutPlacementsThatThePlanLacks) {
  Options options = someOptions();
  Plan plan = planWith(Collective::AllReduce, {0}, /*inPlace=*/false);
  EXPECT_FALSE(makeJob(options, plan, {})->runs[1]);
  options.placeChosen = true;
  options.outOfPlace = false;
  Result<Job> job = makeJob(options, plan, {});
  EXPECT_TRUE(job->runs[1] && !job->runs[0]);
  for (Collective rooted : {Collective::Broadcast, Collective::Reduce, Collective::Gather})
    EXPECT_TRUE(makeJob(someOptions(), planWith(rooted, {0}, false), {})->runs[1]);
  EXPECT_FALSE(makeJob(someOptions(), planWith(Collective::AllToAll, {0}, false), {})->runs[1]);
}

TEST(Job, RunsABarrierInOneRow) {
  Options options = someOptions();
  options.sizes = {4, 1024};
  options.memory = {MemoryKind::Registered, MemoryKind::Plain};
  Result<Job> job = makeJob(options, planWith(Collective::Barrier, {0}, /*inPlace=*/false), {});
  ASSERT_EQ(job->rows.size(), 1u);
  EXPECT_EQ(job->rows[0].count, 0u);
  EXPECT_TRUE(job->runs[0] && !job->runs[1]);
}

TEST(Job, RefusesWhatDoesNotFit) {
  Options options = someOptions();
  options.ranks = 4;
  EXPECT_EQ(errorOf(options, planWith(Collective::AllReduce, {0})),
            "--ranks: the plan is for 3 ranks, found 4");
  options = someOptions();
  options.ops = {ReduceOp::Sum};
  EXPECT_EQ(errorOf(options, planWith(Collective::AllGather, {0})),
            "--op: allgather combines nothing");
  options = someOptions();
  options.placeChosen = true;
  options.outOfPlace = false;
  for (Collective collective : {Collective::AllToAll, Collective::SendRecv})
    EXPECT_EQ(errorOf(options, planWith(collective, {0}, /*inPlace=*/false)),
              fmt::format("--in-place: {} has no in-place form", nameOf(collective)));
  EXPECT_THAT(errorOf(someOptions(), planWith(Collective::AllReduce, {})), HasSubstr("no variant"));
  options = someOptions();
  options.sizes.assign(600000, 4);
  EXPECT_THAT(errorOf(options, planWith(Collective::AllReduce, {0})), HasSubstr("found 1200000"));
}

} // namespace
