//===- CombinationOrderTest.cpp - Orders of hand-made programs ------------===//

#include "compiler/semantics/CombinationOrder.h"
#include "test/unit/semantics/ExecText.h"
#include "test/unit/semantics/RightPrograms.h"

#include <gtest/gtest.h>

using namespace coil;

namespace {

std::string describe(const std::optional<OrderDifference> &difference) {
  if (!difference)
    return "none";
  std::string text;
  for (const OrderDifference::Side *side : {&difference->first, &difference->second})
    text += (text.empty() ? "" : "; ") + std::to_string(side->rank) + "[" +
            std::to_string(side->chunk) + "] = " + side->order;
  return text;
}

CombinationOrder orderOf(std::string_view text) { return combinationOrder(parseExec(text), 0); }

// Around a ring each chunk begins at a rank of its own, and its sum is then handed on.
TEST(CombinationOrderTest, RingDependsOnTheChunk) {
  CombinationOrder order = orderOf(stagedRing(3, 2, false));
  EXPECT_TRUE(order.combines);
  EXPECT_EQ(describe(order.betweenRanks), "none");
  EXPECT_EQ(describe(order.betweenVariants), "none");
  EXPECT_EQ(describe(order.betweenChunks), "0[0] = 1 + 0 + 2; 0[1] = 2 + 1 + 0");
  EXPECT_FALSE(order.isSameForAnyLength());
}

TEST(CombinationOrderTest, TwoOperandsCommute) {
  CombinationOrder order = orderOf(R"(
plan allreduce ranks 2 chunks 1 transport staged scratch 0 0
channel a from 0 to 1 slots 1
channel b from 1 to 0 slots 1
rank 0
  push input[0] -> @a
  pop_reduce input[0], @b -> output[0] complete
rank 1
  push input[0] -> @b
  pop_reduce input[0], @a -> output[0] complete
)");
  EXPECT_TRUE(order.combines);
  EXPECT_EQ(describe(order.betweenRanks), "none");
  EXPECT_TRUE(order.isSameForAnyLength());
}

// Of three operands of one operation the third is added last, and all are rounded once.
TEST(CombinationOrderTest, RanksWithOrdersOfTheirOwn) {
  constexpr const char *program = R"(
plan allreduce ranks 3 chunks 1 transport staged scratch 0 0 0
channel a from 0 to 1 slots 1
channel b from 0 to 2 slots 1
channel c from 1 to 0 slots 1
channel d from 1 to 2 slots 1
channel e from 2 to 0 slots 1
channel f from 2 to 1 slots 1
rank 0
  push input[0] -> @a
  push input[0] -> @b
  pop_reduce input[0], @c, @e -> output[0] complete
rank 1
  push input[0] -> @c
  push input[0] -> @d
  pop_reduce input[0], @a, @f -> output[0] complete
rank 2
  push input[0] -> @e
  push input[0] -> @f
  pop_reduce input[0], @b, @d -> output[0] complete
)";
  EXPECT_EQ(describe(orderOf(program).betweenRanks), "0[0] = [1 + 0 + 2]; 2[0] = [2 + 0 + 1]");
}

TEST(CombinationOrderTest, VariantsAreCompared) {
  ExecPlan plan = parseExec(R"(
plan allreduce ranks 2 chunks 1 transport staged scratch 1 0
channel a from 1 to 0 slots 1
channel b from 0 to 1 slots 1
rank 0
  pop_reduce input[0], @a -> output[0] complete
  push output[0] -> @b
rank 1
  push input[0] -> @a
  pop @b -> output[0]
)");
  plan.variants.push_back(plan.variants.front());
  EXPECT_TRUE(combinationOrder(plan, 0).isSameForAnyLength());
  // Not what it computes, but how, is what is looked at here.
  ExecOp &reduce = plan.variants.back().programs[0][0].body.front();
  reduce.operands.push_back(reduce.operands.front());
  EXPECT_EQ(describe(combinationOrder(plan, 0).betweenVariants),
            "0[0] = 0 + 1; 0[0] = [0 + 1 + 0]");
  // Another root's variants are another matter.
  plan.variants.back().root = 1;
  EXPECT_TRUE(combinationOrder(plan, 0).isSameForAnyLength());
}

TEST(CombinationOrderTest, CopiesAreNoCombinations) {
  CombinationOrder order = orderOf(R"(
plan sendrecv ranks 2 chunks 1 transport staged scratch 0 0
channel a from 0 to 1 slots 1
channel b from 1 to 0 slots 1
rank 0
  push input[0] -> @a
  pop @b -> output[0]
rank 1
  push input[0] -> @b
  pop @a -> output[0]
)");
  EXPECT_FALSE(order.combines);
  EXPECT_TRUE(order.isSameForAnyLength());
}

} // namespace
