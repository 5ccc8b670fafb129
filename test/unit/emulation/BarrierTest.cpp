//===- BarrierTest.cpp - Blocks that meet, and threads of a block ---------===//

#include "test/unit/emulation/Support.h"

#include <algorithm>

using namespace coil::device;

namespace coil::emulation {
namespace {

enum class Mistake { None, NoWait, DeviceScope, NoSync };

constexpr u32 blocks = 4, rounds = 5;

struct Exchange {
  alignas(128) u64 arrivals = 0;
  alignas(128) u64 value[blocks] = {};
  u64 sum[blocks] = {};
};

/// Every block writes its number, then reads its neighbour's; round after round.
void exchange(Exchange &shared, u32 self, Mistake mistake) {
  u64 sum = 0, meetings = 0;
  auto meet = [&] {
    syncBlock();
    meetings += blocks;
    if (threadIndex() == 0) {
      if (mistake == Mistake::DeviceScope)
        addAcquireRelease<Scope::Device>(&shared.arrivals, 1);
      else
        addAcquireRelease<Scope::System>(&shared.arrivals, 1);
      if (mistake != Mistake::NoWait)
        while (loadAcquire<Scope::System>(&shared.arrivals) < meetings)
          device::pause();
    }
    if (mistake != Mistake::NoSync)
      syncBlock();
  };
  for (u32 round = 0; round < rounds; ++round) {
    if (threadIndex() == 1)
      storeData<u64>(&shared.value[self], self + round);
    meet();
    if (threadIndex() == 2)
      sum += loadData<u64>(&shared.value[(self + 1) % blocks]);
    meet();
  }
  if (threadIndex() == 2)
    shared.sum[self] = sum;
}

std::vector<Problem> pass(Exchange &shared, Mistake mistake) {
  TrackingScope scope;
  std::vector<KernelLaunch> launches;
  for (u32 i = 0; i < blocks; ++i)
    launches.push_back({1, 64, 0, i, [&shared, i, mistake] { exchange(shared, i, mistake); }});
  return run(std::move(launches), 20);
}

TEST(BarrierTest, RightKernelIsAccepted) {
  Exchange shared;
  EXPECT_THAT(pass(shared, Mistake::None), HasNoProblem());
  for (u32 i = 0; i < blocks; ++i)
    EXPECT_EQ(shared.sum[i], rounds * ((i + 1) % blocks) + 10);
}

TEST(BarrierTest, MistakesAreCaught) {
  for (Mistake mistake : {Mistake::NoWait, Mistake::DeviceScope, Mistake::NoSync}) {
    Exchange shared;
    EXPECT_THAT(pass(shared, mistake), HasProblem(ProblemKind::Race)) << int(mistake);
  }
}

TEST(BarrierTest, ThreadsOfABlockMeet) {
  TrackingScope scope;
  u32 data[96] = {};
  auto kernel = [&](bool hasBarrier) {
    return [&data, hasBarrier] {
      storeData<u32>(&data[threadIndex()], threadIndex());
      if (hasBarrier)
        syncBlock();
      loadData<u32>(&data[(threadIndex() + 1) % 96]);
    };
  };
  EXPECT_THAT(run({{1, 96, 0, 0, kernel(true)}}), HasNoProblem());
  EXPECT_THAT(run({{1, 96, 0, 0, kernel(false)}}), HasProblem(ProblemKind::Race));
}

TEST(BarrierTest, WarpsMeetButVotesDoNotOrder) {
  TrackingScope scope;
  u32 data[64] = {};
  auto kernel = [&](bool isVote) {
    return [&data, isVote] {
      storeData<u32>(&data[threadIndex()], threadIndex());
      if (isVote)
        anyInWarp(true);
      else
        syncWarp();
      u32 other = threadIndex() / 32 * 32 + (threadIndex() + 1) % 32;
      loadData<u32>(&data[other]);
    };
  };
  EXPECT_THAT(run({{1, 64, 0, 0, kernel(false)}}), HasNoProblem());
  EXPECT_THAT(run({{1, 64, 0, 0, kernel(true)}}), HasProblem(ProblemKind::Race));
}

TEST(BarrierTest, VotesTellAll) {
  u32 wrong = 0;
  auto kernel = [&] {
    for (u32 round = 0; round < 100; ++round) {
      u32 who = round % 70;
      bool inBlock = syncBlockOr(threadIndex() == who);
      bool inWarp = anyInWarp(threadIndex() == who);
      if (inBlock != (who < 64) || inWarp != (threadIndex() / 32 == who / 32 && who < 64))
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
  };
  EXPECT_THAT(run({{3, 64, 0, 0, kernel}}), HasNoProblem());
  EXPECT_EQ(wrong, 0u);
}

TEST(BarrierTest, SharedMemoryIsTheBlocksOwn) {
  u32 wrong = 0;
  auto kernel = [&] {
    auto *words = reinterpret_cast<u32 *>(sharedMemory());
    if (words[threadIndex()] != 0xa5a5a5a5)
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    words[threadIndex()] = blockIndex() * 1000 + threadIndex();
    syncBlock();
    if (words[blockThreads() - 1 - threadIndex()] !=
        blockIndex() * 1000 + blockThreads() - 1 - threadIndex())
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  };
  EXPECT_THAT(run({{5, 128, 128 * 4, 0, kernel}}), HasNoProblem());
  EXPECT_EQ(wrong, 0u);
}

TEST(BarrierTest, ManyBlocksMeet) {
  u64 arrivals = 0;
  auto kernel = [&] {
    for (u64 round = 1; round <= 3; ++round) {
      syncBlock();
      if (threadIndex() == 0) {
        addAcquireRelease<Scope::Device>(&arrivals, 1);
        while (loadAcquire<Scope::Device>(&arrivals) < round * 256)
          device::pause();
      }
      syncBlock();
    }
  };
  EXPECT_THAT(run({{256, 32, 0, 0, kernel}}, 60), HasNoProblem());
  EXPECT_EQ(arrivals, 768u);
}

} // namespace
} // namespace coil::emulation
