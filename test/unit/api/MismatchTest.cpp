//===- MismatchTest.cpp - Ranks that disagree all hear of it --------------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/api/Ranks.h"

#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace coil;
using namespace coil::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t largest = 40000;

/// One rank's call, on buffers with room for 3 * `largest` floats.
using RankCall = std::function<coilResult_t(float *send, float *receive, coilComm_t comm)>;

RankCall allReduce(size_t count, coilDataType_t type = coilFloat32, coilRedOp_t op = coilSum) {
  return [=](float *send, float *receive, coilComm_t comm) {
    return coilAllReduce(send, receive, count, type, op, comm, nullptr);
  };
}

/// Runs `odd` on rank `oddRank` and `usual` on the others of 3 ranks, after a few
/// good calls. All must get an InvalidUsage that has both texts, soon.
void expectDisagreement(const RankCall &usual, const RankCall &odd, const std::string &usualText,
                        const std::string &oddText, uint64_t directBytes = 16 << 10) {
  for (Ranks kind : {Ranks::Threads, Ranks::Processes})
    for (int oddRank : {0, 2})
      for (bool registered : {false, true}) {
        Setting setting;
        setting.ranks = 3;
        setting.plans = {mixedAllReduce(3), allGather(3), broadcast(3)};
        setting.config.directBytes = directBytes;
        runRanks(kind, setting, [&](coilComm_t comm, int rank) {
          constexpr size_t bytes = 3 * largest * sizeof(float);
          void *memory = nullptr;
          ASSERT_EQ(coilMemAlloc(&memory, 2 * bytes), coilSuccess);
          coilWindow_t window;
          if (registered)
            EXPECT_COIL(comm, coilCommRegister(comm, memory, 2 * bytes, &window));
          auto *send = static_cast<float *>(memory), *receive = send + 3 * largest;
          // A rank that is late may hear of it in a call that was right.
          coilResult_t good = coilSuccess;
          for (int i = 0; i < 70 && good == coilSuccess; ++i)
            good = allReduce(100)(send, receive, comm);
          EXPECT_TRUE(good == coilSuccess || good == coilInvalidUsage);
          auto start = Clock::now();
          EXPECT_EQ((rank == oddRank ? odd : usual)(send, receive, comm), coilInvalidUsage);
          EXPECT_THAT(coilGetLastError(comm), AllOf(HasSubstr(usualText), HasSubstr(oddText)));
          EXPECT_LT(Clock::now() - start, std::chrono::seconds(1));
          // The communicator stays broken, with the same reason.
          EXPECT_EQ(usual(send, receive, comm), coilInvalidUsage);
          coilResult_t state = coilSuccess;
          EXPECT_EQ(coilCommGetAsyncError(comm, &state), coilSuccess);
          EXPECT_EQ(state, coilInvalidUsage);
          EXPECT_THAT(coilGetLastError(comm), HasSubstr(oddText));
        });
      }
}

TEST(MismatchTest, Count) {
  expectDisagreement(allReduce(1000), allReduce(998), "allreduce of 1000 f32 (sum)",
                     "allreduce of 998 f32 (sum)");
}

TEST(MismatchTest, CountOnBothSidesOfDirectBytes) {
  expectDisagreement(allReduce(100), allReduce(largest), "allreduce of 100 f32 (sum)",
                     "allreduce of 40000 f32 (sum)");
}

TEST(MismatchTest, ZeroCount) {
  expectDisagreement(allReduce(0), allReduce(1), "allreduce of 0 f32 (sum)",
                     "allreduce of 1 f32 (sum)");
}

TEST(MismatchTest, LargeCounts) {
  expectDisagreement(allReduce(largest), allReduce(largest - 1), "allreduce of 40000 f32 (sum)",
                     "allreduce of 39999 f32 (sum)");
}

TEST(MismatchTest, Type) {
  expectDisagreement(allReduce(1000), allReduce(1000, coilInt32), "allreduce of 1000 f32 (sum)",
                     "allreduce of 1000 i32 (sum)");
}

TEST(MismatchTest, Operator) {
  expectDisagreement(allReduce(1000), allReduce(1000, coilFloat32, coilAvg),
                     "allreduce of 1000 f32 (sum)", "allreduce of 1000 f32 (avg)");
}

TEST(MismatchTest, InPlace) {
  for (size_t count : {size_t{10}, largest})
    expectDisagreement(
        allReduce(count),
        [count](float *, float *receive, coilComm_t comm) {
          return coilAllReduce(receive, receive, count, coilFloat32, coilSum, comm, nullptr);
        },
        fmt::format("called allreduce of {} f32 (sum),", count),
        fmt::format("allreduce of {} f32 (sum), in place", count));
}

TEST(MismatchTest, Collective) {
  for (size_t count : {size_t{10}, largest})
    expectDisagreement(
        allReduce(count),
        [count](float *send, float *receive, coilComm_t comm) {
          return coilAllGather(send, receive, count, coilFloat32, comm, nullptr);
        },
        "called allreduce of", "called allgather of");
}

TEST(MismatchTest, CollectiveWithoutAPlan) {
  expectDisagreement(
      allReduce(10),
      [](float *send, float *receive, coilComm_t comm) {
        return coilReduceScatter(send, receive, 10, coilFloat32, coilSum, comm, nullptr);
      },
      "called allreduce of", "called reduce_scatter of");
}

TEST(MismatchTest, Root) {
  for (size_t count : {size_t{10}, largest}) {
    auto from = [count](int root) -> RankCall {
      return [=](float *send, float *receive, coilComm_t comm) {
        return coilBroadcast(send, receive, count, coilFloat32, root, comm, nullptr);
      };
    };
    expectDisagreement(from(0), from(2), "from root 0", "from root 2");
  }
}

TEST(MismatchTest, SetUpAgainstCollective) {
  expectDisagreement(
      allReduce(10),
      [](float *, float *, coilComm_t comm) {
        std::vector<uint8_t> file = planFile(directAllReduce(3));
        return coilCommLoadPlan(comm, file.data(), file.size());
      },
      "called allreduce of", "called coilCommLoadPlan");
}

TEST(MismatchTest, SetUpCalls) {
  expectDisagreement(
      [](float *send, float *, coilComm_t comm) {
        coilWindow_t window;
        return coilCommRegister(comm, send, 16, &window);
      },
      [](float *, float *, coilComm_t comm) {
        std::vector<uint8_t> file = planFile(directAllReduce(3));
        return coilCommLoadPlan(comm, file.data(), file.size());
      },
      "coilCommRegister", "coilCommLoadPlan");
}

TEST(MismatchTest, DifferentPlansLeaveTheCommunicatorUsable) {
  Setting setting;
  runThreads(setting, [](coilComm_t comm, int rank) {
    std::vector<uint8_t> file = planFile(rank == 0 ? directAllReduce(2) : ringAllReduce(2));
    EXPECT_EQ(coilCommLoadPlan(comm, file.data(), file.size()), coilInvalidUsage);
    EXPECT_THAT(coilGetLastError(comm), AllOf(HasSubstr("rank 0"), HasSubstr("rank 1")));
    file = planFile(directAllReduce(2));
    EXPECT_COIL(comm, coilCommLoadPlan(comm, file.data(), file.size()));
    float value = 1;
    EXPECT_COIL(comm, coilAllReduce(&value, &value, 1, coilFloat32, coilSum, comm, nullptr));
    EXPECT_EQ(value, 2);
  });
}

TEST(MismatchTest, ABadPlanOnOneRankIsAnErrorOnAll) {
  Setting setting;
  runThreads(setting, [](coilComm_t comm, int rank) {
    std::vector<uint8_t> file = planFile(directAllReduce(rank == 1 ? 3 : 2));
    EXPECT_EQ(coilCommLoadPlan(comm, file.data(), file.size()), coilInvalidPlan);
    EXPECT_THAT(coilGetLastError(comm), HasSubstr("is for 3 ranks, the communicator has 2"));
    if (rank == 0) {
      EXPECT_THAT(coilGetLastError(comm), HasSubstr("rank 1: "));
    }
    file = planFile(directAllReduce(2));
    if (rank == 0)
      file.resize(file.size() / 2);
    EXPECT_EQ(coilCommLoadPlan(comm, file.data(), file.size()), coilInvalidPlan);
    EXPECT_EQ(coilCommLoadPlan(comm, rank == 0 ? nullptr : file.data(), file.size()),
              coilInvalidArgument);
    EXPECT_EQ(coilCommLoadPlanFile(comm, rank == 0 ? "/nonexistent/plan" : nullptr),
              rank == 0 ? coilSystemError : coilInvalidArgument);
    EXPECT_COIL(comm, coilCommLoadPlan(comm, planFile(directAllReduce(2)).data(),
                                       planFile(directAllReduce(2)).size()));
  });
}

TEST(MismatchTest, Configuration) {
  coilUniqueId id;
  ASSERT_EQ(coilGetUniqueId(&id), coilSuccess);
  std::vector<std::thread> threads;
  for (int rank : {0, 1})
    threads.emplace_back([&, rank] {
      coilConfig_t config = COIL_CONFIG_INITIALIZER;
      config.slotBytes = rank == 0 ? 4096 : 8192;
      coilComm_t comm = nullptr;
      EXPECT_EQ(coilCommInitRankConfig(&comm, 2, id, rank, &config), coilInvalidUsage);
      EXPECT_EQ(comm, nullptr);
      EXPECT_THAT(coilGetLastError(nullptr),
                  HasSubstr("slotBytes: rank 0 has 4096, rank 1 has 8192"));
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
