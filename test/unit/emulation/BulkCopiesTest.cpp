//===- BulkCopiesTest.cpp - The emulated copying engine -------------------===//

#include "test/unit/emulation/Support.h"

#include <array>
#include <cstring>

using namespace coil::device;
using testing::HasSubstr;

namespace coil::emulation {
namespace {

/// Shared memory: a barrier in the first 16 bytes, then buffers of 64 bytes.
u64 *barrier() { return reinterpret_cast<u64 *>(sharedMemory()); }
u8 *buffer(u32 index) { return sharedMemory() + 16 + index * 64; }

struct alignas(16) Data {
  std::array<u8, 64> bytes;
  explicit Data(u8 fill) { bytes.fill(fill); }
  u8 *data() { return bytes.data(); }
};

std::vector<Problem> runThread(std::function<void()> body) {
  return run({{1, 32, 256, 0,
               [&] {
                 if (threadIndex() == 0)
                   body();
               }}},
             20);
}

std::string misuse(std::function<void()> body) {
  auto problems = runThread(std::move(body));
  EXPECT_THAT(problems, HasProblem(ProblemKind::Misuse));
  return text(problems);
}

TEST(BulkCopiesTest, GoThroughSharedMemory) {
  Data source(3), destination(0);
  EXPECT_THAT(runThread([&] {
                beginBulkCopies(barrier(), 1);
                for (u32 turn = 0; turn < 3; ++turn) {
                  source.bytes[0] = static_cast<u8>(turn);
                  startBulkLoad(buffer(turn), source.data(), 64, barrier());
                  awaitBulkLoad(barrier(), turn % 2);
                }
                startBulkStore(destination.data(), buffer(2), 48);
                endBulkCopies(barrier(), 1);
              }),
              HasNoProblem());
  EXPECT_EQ(destination.bytes[0], 2);
  EXPECT_EQ(destination.bytes[47], 3);
  EXPECT_EQ(destination.bytes[48], 0);
}

TEST(BulkCopiesTest, WhoDoesNotWaitFindsOtherBytes) {
  Data source(3), destination(0);
  EXPECT_THAT(runThread([&] {
                beginBulkCopies(barrier(), 1);
                startBulkLoad(buffer(0), source.data(), 64, barrier());
                awaitBulkLoad(barrier(), 1); // the turn before
                EXPECT_NE(buffer(0)[0], 3);
                awaitBulkLoad(barrier(), 0);
                EXPECT_EQ(buffer(0)[0], 3);
                startBulkStore(destination.data(), buffer(0), 64);
                EXPECT_EQ(destination.bytes[0], 0);
                startBulkStore(destination.data(), buffer(0), 16);
                awaitBulkReads<1>();
                // The second store reads this.
                std::memset(buffer(0), 9, 64);
                endBulkCopies(barrier(), 1);
              }),
              HasNoProblem());
  EXPECT_EQ(destination.bytes[0], 9);
  EXPECT_EQ(destination.bytes[16], 3);
}

TEST(BulkCopiesTest, MisuseEndsTheLaunch) {
  Data data(1);
  EXPECT_THAT(misuse([&] { startBulkStore(data.data(), buffer(0), 16); }),
              HasSubstr("has not begun bulk copies"));
  auto begun = [&](std::function<void()> body) {
    return misuse([body = std::move(body)] {
      beginBulkCopies(barrier(), 1);
      body();
    });
  };
  EXPECT_THAT(begun([&] { startBulkStore(data.data(), buffer(0), 20); }),
              HasSubstr("expected a positive multiple of 16 bytes, found 20"));
  EXPECT_THAT(begun([&] { startBulkStore(data.data() + 8, buffer(0), 16); }),
              HasSubstr("no multiple of that"));
  EXPECT_THAT(begun([&] { startBulkLoad(sharedMemory() + 208, data.data(), 64, barrier()); }),
              HasSubstr("64 bytes at"));
  EXPECT_THAT(begun([&] { awaitBulkLoad(barrier(), 0); }),
              HasSubstr("no load of that turn has been started"));
  EXPECT_THAT(begun([&] {
                startBulkLoad(buffer(0), data.data(), 64, barrier());
                startBulkLoad(buffer(1), data.data(), 64, barrier());
              }),
              HasSubstr("load before has not been waited for"));
  EXPECT_THAT(begun([&] {
                startBulkLoad(buffer(0), data.data(), 64, barrier());
                endBulkCopies(barrier(), 1);
              }),
              HasSubstr("has not waited for the load started at"));
  EXPECT_THAT(begun([&] { beginBulkCopies(barrier(), 1); }), HasSubstr("has begun them before"));
  EXPECT_THAT(begun([&] {}), HasSubstr("ends with bulk copies that have not been ended"));
}

} // namespace
} // namespace coil::emulation
