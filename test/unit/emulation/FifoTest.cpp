//===- FifoTest.cpp - A queue of slots with credits -----------------------===//

#include "test/unit/emulation/Support.h"

using namespace coil::device;

namespace coil::emulation {
namespace {

enum class Mistake {
  None,
  NoCreditWait,
  OneCreditTooMany,
  CreditRelaxed,
  CreditBeforeRead,
  WrongSlot,
  WrongFlag,
};

constexpr u64 slots = 2, messages = 9;
constexpr u32 threads = 64;

struct Fifo {
  alignas(128) u64 sent = 0;
  alignas(128) u64 freed = 0;
  alignas(128) u64 slot[slots][threads] = {};
  u64 sum = 0;
};

void waitFor(const u64 *counter, u64 least) {
  if (threadIndex() == 0)
    while (loadAcquire<Scope::System>(counter) < least)
      device::pause();
  syncBlock();
}

void send(Fifo &fifo, Mistake mistake) {
  for (u64 ordinal = 1; ordinal <= messages; ++ordinal) {
    u64 room = slots + (mistake == Mistake::OneCreditTooMany ? 1 : 0);
    if (mistake != Mistake::NoCreditWait && ordinal > room)
      waitFor(&fifo.freed, ordinal - room);
    u64 slot = (ordinal + (mistake == Mistake::WrongSlot && ordinal == 5 ? 1 : 0)) % slots;
    storeData<u64>(&fifo.slot[slot][threadIndex()], ordinal);
    syncBlock();
    if (threadIndex() == 0)
      storeRelease<Scope::System>(&fifo.sent, ordinal - (mistake == Mistake::WrongFlag ? 1 : 0));
  }
}

void receive(Fifo &fifo, Mistake mistake) {
  u64 sum = 0;
  for (u64 ordinal = 1; ordinal <= messages; ++ordinal) {
    waitFor(&fifo.sent, ordinal);
    auto giveBack = [&] {
      if (threadIndex() != 0)
        return;
      if (mistake == Mistake::CreditRelaxed)
        storeRelaxed<Scope::System>(&fifo.freed, ordinal);
      else
        storeRelease<Scope::System>(&fifo.freed, ordinal);
    };
    if (mistake == Mistake::CreditBeforeRead)
      giveBack();
    sum += loadData<u64>(&fifo.slot[ordinal % slots][threadIndex()]);
    syncBlock();
    if (mistake != Mistake::CreditBeforeRead)
      giveBack();
  }
  if (threadIndex() == 0)
    fifo.sum = sum;
}

std::vector<Problem> pass(Fifo &fifo, Mistake mistake, double seconds = 20) {
  TrackingScope scope;
  return run({{1, threads, 0, 0, [&] { send(fifo, mistake); }},
              {1, threads, 0, 1, [&] { receive(fifo, mistake); }}},
             seconds);
}

TEST(FifoTest, RightKernelIsAccepted) {
  for (int i = 0; i < 10; ++i) {
    Fifo fifo;
    EXPECT_THAT(pass(fifo, Mistake::None), HasNoProblem());
    EXPECT_EQ(fifo.sum, messages * (messages + 1) / 2);
  }
}

class FifoMistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(FifoMistakeTest, IsCaught) {
  // A sender without credit may be done before the receiver begins: then nothing
  // is unordered, and the data is wrong.
  Fifo fifo;
  auto problems = pass(fifo, GetParam());
  EXPECT_TRUE(has(problems, ProblemKind::Race) || fifo.sum != messages * (messages + 1) / 2)
      << text(problems);
}

INSTANTIATE_TEST_SUITE_P(All, FifoMistakeTest,
                         testing::Values(Mistake::NoCreditWait, Mistake::OneCreditTooMany,
                                         Mistake::CreditRelaxed, Mistake::CreditBeforeRead,
                                         Mistake::WrongSlot));

TEST(FifoTest, WrongFlagEndsAtTheTimeLimit) {
  Fifo fifo;
  auto problems = pass(fifo, Mistake::WrongFlag, 0.3);
  EXPECT_THAT(problems, HasProblem(ProblemKind::TimeLimit));
  EXPECT_THAT(text(problems), testing::HasSubstr("waits in syncBlock at FifoTest.cpp:"));
}

} // namespace
} // namespace coil::emulation
