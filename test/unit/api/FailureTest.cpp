//===- FailureTest.cpp - Ranks that die, leave, stall or abort ------------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/api/Ranks.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace coil;
using namespace coil::test;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

namespace {

using Clock = std::chrono::steady_clock;

Setting settingFor(int ranks) {
  Setting setting;
  setting.ranks = ranks;
  setting.plans = {ringAllReduce(static_cast<uint32_t>(ranks))};
  return setting;
}

coilResult_t sum(std::vector<float> &values, coilComm_t comm) {
  return coilAllReduce(values.data(), values.data(), values.size(), coilFloat32, coilSum, comm,
                       nullptr);
}

TEST(FailureTest, AKilledRankIsNamed) {
  for (bool direct : {false, true})
    for (int victim : {0, 2}) {
      Setting setting = settingFor(3);
      setting.config.directBytes = 0;
      if (direct)
        setting.plans = {symmetricAllReduce(3)};
      runProcesses(
          setting,
          [&](coilComm_t comm, int rank) {
            void *memory = nullptr;
            coilWindow_t window;
            EXPECT_COIL(nullptr, coilMemAlloc(&memory, 40000));
            EXPECT_COIL(comm, coilCommRegister(comm, memory, 40000, &window));
            coilResult_t result = coilSuccess;
            auto lastGood = Clock::now();
            for (int i = 0; result == coilSuccess; ++i) {
              if (rank == victim && i == 500)
                raise(SIGKILL);
              lastGood = Clock::now();
              result = coilAllReduce(memory, memory, 10000, coilFloat32, coilSum, comm, nullptr);
            }
            EXPECT_EQ(result, coilRemoteError);
            EXPECT_THAT(coilGetLastError(comm),
                        AllOf(HasSubstr(fmt::format("rank {} (pid ", victim)),
                              HasSubstr("is gone: its process died")));
            EXPECT_LT(Clock::now() - lastGood, 2s);
          },
          victim);
    }
}

TEST(FailureTest, AKilledRankEndsASetUpCall) {
  runProcesses(
      settingFor(3),
      [](coilComm_t comm, int rank) {
        if (rank == 1)
          raise(SIGKILL);
        coilWindow_t window;
        EXPECT_EQ(coilCommRegister(comm, nullptr, 0, &window), coilRemoteError);
        EXPECT_THAT(coilGetLastError(comm), HasSubstr("rank 1"));
        std::vector<float> values(10);
        EXPECT_EQ(sum(values, comm), coilRemoteError);
      },
      1);
}

TEST(FailureTest, AnAbsentRankIsATimeoutThatNamesItAndTheSource) {
  for (bool direct : {false, true}) {
    Setting setting = settingFor(3);
    setting.config.directBytes = 0;
    if (direct)
      setting.plans = {symmetricAllReduce(3)};
    setting.config.timeoutMs = 300;
    std::atomic<int> timeouts = 0, finished = 0;
    runThreads(setting, [&](coilComm_t comm, int rank) {
      std::vector<float> values(10);
      if (!direct)
        EXPECT_COIL(comm, sum(values, comm));
      if (rank == 1) {
        while (finished < 2)
          std::this_thread::sleep_for(1ms);
        EXPECT_EQ(sum(values, comm), coilRemoteError);
        return;
      }
      auto start = Clock::now();
      coilResult_t result = sum(values, comm);
      EXPECT_GT(Clock::now() - start, 250ms);
      EXPECT_LT(Clock::now() - start, 2s);
      // The first to run out of patience tells the others.
      EXPECT_TRUE(result == coilTimeout || result == coilRemoteError);
      timeouts += result == coilTimeout;
      EXPECT_THAT(coilGetLastError(comm),
                  AllOf(HasSubstr("waited 0.3 s for rank"),
                        HasSubstr(direct ? "symmetric.coil:" : "ring.coil:"),
                        HasSubstr("(allreduce of 10 f32 (sum), in place): rank 1 has not entered "
                                  "the call")));
      ++finished;
    });
    EXPECT_GE(timeouts, 1);
  }
}

TEST(FailureTest, AStoppedRankIsWaitedFor) {
  runProcesses(settingFor(2), [](coilComm_t comm, int rank) {
    std::vector<float> values(10, 1.0f);
    if (rank == 1)
      std::this_thread::sleep_for(500ms);
    EXPECT_COIL(comm, sum(values, comm));
    EXPECT_EQ(values[9], 2.0f);
  });
}

TEST(FailureTest, AbortEndsBlockedRanks) {
  runThreads(settingFor(4), [](coilComm_t comm, int rank) {
    std::vector<float> values(10);
    EXPECT_COIL(comm, sum(values, comm));
    if (rank == 3) {
      std::this_thread::sleep_for(100ms);
      EXPECT_EQ(coilCommAbort(comm), coilSuccess);
      EXPECT_EQ(sum(values, comm), coilAborted);
      return;
    }
    auto start = Clock::now();
    EXPECT_EQ(sum(values, comm), coilRemoteError);
    EXPECT_THAT(coilGetLastError(comm), HasSubstr("rank 3 aborted the communicator"));
    EXPECT_LT(Clock::now() - start, 1s);
  });
}

TEST(FailureTest, AbortFromAnotherThreadEndsTheOwnCall) {
  for (bool inSetUp : {false, true})
    runProcesses(settingFor(2), [inSetUp](coilComm_t comm, int rank) {
      std::vector<float> values(10);
      if (rank == 1) {
        // Until the other rank is seen to have failed.
        coilResult_t state = coilSuccess;
        while (state == coilSuccess)
          EXPECT_EQ(coilCommGetAsyncError(comm, &state), coilSuccess);
        EXPECT_EQ(state, coilRemoteError);
        return;
      }
      std::thread other([&] {
        std::this_thread::sleep_for(100ms);
        EXPECT_EQ(coilCommAbort(comm), coilSuccess);
      });
      auto start = Clock::now();
      coilWindow_t window;
      EXPECT_EQ(inSetUp ? coilCommRegister(comm, nullptr, 0, &window) : sum(values, comm),
                coilAborted);
      EXPECT_LT(Clock::now() - start, 1s);
      other.join();
    });
}

TEST(FailureTest, DestroyWhileOthersWait) {
  for (Ranks kind : {Ranks::Threads, Ranks::Processes})
    runRanks(kind, settingFor(3), [](coilComm_t comm, int rank) {
      std::vector<float> values(10);
      coilResult_t first = sum(values, comm);
      if (rank == 0) {
        EXPECT_EQ(first, coilSuccess);
        return;
      }
      // A rank that is late may hear of another's failure already here.
      EXPECT_TRUE(first == coilSuccess || first == coilRemoteError);
      auto start = Clock::now();
      EXPECT_EQ(sum(values, comm), coilRemoteError);
      EXPECT_THAT(coilGetLastError(comm), HasSubstr("rank 0"));
      EXPECT_THAT(coilGetLastError(comm), HasSubstr("has destroyed its communicator"));
      EXPECT_LT(Clock::now() - start, 1s);
    });
}

TEST(FailureTest, ARankThatLeavesAfterItsPartDoesNoHarm) {
  for (Ranks kind : {Ranks::Threads, Ranks::Processes}) {
    Setting setting;
    setting.ranks = 3;
    setting.plans = {ringAllReduce(3)};
    for (int i = 0; i < 20; ++i)
      runRanks(kind, setting, [](coilComm_t comm, int rank) {
        // Rank 0 comes late, so that the others leave at different times.
        if (rank == 0)
          std::this_thread::sleep_for(5ms);
        std::vector<float> values(20000, 1.0f);
        EXPECT_COIL(comm, sum(values, comm));
        EXPECT_EQ(values.back(), 3.0f);
      });
  }
}

TEST(FailureTest, ASecondThreadIsTurnedAway) {
  runThreads(settingFor(2), [](coilComm_t comm, int rank) {
    std::vector<float> values(10);
    if (rank == 1) {
      std::this_thread::sleep_for(300ms);
      EXPECT_COIL(comm, sum(values, comm));
      return;
    }
    std::thread second([&] {
      std::this_thread::sleep_for(100ms);
      std::vector<float> mine(10);
      EXPECT_EQ(sum(mine, comm), coilInvalidUsage);
      EXPECT_THAT(coilGetLastError(comm), HasSubstr("another thread"));
      EXPECT_EQ(coilCommDestroy(comm), coilInvalidUsage);
    });
    EXPECT_COIL(comm, sum(values, comm));
    second.join();
  });
}

TEST(FailureTest, TwoCommunicatorsInTwoThreadsInAnyOrder) {
  coilUniqueId ids[2];
  for (coilUniqueId &id : ids)
    ASSERT_EQ(coilGetUniqueId(&id), coilSuccess);
  std::vector<std::thread> threads;
  // Each rank has a thread a communicator, which start in opposite order.
  for (int rank : {0, 1})
    for (int which : {0, 1})
      threads.emplace_back([&, rank, which] {
        int mine = rank == 0 ? which : 1 - which;
        coilComm_t comm = nullptr;
        ASSERT_EQ(coilCommInitRank(&comm, 2, ids[mine], rank), coilSuccess)
            << coilGetLastError(nullptr);
        std::vector<uint8_t> file = planFile(directAllReduce(2));
        EXPECT_COIL(comm, coilCommLoadPlan(comm, file.data(), file.size()));
        for (int i = 0; i < 200; ++i) {
          std::vector<float> values(100, static_cast<float>(rank + mine));
          EXPECT_COIL(comm, sum(values, comm));
          EXPECT_EQ(values[99], static_cast<float>(1 + 2 * mine));
        }
        EXPECT_EQ(coilCommDestroy(comm), coilSuccess);
      });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(FailureTest, AnAbortedGroupCanBeMadeAnew) {
  for (int i = 0; i < 10; ++i)
    runThreads(settingFor(3), [](coilComm_t comm, int rank) {
      // Once rank 0 has its sum, all ranks are done with the set-up.
      std::vector<float> values(10);
      coilResult_t first = sum(values, comm);
      if (rank == 0) {
        EXPECT_EQ(first, coilSuccess);
        EXPECT_EQ(coilCommAbort(comm), coilSuccess);
      }
      EXPECT_NE(sum(values, comm), coilSuccess);
    });
  runThreads(settingFor(3), [](coilComm_t comm, int) {
    std::vector<float> values(10);
    EXPECT_COIL(comm, sum(values, comm));
  });
}

} // namespace
