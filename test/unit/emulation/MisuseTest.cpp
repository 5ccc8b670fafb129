//===- MisuseTest.cpp - Breaks of the seam's rules end the launch ---------===//

#include "test/unit/emulation/Support.h"

using namespace coil::device;
using testing::HasSubstr;

namespace coil::emulation {
namespace {

std::string misuse(std::function<void()> body, u32 threads = 64) {
  auto problems = run({{2, threads, 256, 0, std::move(body)}}, 20);
  EXPECT_THAT(problems, HasProblem(ProblemKind::Misuse));
  return text(problems);
}

TEST(MisuseTest, DivergentBarrier) {
  auto kernel = [] {
    if (threadIndex() < 40)
      syncBlock();
    else
      syncBlockOr(true);
  };
  EXPECT_THAT(misuse(kernel), AllOf(HasSubstr("calls syncBlock"), HasSubstr("waits in syncBlock"),
                                    HasSubstr("MisuseTest.cpp:")));
}

TEST(MisuseTest, ThreadEndsWhileOthersWait) {
  auto kernel = [] {
    if (threadIndex() != 7)
      syncBlock();
  };
  EXPECT_THAT(misuse(kernel), HasSubstr("thread 7: ends, but thread 0 waits in syncBlock"));
}

TEST(MisuseTest, BarrierAfterThreadsEnded) {
  auto kernel = [] {
    if (threadIndex() == 0)
      return;
    syncBlock();
  };
  EXPECT_THAT(misuse(kernel), HasSubstr("1 of 64 threads have ended"));
}

TEST(MisuseTest, WarpAtTwoPlaces) {
  auto vote = [] {
    if (threadIndex() % 2)
      syncWarp();
    else
      anyInWarp(true);
  };
  EXPECT_THAT(misuse(vote), AllOf(HasSubstr("calls syncWarp"), HasSubstr("waits in anyInWarp")));
  auto barrier = [] {
    if (threadIndex() % 2)
      syncBlock();
    else
      syncWarp();
  };
  EXPECT_THAT(misuse(barrier), AllOf(HasSubstr("calls syncBlock"), HasSubstr("waits in syncWarp")));
  auto other = [] {
    if (threadIndex() % 2)
      syncWarp();
    else
      syncBlock();
  };
  EXPECT_THAT(misuse(other), AllOf(HasSubstr("calls syncWarp"), HasSubstr("waits in syncBlock")));
}

TEST(MisuseTest, OtherBlocksDoNotHang) {
  // Block 1 waits for ever for a block that breaks the rules.
  u64 flag = 0;
  auto kernel = [&] {
    if (blockIndex() == 1)
      while (loadAcquire<Scope::Device>(&flag) == 0)
        device::pause();
    else if (threadIndex() == 3)
      syncBlock();
  };
  EXPECT_THAT(misuse(kernel), HasSubstr("syncBlock"));
}

TEST(MisuseTest, MisalignedAccess) {
  alignas(128) u8 bytes[128] = {};
  EXPECT_THAT(misuse([&] { loadData<u32>(bytes + 2); }), HasSubstr("access of 4 bytes"));
  EXPECT_THAT(misuse([&] { storeData<Vector16>(bytes + 8, {}); }), HasSubstr("access of 16 bytes"));
  EXPECT_THAT(misuse([&] { loadLine(bytes + 16); }, 32), HasSubstr("no multiple of 128"));
}

TEST(MisuseTest, LanesOfAGroupDisagreeAboutTheLine) {
  struct alignas(128) Lines {
    u8 bytes[1024] = {};
  } lines;
  EXPECT_THAT(misuse([&] { loadLine(lines.bytes + threadIndex() % 2 * 128); }, 32),
              HasSubstr("threads 0 to 7 should have one line"));
}

TEST(MisuseTest, LaunchShapes) {
  auto nothing = [] {};
  EXPECT_THAT(text(run({{0, 32, 0, 0, nothing}})), HasSubstr("at least 1 block"));
  EXPECT_THAT(text(run({{1, 33, 0, 0, nothing}})), HasSubstr("a multiple of 32, found 33"));
  EXPECT_THAT(text(run({{1, 2048, 0, 0, nothing}})), HasSubstr("found 2048"));
  EXPECT_THAT(text(run({{1, 32, 0, 0, nullptr}})), HasSubstr("expected a kernel"));
}

TEST(MisuseTest, TimeLimitEndsWaiting) {
  u64 flag = 0;
  auto problems = run({{2, 32, 0, 0,
                        [&] {
                          while (loadRelaxed<Scope::System>(&flag) == 0)
                            device::pause();
                        }}},
                      0.1);
  EXPECT_THAT(problems, HasProblem(ProblemKind::TimeLimit));
}

} // namespace
} // namespace coil::emulation
