//===- Ll128SelfTestTest.cpp - The self-test of ll128, in the emulation ---===//

#include "runtime/kernels/device/Ll128SelfTest.h"
#include "test/unit/device/DeviceRanks.h"
#include "test/unit/emulation/Support.h"

namespace coil::test {
namespace {

using namespace coil::device;
using emulation::HasNoProblem;

class SelfTest {
public:
  explicit SelfTest(u32 devices) : devices(devices) {
    for (u32 device = 0; device < devices; ++device) {
      pieces.push_back(memory.emplace_back(selfTestBytes(devices)).as<u8>());
      boards.push_back(memory.emplace_back(sizeof(HostBoard)).as<HostBoard>());
    }
  }

  emulation::KernelLaunch launchOf(u32 device, u32 threads = 64) const {
    SelfTestLaunch test = {pieces.data(), boards[device], timeout, firstRound,
                           lastRound,     devices,        device};
    emulation::KernelLaunch launch;
    launch.blocks = 2 * devices;
    launch.threads = threads;
    launch.sharedBytes = sharedBytes(0, 0, 0, threads);
    launch.device = device;
    launch.body = [test] { runLl128SelfTest(test); };
    return launch;
  }
  u64 torn(u32 device, u32 from) const {
    return *reinterpret_cast<u64 *>(pieces[device] + selfTestTornAt(devices, from));
  }
  BlockFacts facts(u32 device) const {
    BlockFacts facts = {};
    facts.board = boards[device];
    return facts;
  }

  u32 devices;
  u64 firstRound = 1, lastRound = 20;
  u64 timeout = 0;
  std::deque<ZeroedMemory> memory;
  std::vector<u8 *> pieces;
  std::vector<HostBoard *> boards;
};

void findNothing(u32 devices, u32 threads) {
  SelfTest test(devices);
  for (u64 last : {7, 16}) { // a launch goes on where the one before ended
    test.lastRound = last;
    std::vector<emulation::KernelLaunch> launches;
    for (u32 device = 0; device < devices; ++device)
      launches.push_back(test.launchOf(device, threads));
    EXPECT_THAT(emulation::run(std::move(launches), 120), HasNoProblem());
    test.firstRound = last + 1;
  }
  for (u32 device = 0; device < devices; ++device) {
    EXPECT_EQ(test.boards[device]->report.kind, FailureKind::None);
    for (u32 from = 0; from < devices; ++from) {
      EXPECT_EQ(test.torn(device, from), 0u);
      EXPECT_EQ(*reinterpret_cast<u64 *>(test.pieces[from] + selfTestReadAt(devices, device)),
                test.lastRound)
          << "device " << device << " has not read all that device " << from << " wrote";
    }
  }
}

TEST(Ll128SelfTestTest, FindsNothingWhereLinesArriveWhole) {
  findNothing(1, 32);
  findNothing(3, 96);
}

TEST(Ll128SelfTestTest, OrdersItsAccesses) {
  emulation::TrackingScope tracking;
  findNothing(2, 64);
}

/// One writer's lines are torn: in some rounds, a lane's words of some lines are
/// still those of the round before when the flag comes.
TEST(Ll128SelfTestTest, FindsEveryTornLine) {
  SelfTest test(2);
  u64 planted = 0;
  auto isTorn = [](u64 round, u64 line) { return round % 7 == 3 && line % 30 == 29; };
  for (u64 round = 1; round <= test.lastRound; ++round)
    for (u64 line = 0; line < selfTestLines; ++line)
      planted += isTorn(round, line);
  ASSERT_GT(planted, 4u);

  emulation::KernelLaunch tearing = test.launchOf(1);
  auto whole = tearing.body;
  tearing.body = [&, whole] {
    if (blockIndex() != 0) // of device 1, to device 0
      return whole();
    const BlockFacts facts = test.facts(1);
    u8 *lines = test.pieces[0] + selfTestLinesAt(1);
    const u64 *read = reinterpret_cast<u64 *>(test.pieces[1] + selfTestReadAt(2, 0));
    for (u64 round = 1; round <= test.lastRound; ++round) {
      if (threadIndex() == 0 && round > 1)
        awaitCounter<Scope::System>(facts, read, {0, 0, noChannel, round - 1});
      syncBlock();
      forEachLine(selfTestDataBytes, [&](u64 line, bool counts) {
        bool isLate = isTorn(round, line) && laneIndex() % lanesOfALine == (line + round) % 7;
        storeLine(counts ? lines + line * lineBytes : nullptr,
                  selfTestPair(isLate ? round - 1 : round, line));
        return true;
      });
    }
  };
  EXPECT_THAT(emulation::run({test.launchOf(0), tearing}, 120), HasNoProblem());
  EXPECT_EQ(test.torn(0, 1), planted);
  EXPECT_EQ(test.torn(0, 0), 0u);
  EXPECT_EQ(test.torn(1, 0), 0u);
  EXPECT_EQ(test.torn(1, 1), 0u);
}

TEST(Ll128SelfTestTest, TimesOutWithoutItsPeer) {
  SelfTest test(2);
  test.timeout = 20'000'000;
  EXPECT_THAT(emulation::run({test.launchOf(0)}, 120), HasNoProblem());
  EXPECT_EQ(test.boards[0]->report.kind, FailureKind::TimedOut);
  EXPECT_EQ(test.boards[0]->report.peer, 1u);
  EXPECT_EQ(test.torn(0, 1), 0u);
}

} // namespace
} // namespace coil::test
