//===- PackedTest.cpp - Words and lines that carry their flag -------------===//

#include "test/unit/emulation/Support.h"

using namespace coil::device;

namespace coil::emulation {
namespace {

constexpr u32 threads = 32, rounds = 6;

struct Packed {
  alignas(128) Pair words[threads] = {};
  alignas(128) u64 freed = 0;
  u64 sum = 0;
};

u64 pack(u32 data, u32 flag) { return data | u64(flag) << 32; }

/// A sender without `takesCredit` comes after its reader by luck alone: a relaxed load
/// orders nothing.
void waitFreed(const Packed &packed, bool takesCredit, u64 least) {
  if (threadIndex() == 0)
    while ((takesCredit ? loadAcquire<Scope::System>(&packed.freed)
                        : loadRelaxed<Scope::System>(&packed.freed)) < least)
      device::pause();
  syncBlock();
}

void send(Packed &packed, bool takesCredit, bool isLines) {
  for (u32 round = 1; round <= rounds; ++round) {
    waitFreed(packed, takesCredit, round - 1);
    Pair value{pack(threadIndex(), round), pack(round, round)};
    Pair *place = &packed.words[threadIndex()];
    if (isLines)
      storeLine(reinterpret_cast<u8 *>(packed.words + threadIndex() / 8 * 8), value);
    else
      storeRelaxedPair(place, value);
  }
}

void receive(Packed &packed, bool isLines) {
  u64 sum = 0;
  for (u32 round = 1; round <= rounds; ++round) {
    for (;;) {
      Pair value;
      if (isLines)
        value = loadLine(reinterpret_cast<u8 *>(packed.words + threadIndex() / 8 * 8));
      else
        value = loadRelaxedPair(&packed.words[threadIndex()]);
      bool isHere = value.first >> 32 >= round && value.second >> 32 >= round;
      if (!anyInWarp(!isHere)) {
        sum += u32(value.first) + u32(value.second);
        break;
      }
      device::pause();
    }
    syncBlock();
    if (threadIndex() == 0)
      storeRelease<Scope::System>(&packed.freed, round);
  }
  if (threadIndex() == 5)
    packed.sum = sum;
}

std::vector<Problem> pass(Packed &packed, bool takesCredit, bool isLines) {
  return run({{1, threads, 0, 0, [&] { send(packed, takesCredit, isLines); }},
              {1, threads, 0, 1, [&] { receive(packed, isLines); }}},
             20);
}

TEST(PackedTest, RightKernelIsAccepted) {
  for (bool isTracked : {false, true})
    for (bool isLines : {false, true}) {
      setTracking(isTracked);
      Packed packed;
      EXPECT_THAT(pass(packed, true, isLines), HasNoProblem());
      EXPECT_EQ(packed.sum, 5 * rounds + rounds * (rounds + 1) / 2);
      setTracking(false);
    }
}

TEST(PackedTest, OverwritingWithoutCreditIsCaught) {
  TrackingScope scope;
  for (bool isLines : {false, true}) {
    Packed packed;
    auto problems = pass(packed, false, isLines);
    EXPECT_THAT(problems, HasProblem(ProblemKind::Overwrite));
    EXPECT_THAT(text(problems), testing::HasSubstr("nothing has been heard of the reader since"));
  }
}

TEST(PackedTest, PlainReadOfPackedWordsIsCaught) {
  TrackingScope scope;
  Packed packed;
  auto problems =
      run({{1, threads, 0, 0, [&] { storeRelaxedPair(&packed.words[threadIndex()], {1, 1}); }},
           {1, threads, 0, 1, [&] { loadData<Vector16>(&packed.words[threadIndex()]); }}});
  EXPECT_THAT(problems, HasProblem(ProblemKind::Race));
}

TEST(PackedTest, LinesMoveAsAWhole) {
  struct alignas(128) Line {
    u64 words[16] = {};
  } line;
  u32 torn = 0;
  auto kernel = [&] {
    // All four groups of the writer's warp write the same line, each its own number.
    for (u64 round = 1; round <= 2000; ++round) {
      if (blockIndex() == 0) {
        u64 number = round * 4 + threadIndex() / 8;
        storeLine(reinterpret_cast<u8 *>(&line), {number, number});
      } else {
        Pair part = loadLine(reinterpret_cast<const u8 *>(&line));
        auto *parts = reinterpret_cast<Pair *>(sharedMemory());
        parts[threadIndex()] = part;
        syncWarp();
        u32 first = threadIndex() / 8 * 8;
        if (parts[first].first != part.first || part.first != part.second)
          __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
        syncWarp();
      }
    }
  };
  EXPECT_THAT(run({{2, 32, 32 * 16, 0, kernel}}), HasNoProblem());
  EXPECT_EQ(torn, 0u);
}

} // namespace
} // namespace coil::emulation
