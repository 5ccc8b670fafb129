//===- PreparedPlanTest.cpp - Plans made ready, and run by hand -----------===//

#include "runtime/executor/cpu/CpuExecutor.h"
#include "test/unit/api/HandPlans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>

using namespace coil;
using namespace coil::cpu;
using namespace coil::test;

namespace {

struct alignas(4096) Page {
  std::byte bytes[4096];
};

/// A plan prepared for one rank, in private memory.
struct Prepared {
  Prepared(const Plan &plan, size_t slotBytes, uint32_t rank = 0) {
    Result<PlanSegmentLayout> layout = PlanSegmentLayout::compute(plan, slotBytes);
    EXPECT_TRUE(layout.isOk());
    std::vector<std::byte *> bases;
    for (uint32_t each = 0; each < plan.ranks; ++each) {
      size_t pages = layout->segmentBytes(each) / sizeof(Page) + 1;
      memory.push_back(std::make_unique<Page[]>(pages));
      bases.push_back(memory.back()[0].bytes);
    }
    Result<std::unique_ptr<PreparedPlan>> made =
        PreparedPlan::prepare(plan, *layout, std::move(bases), rank);
    EXPECT_TRUE(made.isOk()) << made.status().message();
    if (made.isOk())
      prepared = *std::move(made);
  }
  std::vector<std::unique_ptr<Page[]>> memory;
  std::unique_ptr<PreparedPlan> prepared;
};

TEST(PreparedPlanTest, FindsVariants) {
  Prepared made(broadcast(3), 4096);
  EXPECT_NE(made.prepared->find(2, false, Transport::P2P), nullptr);
  EXPECT_EQ(made.prepared->find(2, true, Transport::P2P), nullptr);
  EXPECT_EQ(made.prepared->find(3, false, Transport::P2P), nullptr);
}

TEST(PreparedPlanTest, TilesCoverEveryElementOnce) {
  for (size_t slotBytes : {size_t{64}, size_t{4096}, size_t{256} << 10})
    for (const Plan &plan : {mixedAllReduce(3), ringAllReduce(3)}) {
      Prepared made(plan, slotBytes);
      for (Transport transport : {Transport::P2P, Transport::Staged}) {
        PreparedVariant *variant = made.prepared->find(0, false, transport);
        if (!variant)
          continue;
        for (size_t size : {1, 2, 4, 8})
          for (uint64_t count : {0, 1, 2, 63, 64, 65, 1000, 100003}) {
            made.prepared->reshape(*variant, count, size);
            const CallShape &shape = variant->shape;
            EXPECT_GE(shape.tiles, 1u);
            EXPECT_GE(shape.tileElements, 1u);
            EXPECT_LE(shape.tileElements * size, slotBytes);
            uint64_t longest = longestChunk(count, plan.chunks);
            EXPECT_GE(shape.tiles * shape.tileElements, longest);
            EXPECT_TRUE(shape.tiles == 1 || (shape.tiles - 1) * shape.tileElements < longest);
            for (size_t i = 0; i < variant->chunks.size(); ++i) {
              EXPECT_EQ(variant->bounds[i].begin,
                        chunkBegin(count, plan.chunks, variant->chunks[i]));
              EXPECT_LE(variant->bounds[i].size, longest);
            }
          }
      }
    }
}

TEST(PreparedPlanTest, ANameForHugeChunkCountsCostsNothing) {
  Plan plan = directAllReduce(1);
  plan.chunks = UINT32_MAX;
  Prepared made(plan, 4096);
  PreparedVariant *variant = made.prepared->find(0, false, Transport::Staged);
  ASSERT_NE(variant, nullptr);
  made.prepared->reshape(*variant, 1000, 4);
  EXPECT_EQ(variant->chunks.size(), 1u);
}

TEST(PreparedPlanTest, RefusesOperationsOfTheOtherTransport) {
  Plan plan = directAllReduce(2);
  plan.variants.front().transport = Transport::P2P;
  Result<PlanSegmentLayout> layout = PlanSegmentLayout::compute(plan, 4096);
  ASSERT_TRUE(layout.isOk());
  auto pages = std::make_unique<Page[]>(layout->segmentBytes(0) / sizeof(Page) + 1);
  Result<std::unique_ptr<PreparedPlan>> made =
      PreparedPlan::prepare(plan, *layout, {pages[0].bytes, pages[0].bytes}, 0);
  EXPECT_EQ(made.status().code(), StatusCode::InvalidPlan);
  EXPECT_EQ(made.status().message(), "variant 0 of plan 'direct' is p2p, but has a push");
}

TEST(CpuExecutorTest, OneRankRunsAlone) {
  Prepared made(mixedAllReduce(1), 4096);
  auto block = std::make_unique<ControlBlock>();
  Group group;
  group.control = {block.get()};
  group.processIds = {1};
  group.isLost = [](int) { return false; };
  CpuExecutor executor(group, std::move(made.prepared));
  std::vector<int32_t> input(5000), output(5000);
  std::iota(input.begin(), input.end(), -2500);
  executor.buffersOf(0) = {reinterpret_cast<std::byte *>(input.data()),
                           reinterpret_cast<std::byte *>(output.data())};
  for (Transport transport : {Transport::Staged, Transport::P2P}) {
    PreparedVariant *variant = executor.find(0, false, transport);
    ASSERT_NE(variant, nullptr);
    output.assign(5000, 0);
    EXPECT_TRUE(executor.run(*variant, {1, 1, 5000, DataType::I32, ReduceOp::Sum, nullptr}).isOk());
    EXPECT_EQ(output, input);
    int32_t factor = 3;
    EXPECT_TRUE(
        executor.run(*variant, {2, 2, 5000, DataType::I32, ReduceOp::PreMulSum, &factor}).isOk());
    EXPECT_EQ(output[4999], 2499 * 3);
  }
}

} // namespace
