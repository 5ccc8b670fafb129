//===- ClockTest.cpp - Vector clocks --------------------------------------===//

#include "runtime/kernels/emulation/Clock.h"

#include <gtest/gtest.h>

namespace coil::emulation {
namespace {

TEST(ClockTest, KnowsWhatIsAdded) {
  Clock clock;
  Moment moment{5, 3, firstEpoch(2) + 1};
  EXPECT_FALSE(clock.covers(moment));
  clock.add(moment);
  EXPECT_TRUE(clock.covers(moment));
  EXPECT_TRUE(clock.covers({5, 3, firstEpoch(2)}));
  EXPECT_FALSE(clock.covers({5, 3, firstEpoch(2) + 2}));
  EXPECT_FALSE(clock.covers({5, 2, firstEpoch(1)}));
  EXPECT_FALSE(clock.covers({4, 3, firstEpoch(1)}));
}

TEST(ClockTest, BarriersCoverAllThreads) {
  Clock clock;
  clock.add({7, 0, firstEpoch(2)});
  clock.add({7, 1, firstEpoch(4)});
  clock.addBarrier(7, 2);
  EXPECT_TRUE(clock.covers({7, 900, firstEpoch(2) + 77}));
  EXPECT_FALSE(clock.covers({7, 0, firstEpoch(3)}));
  EXPECT_TRUE(clock.covers({7, 1, firstEpoch(4)}));
  clock.addBarrier(7, allBarriers);
  EXPECT_TRUE(clock.covers({7, 0, ~Epoch(0)}));
}

TEST(ClockTest, JoinsTakeTheLaterOfBoth) {
  Clock a, b;
  a.addBarrier(1, 3);
  a.add({2, 0, firstEpoch(1)});
  b.addBarrier(1, 2);
  b.add({2, 0, firstEpoch(1) + 4});
  b.add({3, 9, firstEpoch(5)});
  a.join(b);
  EXPECT_TRUE(a.covers({1, 4, firstEpoch(3)}));
  EXPECT_TRUE(a.covers({2, 0, firstEpoch(1) + 4}));
  EXPECT_TRUE(a.covers({3, 9, firstEpoch(5)}));
  EXPECT_FALSE(b.covers({1, 4, firstEpoch(3)}));
}

TEST(ClockTest, EndedBlocksAreOneNumber) {
  Clock clock;
  clock.addBarrier(4, 1);
  clock.addBlocksBelow(9);
  EXPECT_TRUE(clock.covers({8, 0, ~Epoch(0)}));
  EXPECT_FALSE(clock.covers({9, 0, firstEpoch(1)}));
  Clock other;
  other.addBarrier(9, 1);
  other.join(clock);
  EXPECT_TRUE(other.covers({8, 0, ~Epoch(0)}));
  EXPECT_TRUE(other.covers({9, 0, firstEpoch(1)}));
}

} // namespace
} // namespace coil::emulation
