//===- ExecSlotsTest.cpp - The fewest slots that do -----------------------===//

#include "compiler/semantics/ExecSlots.h"
#include "test/unit/semantics/ExecMutator.h"
#include "test/unit/semantics/ExecText.h"
#include "test/unit/semantics/ExecTrial.h"
#include "test/unit/semantics/RightPrograms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace coil;
using testing::Each;
using testing::ElementsAre;

namespace {

std::optional<std::vector<int64_t>> slotsOf(const ExecPlan &plan) {
  const ExecVariant &variant = plan.variants.front();
  return fewestSlots(ExecModel(plan, variant, variant.inPlace));
}

/// Two ranks that exchange `messages` chunks, all sends before all receives.
ExecPlan exchange(int messages) {
  std::string text = "plan alltoall ranks 2 chunks " + std::to_string(messages) +
                     " transport staged scratch 0 0\n"
                     "channel c0 from 0 to 1 slots 1\nchannel c1 from 1 to 0 slots 1\n";
  for (int rank : {0, 1}) {
    auto chunk = [&](int c) { return std::to_string((1 - rank) * messages + c); };
    text += "rank " + std::to_string(rank) + "\n";
    for (int c = 0; c < messages; ++c)
      text += "  push input[" + chunk(c) + "] -> @c" + std::to_string(rank) + "\n";
    for (int c = 0; c < messages; ++c)
      text += "  pop @c" + std::to_string(1 - rank) + " -> output[" + chunk(c) + "]\n";
  }
  return parseExec(text);
}

TEST(ExecSlotsTest, OneIsEnoughForARing) {
  for (int64_t ranks : {2, 3, 5})
    EXPECT_THAT(*slotsOf(parseExec(stagedRing(ranks, 4, false))), Each(1));
}

TEST(ExecSlotsTest, SendsBeforeReceivesNeedRoomOnOneSide) {
  EXPECT_THAT(*slotsOf(exchange(1)), ElementsAre(1, 1));
  EXPECT_THAT(*slotsOf(exchange(2)), ElementsAre(1, 2));
  EXPECT_THAT(*slotsOf(exchange(8)), ElementsAre(1, 8));
}

TEST(ExecSlotsTest, NoNumberHelpsWhereEachReceivesFirst) {
  EXPECT_FALSE(slotsOf(parseExec(R"(
plan alltoall ranks 2 chunks 1 transport staged scratch 0 0
channel c0 from 0 to 1 slots 1
channel c1 from 1 to 0 slots 1
rank 0
  pop @c1 -> output[1]
  push input[1] -> @c0
rank 1
  pop @c0 -> output[0]
  push input[0] -> @c1
)")));
}

// Held against runs of several tiles and calls: all numbers together do, and one less does not.
TEST(ExecSlotsTest, NumbersAreTheFewest) {
  auto getsThrough = [](const ExecPlan &plan) {
    ExecTrial trial(plan, plan.variants.front().inPlace, 3, 2);
    TrialRun run(trial, /*onValues=*/false);
    run.runWithout(std::nullopt);
    return run.isThrough();
  };
  std::mt19937 random(20240302);
  int aboveOne = 0, impossible = 0;
  std::vector<ExecPlan> plans;
  for (int messages : {3, 6})
    plans.push_back(exchange(messages));
  for (const NamedProgram &program : rightPrograms())
    if (ExecPlan plan = parseExec(program.text);
        plan.variants.front().transport == ExecTransport::Staged)
      plans.push_back(std::move(plan));
  for (const ExecPlan &right : plans)
    for (int i = 0; i < 60; ++i) {
      ExecPlan plan = right;
      // Other orders of the same operations.
      for (size_t moves = random() % 6; moves > 0; --moves)
        mutate(plan, random() % 2 ? ExecMutation::MoveAccess : ExecMutation::Swap, random);
      SCOPED_TRACE(printExec(plan));
      auto fewest = slotsOf(plan);
      std::vector<ExecChannel> &channels = plan.variants.front().channels;
      for (size_t c = 0; c < channels.size(); ++c)
        channels[c].slots = fewest ? (*fewest)[c] : 1000;
      ASSERT_EQ(getsThrough(plan), fewest.has_value());
      impossible += !fewest;
      for (size_t c = 0; fewest && c < channels.size(); ++c) {
        if ((*fewest)[c] == 1)
          continue;
        ++aboveOne;
        --channels[c].slots;
        ASSERT_FALSE(getsThrough(plan)) << "channel " << c;
        ++channels[c].slots;
      }
    }
  EXPECT_GT(aboveOne, 20);
  EXPECT_GT(impossible, 5);
}

} // namespace
