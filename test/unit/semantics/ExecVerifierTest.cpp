//===- ExecVerifierTest.cpp - Right programs are proved -------------------===//

#include "compiler/semantics/ExecVerifier.h"
#include "test/unit/semantics/ExecText.h"
#include "test/unit/semantics/Listing.h"
#include "test/unit/semantics/RightPrograms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace coil;

namespace {

class RightProgramTest : public testing::TestWithParam<NamedProgram> {};

TEST_P(RightProgramTest, IsProved) { EXPECT_EQ(listFindings(GetParam().text), ""); }

TEST_P(RightProgramTest, PrintsAsItIsRead) {
  ExecPlan plan = parseExec(GetParam().text);
  EXPECT_EQ(printExec(parseExec(printExec(plan))), printExec(plan));
}

INSTANTIATE_TEST_SUITE_P(ExecVerifier, RightProgramTest, testing::ValuesIn(rightPrograms()),
                         [](const auto &info) { return info.param.name; });

TEST(ExecVerifierTest, ProvesRingsOfManyRanks) {
  for (int64_t ranks : {2, 4, 5, 8, 17, 64}) {
    EXPECT_EQ(listFindings(stagedRing(ranks, 1, false)), "") << ranks;
    EXPECT_EQ(listFindings(stagedRing(ranks, 3, true)), "") << ranks;
    EXPECT_EQ(listFindings(p2pRing(ranks)), "") << ranks;
  }
}

TEST(ExecVerifierTest, AcceptsAnIdleRank) {
  EXPECT_EQ(listFindings(R"(
plan broadcast ranks 1 chunks 1 transport p2p in_place
rank 0
)"),
            "");
}

TEST(ExecVerifierTest, ProvesOneFormForCallsInPlaceToo) {
  // The message would overwrite what the root still has to add.
  EXPECT_THAT(listFindings(R"(
plan reduce ranks 2 chunks 1 transport staged
channel up from 1 to 0 slots 1
rank 0
  pop @up -> output[0]
  reduce input[0], output[0] -> output[0] complete
rank 1
  push input[0] -> @up
)"),
              testing::HasSubstr("(where the root calls in place)"));
}

TEST(ExecVerifierTest, OrdersThroughOtherRanks) {
  // Rank 2 meets only rank 1, from whose signal it knows that rank 0 has entered.
  EXPECT_EQ(listFindings(R"(
plan broadcast ranks 3 chunks 1 transport p2p
channel a from 0 to 1
channel b from 1 to 2
channel c from 2 to 0
channel d from 1 to 0
rank 0
  copy input[0] -> output[0]
  signal @a
epilogue
  wait @c
  wait @d
rank 1
  wait @a
  get output[0]@0 -> output[0]
  signal @b
epilogue
  signal @d
rank 2
  wait @b
  get output[0]@0 -> output[0]
epilogue
  signal @c
)"),
            "");
}

TEST(ExecVerifierTest, AcceptsAsManySlotsAsTheProgramNeeds) {
  // Both ranks push three messages before they pop any.
  EXPECT_EQ(listFindings(R"(
plan allgather ranks 2 chunks 3 transport staged in_place
channel a from 0 to 1 slots 3
channel b from 1 to 0 slots 3
rank 0
  push input[0] -> @a
  push input[1] -> @a
  push input[2] -> @a
  pop @b -> output[3]
  pop @b -> output[4]
  pop @b -> output[5]
rank 1
  push input[0] -> @b
  push input[1] -> @b
  push input[2] -> @b
  pop @a -> output[0]
  pop @a -> output[1]
  pop @a -> output[2]
)"),
            "");
}

} // namespace
