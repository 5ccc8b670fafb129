//===- ArgumentsTest.cpp - Wrong arguments are errors ---------------------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/api/Ranks.h"

#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace coil;
using namespace coil::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

/// Runs on a communicator of one rank with plans for all collectives.
void withComm(const std::function<void(coilComm_t comm)> &body) {
  Setting setting;
  setting.ranks = 1;
  setting.plans = {mixedAllReduce(1), allGather(1), reduceScatter(1), broadcast(1), reduce(1),
                   gather(1),         scatter(1),   allToAll(1),      sendRecv(1)};
  runThreads(setting, [&](coilComm_t comm, int) { body(comm); });
}

void expectError(coilResult_t result, coilResult_t want, coilComm_t comm, const char *text) {
  EXPECT_EQ(result, want);
  EXPECT_THAT(coilGetLastError(comm), HasSubstr(text));
}

TEST(ArgumentsTest, NullPointers) {
  expectError(coilGetVersion(nullptr), coilInvalidArgument, nullptr, "version is null");
  expectError(coilGetUniqueId(nullptr), coilInvalidArgument, nullptr, "id is null");
  expectError(coilMemAlloc(nullptr, 1), coilInvalidArgument, nullptr, "pointer is null");
  expectError(coilCommAbort(nullptr), coilInvalidArgument, nullptr, "comm is null");
  expectError(coilAllReduce(nullptr, nullptr, 0, coilInt8, coilSum, nullptr, nullptr),
              coilInvalidArgument, nullptr, "communicator is null");
  coilResult_t state;
  expectError(coilCommGetAsyncError(nullptr, &state), coilInvalidArgument, nullptr, "null");
  EXPECT_EQ(coilCommDestroy(nullptr), coilSuccess);
  EXPECT_EQ(coilMemFree(nullptr), coilSuccess);
  withComm([](coilComm_t comm) {
    float value = 0;
    expectError(coilAllReduce(nullptr, &value, 1, coilFloat32, coilSum, comm, nullptr),
                coilInvalidArgument, comm, "send buffer is null");
    expectError(coilAllReduce(&value, nullptr, 1, coilFloat32, coilSum, comm, nullptr),
                coilInvalidArgument, comm, "receive buffer is null");
    expectError(coilBroadcast(nullptr, &value, 1, coilFloat32, 0, comm, nullptr),
                coilInvalidArgument, comm, "send buffer is null");
    expectError(coilCommRegister(comm, &value, 4, nullptr), coilInvalidArgument, comm, "null");
    expectError(coilRedOpCreatePreMulSum(nullptr, &value, coilFloat32, comm), coilInvalidArgument,
                comm, "null");
    // With no elements there is nothing to point at.
    EXPECT_COIL(comm, coilAllReduce(nullptr, nullptr, 0, coilFloat32, coilSum, comm, nullptr));
    EXPECT_COIL(comm, coilAllGather(nullptr, &value, 0, coilFloat32, comm, nullptr));
    EXPECT_COIL(comm, coilReduceScatter(nullptr, nullptr, 0, coilFloat32, coilSum, comm, nullptr));
    EXPECT_COIL(comm, coilBroadcast(nullptr, nullptr, 0, coilFloat32, 0, comm, nullptr));
    EXPECT_COIL(comm, coilReduce(nullptr, nullptr, 0, coilFloat32, coilSum, 0, comm, nullptr));
    EXPECT_COIL(comm, coilGather(nullptr, nullptr, 0, coilFloat32, 0, comm, nullptr));
    EXPECT_COIL(comm, coilScatter(nullptr, nullptr, 0, coilFloat32, 0, comm, nullptr));
    EXPECT_COIL(comm, coilAlltoAll(nullptr, nullptr, 0, coilFloat32, comm, nullptr));
    EXPECT_COIL(comm, coilSendRecv(nullptr, nullptr, 0, coilFloat32, comm, nullptr));
    // Root needs both buffers.
    expectError(coilReduce(&value, nullptr, 1, coilFloat32, coilSum, 0, comm, nullptr),
                coilInvalidArgument, comm, "receive buffer is null");
    expectError(coilGather(&value, nullptr, 1, coilFloat32, 0, comm, nullptr), coilInvalidArgument,
                comm, "receive buffer is null");
    expectError(coilScatter(nullptr, &value, 1, coilFloat32, 0, comm, nullptr), coilInvalidArgument,
                comm, "send buffer is null");
    expectError(coilAlltoAll(nullptr, &value, 1, coilFloat32, comm, nullptr), coilInvalidArgument,
                comm, "send buffer is null");
    expectError(coilSendRecv(&value, nullptr, 1, coilFloat32, comm, nullptr), coilInvalidArgument,
                comm, "receive buffer is null");
  });
}

TEST(ArgumentsTest, BuffersThatOtherRanksThanTheRootNeed) {
  Setting setting;
  setting.plans = {reduce(2), gather(2), scatter(2)};
  runThreads(setting, [](coilComm_t comm, int rank) {
    std::vector<float> a(8), b(8);
    // Rank 0 is root. What rank 1 must give is missed before anyone is waited for.
    if (rank == 1) {
      expectError(coilReduce(nullptr, b.data(), 1, coilFloat32, coilSum, 0, comm, nullptr),
                  coilInvalidArgument, comm, "send buffer is null");
      expectError(coilGather(nullptr, b.data(), 1, coilFloat32, 0, comm, nullptr),
                  coilInvalidArgument, comm, "send buffer is null");
      expectError(coilScatter(a.data(), nullptr, 1, coilFloat32, 0, comm, nullptr),
                  coilInvalidArgument, comm, "receive buffer is null");
    } else {
      expectError(coilGather(a.data(), a.data() + 1, 2, coilFloat32, 0, comm, nullptr),
                  coilInvalidArgument, comm, "are not where an in-place gather of rank 0 has them");
    }
    // Off root the buffer that does not count may even overlap the other.
    EXPECT_COIL(comm, coilReduce(a.data(), rank == 0 ? b.data() : a.data() + 1, 2, coilFloat32,
                                 coilSum, 0, comm, nullptr));
  });
}

TEST(ArgumentsTest, CollectivesWithoutAFormInPlace) {
  withComm([](coilComm_t comm) {
    std::vector<float> buffer(8);
    expectError(coilAlltoAll(buffer.data(), buffer.data(), 4, coilFloat32, comm, nullptr),
                coilInvalidArgument, comm, "overlap, but alltoall has no in-place form");
    expectError(coilSendRecv(buffer.data(), buffer.data() + 1, 4, coilFloat32, comm, nullptr),
                coilInvalidArgument, comm, "overlap, but sendrecv has no in-place form");
    EXPECT_COIL(comm,
                coilSendRecv(buffer.data(), buffer.data() + 4, 4, coilFloat32, comm, nullptr));
  });
}

TEST(ArgumentsTest, CommInit) {
  coilUniqueId id;
  ASSERT_EQ(coilGetUniqueId(&id), coilSuccess);
  coilComm_t comm;
  expectError(coilCommInitRank(nullptr, 1, id, 0), coilInvalidArgument, nullptr, "comm is null");
  for (auto [ranks, rank] : {std::pair(0, 0), {1, 1}, {2, -1}, {-1, 0}})
    expectError(coilCommInitRank(&comm, ranks, id, rank), coilInvalidArgument, nullptr,
                "expected at least 1 rank and a rank below that");
  expectError(coilCommInitRankConfig(&comm, 1, id, 0, nullptr), coilInvalidArgument, nullptr,
              "config is null");
  coilConfig_t config = COIL_CONFIG_INITIALIZER;
  config.slotBytes = 100;
  expectError(coilCommInitRankConfig(&comm, 1, id, 0, &config), coilInvalidArgument, nullptr,
              "multiple of 64");
  config = COIL_CONFIG_INITIALIZER;
  config.size = 8;
  expectError(coilCommInitRankConfig(&comm, 1, id, 0, &config), coilInvalidArgument, nullptr,
              "COIL_CONFIG_INITIALIZER");
  std::memset(&id, 'x', sizeof id);
  EXPECT_EQ(coilCommInitRank(&comm, 1, id, 0), coilInvalidArgument);
  EXPECT_EQ(comm, nullptr);
}

TEST(ArgumentsTest, Version) {
  int version = 0;
  EXPECT_EQ(coilGetVersion(&version), coilSuccess);
  EXPECT_EQ(version, COIL_VERSION);
  EXPECT_STREQ(coilGetErrorString(coilTimeout), "timeout");
  EXPECT_STREQ(coilGetErrorString(static_cast<coilResult_t>(12)), "unknown status");
}

TEST(ArgumentsTest, CountTypeOperatorRootAndOverlap) {
  withComm([](coilComm_t comm) {
    std::vector<float> buffer(100);
    float *data = buffer.data();
    int ranks = 0, rank = -1;
    EXPECT_COIL(comm, coilCommCount(comm, &ranks));
    EXPECT_COIL(comm, coilCommUserRank(comm, &rank));
    EXPECT_EQ(ranks, 1);
    EXPECT_EQ(rank, 0);
    expectError(coilAllReduce(data, data, 1, coilFloat32, coilSum, comm, data), coilInvalidArgument,
                comm, "expected no stream where ranks run on CPUs");
    expectError(coilAllReduce(data, data, SIZE_MAX / 2, coilFloat32, coilSum, comm, nullptr),
                coilInvalidArgument, comm, "more than an address space holds");
    expectError(coilAllReduce(data, data, SIZE_MAX, coilInt8, coilSum, comm, nullptr),
                coilInvalidArgument, comm, "more than an address space holds");
    expectError(coilAllReduce(data, reinterpret_cast<void *>(UINTPTR_MAX - 8), 100, coilFloat32,
                              coilSum, comm, nullptr),
                coilInvalidArgument, comm, "beyond the end of the address space");
    expectError(
        coilAllReduce(data, data, 1, static_cast<coilDataType_t>(12), coilSum, comm, nullptr),
        coilInvalidArgument, comm, "there is no type 12");
    expectError(coilAllReduce(data, data, 1, coilFloat32, coilRedOpCount, comm, nullptr),
                coilInvalidArgument, comm, "there is no operator 5");
    expectError(coilBroadcast(data, data, 1, coilFloat32, 1, comm, nullptr), coilInvalidArgument,
                comm, "expected a root below 1, found 1");
    expectError(coilBroadcast(data, data, 1, coilFloat32, -1, comm, nullptr), coilInvalidArgument,
                comm, "found -1");
    expectError(coilAllReduce(data, data + 1, 10, coilFloat32, coilSum, comm, nullptr),
                coilInvalidArgument, comm, "overlap");
    // Wrong arguments leave the communicator as it was.
    EXPECT_COIL(comm, coilAllReduce(data, data + 10, 10, coilFloat32, coilSum, comm, nullptr));
  });
}

TEST(ArgumentsTest, MissingPlansAndVariants) {
  Setting setting;
  setting.config.directBytes = 0;
  runThreads(setting, [](coilComm_t comm, int) {
    std::vector<float> a(8), b(8);
    expectError(coilAllReduce(a.data(), b.data(), 4, coilFloat32, coilSum, comm, nullptr),
                coilInvalidUsage, comm,
                "no plan for allreduce is loaded; compile one with coilc and load it with "
                "coilCommLoadPlan");
    Plan plan = directAllReduce(2);
    std::erase_if(plan.variants, [](const PlanVariant &variant) { return variant.inPlace; });
    std::vector<uint8_t> file = planFile(plan);
    EXPECT_COIL(comm, coilCommLoadPlan(comm, file.data(), file.size()));
    expectError(coilAllReduce(a.data(), a.data(), 4, coilFloat32, coilSum, comm, nullptr),
                coilInvalidUsage, comm, "plan 'direct' has no variant for allreduce in place");
    EXPECT_COIL(comm, coilAllReduce(a.data(), b.data(), 4, coilFloat32, coilSum, comm, nullptr));

    file = planFile(symmetricAllReduce(2));
    EXPECT_COIL(comm, coilCommLoadPlan(comm, file.data(), file.size()));
    expectError(coilAllReduce(a.data(), b.data(), 4, coilFloat32, coilSum, comm, nullptr),
                coilInvalidUsage, comm, "not all ranks' buffers are registered");
    coilRedOp_t op;
    float two = 2;
    EXPECT_COIL(comm, coilRedOpCreatePreMulSum(&op, &two, coilFloat32, comm));
    expectError(coilAllReduce(a.data(), b.data(), 4, coilFloat32, op, comm, nullptr),
                coilUnsupported, comm, "registered buffers only");
    EXPECT_COIL(comm, coilAllReduce(nullptr, nullptr, 0, coilFloat32, coilSum, comm, nullptr));

    plan = broadcast(2);
    std::erase_if(plan.variants, [](const PlanVariant &variant) { return variant.root == 1; });
    file = planFile(plan);
    EXPECT_COIL(comm, coilCommLoadPlan(comm, file.data(), file.size()));
    expectError(coilBroadcast(a.data(), b.data(), 4, coilFloat32, 1, comm, nullptr),
                coilInvalidUsage, comm, "plan 'chain' has no variant for broadcast with root 1");
    EXPECT_COIL(comm, coilBroadcast(a.data(), b.data(), 4, coilFloat32, 0, comm, nullptr));
  });
}

TEST(ArgumentsTest, PlansThatTheRuntimeCannotUse) {
  Setting setting;
  runThreads(setting, [](coilComm_t comm, int) {
    Plan plan = scratchAllReduce();
    for (PlanVariant &variant : plan.variants)
      variant.scratchChunks = {4000000000, 4000000000};
    std::vector<uint8_t> file = planFile(plan);
    expectError(coilCommLoadPlan(comm, file.data(), file.size()), coilInvalidPlan, comm,
                "more than the 1024 MiB that a rank may have");
  });
}

TEST(ArgumentsTest, Registration) {
  Setting setting;
  setting.plans = {mixedAllReduce(2)};
  runThreads(setting, [](coilComm_t comm, int rank) {
    void *memory = nullptr;
    coilWindow_t window = nullptr;
    EXPECT_COIL(nullptr, coilMemAlloc(&memory, 1000));
    // Memory that cannot be registered, on one rank: all ranks hear of it.
    float plain = 0;
    EXPECT_EQ(coilCommRegister(comm, rank == 1 ? &plain : memory, 4, &window), coilInvalidArgument);
    EXPECT_THAT(coilGetLastError(comm), HasSubstr("do not lie in one allocation of coilMemAlloc"));
    if (rank == 0) {
      EXPECT_THAT(coilGetLastError(comm), HasSubstr("rank 1: "));
    }
    EXPECT_EQ(window, nullptr);
    EXPECT_EQ(coilCommRegister(comm, memory, 1001, &window), coilInvalidArgument);
    EXPECT_COIL(comm, coilCommRegister(comm, memory, 1000, &window));
    expectError(coilMemFree(memory), coilInvalidUsage, nullptr, "is registered");
    expectError(coilMemFree(&plain), coilInvalidArgument, nullptr, "");
    // Different windows on different ranks.
    coilWindow_t second = nullptr;
    EXPECT_COIL(comm, coilCommRegister(comm, memory, 100, &second));
    EXPECT_EQ(coilCommDeregister(comm, rank == 0 ? window : second), coilInvalidUsage);
    EXPECT_EQ(coilCommDeregister(comm, reinterpret_cast<coilWindow_t>(&plain)),
              coilInvalidArgument);
    EXPECT_COIL(comm, coilCommDeregister(comm, window));
    expectError(coilCommDeregister(comm, window), coilInvalidArgument, comm, "not one of");
    expectError(coilMemFree(memory), coilInvalidUsage, nullptr, "is registered");
    EXPECT_COIL(comm, coilCommDeregister(comm, second));
    EXPECT_COIL(nullptr, coilMemFree(memory));
  });
}

TEST(ArgumentsTest, Operators) {
  withComm([](coilComm_t comm) {
    float two = 2, value = 3, result = 0;
    coilRedOp_t op;
    EXPECT_COIL(comm, coilRedOpCreatePreMulSum(&op, &two, coilFloat32, comm));
    two = 5; // was read before
    EXPECT_COIL(comm, coilAllReduce(&value, &result, 1, coilFloat32, op, comm, nullptr));
    EXPECT_EQ(result, 6);
    expectError(coilAllReduce(&value, &result, 1, coilInt32, op, comm, nullptr),
                coilInvalidArgument, comm, "was made for f32, the call is of i32");
    EXPECT_COIL(comm, coilRedOpDestroy(op, comm));
    expectError(coilAllReduce(&value, &result, 1, coilFloat32, op, comm, nullptr),
                coilInvalidArgument, comm, "there is no operator");
    expectError(coilRedOpDestroy(op, comm), coilInvalidArgument, comm, "is destroyed");
    expectError(coilRedOpDestroy(coilSum, comm), coilInvalidArgument, comm, "was not made");
    coilRedOp_t again;
    EXPECT_COIL(comm, coilRedOpCreatePreMulSum(&again, &two, coilFloat32, comm));
    EXPECT_NE(again, op);
    expectError(coilRedOpCreatePreMulSum(&op, nullptr, coilFloat32, comm), coilInvalidArgument,
                comm, "scalar is null");
  });
}

} // namespace
