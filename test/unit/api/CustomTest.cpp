//===- CustomTest.cpp - Plans that state their own contracts --------------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/api/Ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace coil;
using namespace coil::test;
using ::testing::HasSubstr;

namespace {

constexpr uint64_t count = 1000;

/// Three segments, of which the middle one is `middle` where that is not empty.
std::vector<int32_t> received(const std::vector<int32_t> &middle) {
  std::vector<int32_t> output(3 * count, -7);
  std::copy(middle.begin(), middle.end(), output.begin() + count);
  return output;
}

std::vector<int32_t> segmentOf(int rank, int segment) {
  std::vector<int32_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<int32_t>(i) + 10000 * rank + 5000 * segment;
  return values;
}

class CustomTest : public ::testing::TestWithParam<Ranks> {};

TEST_P(CustomTest, RunsPlansByTheirNames) {
  Setting setting;
  setting.ranks = 3;
  setting.plans = {toNext("first", 3, 0), toNext("second", 3, 1), sumToFirst(3)};
  for (bool isRegistered : {false, true})
    runRanks(GetParam(), setting, [&](coilComm_t comm, int rank) {
      size_t bytes = 5 * count * sizeof(int32_t);
      void *memory = nullptr;
      coilWindow_t window = nullptr;
      EXPECT_COIL(comm, coilMemAlloc(&memory, bytes));
      if (isRegistered)
        EXPECT_COIL(comm, coilCommRegister(comm, memory, bytes, &window));
      int32_t *send = static_cast<int32_t *>(memory), *recv = send + 2 * count;
      std::vector<int32_t> halves[] = {segmentOf(rank, 0), segmentOf(rank, 1)};
      for (size_t i = 0; i < 2; ++i)
        std::ranges::copy(halves[i], send + i * count);
      // Plans take turns without being loaded again.
      for (int call = 0; call < 4; ++call) {
        std::ranges::fill(recv, recv + 3 * count, -7);
        EXPECT_COIL(comm, coilRunCustom(call % 2 ? "second" : "first", send, recv, count, coilInt32,
                                        coilSum, comm, nullptr));
        // The first rank gets nothing, and of the others the outer segments stay.
        EXPECT_EQ(std::vector(recv, recv + 3 * count),
                  received(rank == 0 ? std::vector<int32_t>() : segmentOf(rank - 1, call % 2)))
            << "rank " << rank << ", call " << call;
      }
      for (auto [op, want] :
           {std::pair(coilSum, 30000 + 3), std::pair(coilMax, 20001), std::pair(coilMin, 1)}) {
        EXPECT_COIL(comm, coilRunCustom("push", send, recv, count, coilInt32, op, comm, nullptr));
        if (rank == 0) {
          EXPECT_EQ(recv[1], want);
        }
      }
      EXPECT_COIL(comm,
                  coilRunCustom("push", nullptr, nullptr, 0, coilInt32, coilSum, comm, nullptr));
      if (isRegistered) {
        EXPECT_COIL(comm, coilCommDeregister(comm, window));
      }
      EXPECT_EQ(coilMemFree(memory), coilSuccess);
    });
}
INSTANTIATE_TEST_SUITE_P(Ranks, CustomTest, ::testing::Values(Ranks::Threads, Ranks::Processes));

void expectError(coilResult_t result, coilResult_t want, coilComm_t comm, const char *text) {
  EXPECT_EQ(result, want);
  EXPECT_THAT(coilGetLastError(comm), HasSubstr(text));
}

TEST(CustomPlans, AreFoundByName) {
  Setting setting;
  setting.plans = {toNext("first", 2, 0)};
  runThreads(setting, [](coilComm_t comm, int) {
    size_t send = 0, recv = 0;
    EXPECT_COIL(comm, coilCommCustomSegments(comm, "first", &send, &recv));
    EXPECT_EQ(std::pair(send, recv), std::pair(size_t{2}, size_t{3}));
    // The only one needs no name.
    EXPECT_COIL(comm, coilCommCustomSegments(comm, nullptr, &send, &recv));
    std::vector<int32_t> data(5);
    EXPECT_COIL(comm, coilRunCustom(nullptr, data.data(), data.data() + 2, 1, coilInt32, coilSum,
                                    comm, nullptr));
    expectError(coilCommCustomSegments(comm, "second", &send, &recv), coilInvalidUsage, comm,
                "no plan for custom named 'second' is loaded");
    expectError(coilCommCustomSegments(comm, "first", nullptr, &recv), coilInvalidArgument, comm,
                "send is null");
    expectError(coilCommCustomSegments(comm, "first", &send, nullptr), coilInvalidArgument, comm,
                "recv is null");
    expectError(coilCommCustomSegments(nullptr, "first", &send, &recv), coilInvalidArgument,
                nullptr, "the communicator is null");

    std::vector<uint8_t> other = planFile(toNext("second", 2, 1));
    EXPECT_COIL(comm, coilCommLoadPlan(comm, other.data(), other.size()));
    expectError(
        coilRunCustom(nullptr, data.data(), data.data() + 2, 1, coilInt32, coilSum, comm, nullptr),
        coilInvalidArgument, comm,
        "expected the name of one of 2 plans with contracts of their own, found none");
    // A plan of a known name takes the other's place.
    other = planFile(sumToFirst(2));
    EXPECT_COIL(comm, coilCommLoadPlan(comm, other.data(), other.size()));
    EXPECT_COIL(comm, coilCommCustomSegments(comm, "push", &send, &recv));
    EXPECT_EQ(std::pair(send, recv), std::pair(size_t{1}, size_t{1}));
  });
}

TEST(CustomPlans, RefuseWhatMeansNothing) {
  Setting setting;
  setting.plans = {toNext("first", 2, 0), sumToFirst(2)};
  runThreads(setting, [](coilComm_t comm, int) {
    std::vector<float> data(8);
    float *send = data.data(), *recv = send + 4;
    auto run = [&](const char *name, const float *from, float *to, coilRedOp_t op,
                   size_t elements = 1) {
      return coilRunCustom(name, from, to, elements, coilFloat32, op, comm, nullptr);
    };
    expectError(run("push", send, recv, coilAvg), coilInvalidArgument, comm,
                "expected sum, prod, max or min for a contract of its own, found avg");
    coilRedOp_t scaled;
    EXPECT_COIL(comm, coilRedOpCreatePreMulSum(&scaled, send, coilFloat32, comm));
    expectError(run("push", send, recv, scaled), coilInvalidArgument, comm,
                "for a contract of its own, found premulsum");
    expectError(run("push", send, send, coilSum), coilInvalidArgument, comm,
                "custom has no in-place form");
    // Sizes are the contract's: 2 segments reach into the 3 that are written.
    expectError(run("first", send, send + 1, coilSum), coilInvalidArgument, comm,
                "the send buffer (8 bytes at ");
    expectError(run("first", nullptr, recv, coilSum), coilInvalidArgument, comm,
                "the send buffer is null");
    expectError(run("first", send, recv, coilSum, SIZE_MAX / 8), coilInvalidArgument, comm,
                "more than an address space holds");
    EXPECT_COIL(comm, run("push", send, recv, coilSum));
    // A name that is not there fails on all ranks, and nothing runs after it.
    EXPECT_EQ(run("pull", send, recv, coilSum), coilInvalidUsage);
    EXPECT_THAT(coilGetLastError(comm), HasSubstr("no plan for custom named 'pull' is loaded"));
  });
}

TEST(CustomPlans, RanksAgreeOnThePlan) {
  Setting setting;
  setting.plans = {toNext("first", 2, 0), toNext("second", 2, 1)};
  runThreads(setting, [](coilComm_t comm, int rank) {
    std::vector<int32_t> data(5 * count);
    EXPECT_EQ(coilRunCustom(rank == 0 ? "first" : "second", data.data(), data.data() + 2 * count,
                            count, coilInt32, coilSum, comm, nullptr),
              coilInvalidUsage)
        << rank;
  });
}

} // namespace
