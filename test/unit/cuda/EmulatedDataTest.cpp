//===- EmulatedDataTest.cpp - Results of calls on emulated GPUs -----------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/cuda/CudaRanks.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coil::test {
namespace {

using namespace cuda;

std::vector<std::byte> valuesOf(int rank, uint64_t count, int salt = 0) {
  std::vector<float> values(count);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<uint64_t>(rank * 3 + salt)) % 31);
  std::vector<std::byte> bytes(count * sizeof(float));
  if (count != 0)
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> sumsOf(int ranks, uint64_t count, int salt = 0) {
  std::vector<float> sums(count);
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<std::byte> bytes = valuesOf(rank, count, salt);
    for (uint64_t i = 0; i < count; ++i) {
      float value;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      sums[i] += value;
    }
  }
  std::vector<std::byte> bytes(count * sizeof(float));
  if (count != 0)
    std::memcpy(bytes.data(), sums.data(), bytes.size());
  return bytes;
}

enum class Buffers { Plain, Registered };

/// Runs calls of several lengths, out of place and in place, and checks them.
void checkSums(CudaMember &member, Buffers buffers) {
  ASSERT_TRUE(member.status.isOk()) << member.status.message();
  constexpr uint64_t most = 5003;
  DeviceArray send(member, most * 4), receive(member, most * 4);
  std::vector<uint32_t> windows;
  if (buffers == Buffers::Registered)
    for (DeviceArray *array : {&send, &receive}) {
      Result<uint32_t> window = member.gpu->registerMemory(array->data(), most * 4);
      ASSERT_TRUE(window.isOk()) << window.status().message();
      windows.push_back(*window);
    }
  for (uint64_t count : {uint64_t{1}, uint64_t{0}, uint64_t{100}, most, uint64_t{101}}) {
    SCOPED_TRACE(count);
    send.write(valuesOf(member.rank, count));
    Status status = member.run(allReduce(send, receive, count));
    ASSERT_TRUE(status.isOk()) << status.message();
    std::vector<std::byte> found = receive.read();
    found.resize(count * 4);
    EXPECT_EQ(found, sumsOf(member.group.ranks, count));

    receive.write(valuesOf(member.rank, count, 5));
    CudaCall call = allReduce(receive, receive, count);
    call.arguments.inPlace = true;
    status = member.run(call);
    ASSERT_TRUE(status.isOk()) << status.message();
    found = receive.read();
    found.resize(count * 4);
    EXPECT_EQ(found, sumsOf(member.group.ranks, count, 5));
  }
  for (uint32_t window : windows)
    EXPECT_TRUE(member.gpu->deregister(window).isOk());
}

CudaSetting settingFor(int ranks, Plan plan) {
  CudaSetting setting;
  setting.ranks = ranks;
  setting.plan = readBack(plan);
  return setting;
}

TEST(EmulatedDataTest, AllReducesThroughSlotsInThreads) {
  runCudaThreads(settingFor(4, mixedAllReduce(4)),
                 [](CudaMember &member) { checkSums(member, Buffers::Plain); });
}

TEST(EmulatedDataTest, AllReducesThroughSlotsInProcesses) {
  runCudaProcesses(settingFor(2, mixedAllReduce(2)),
                   [](CudaMember &member) { checkSums(member, Buffers::Plain); });
}

TEST(EmulatedDataTest, AllReducesBetweenRegisteredBuffersInThreads) {
  runCudaThreads(settingFor(4, mixedAllReduce(4)),
                 [](CudaMember &member) { checkSums(member, Buffers::Registered); });
}

TEST(EmulatedDataTest, AllReducesBetweenRegisteredBuffersInProcesses) {
  runCudaProcesses(settingFor(2, mixedAllReduce(2)),
                   [](CudaMember &member) { checkSums(member, Buffers::Registered); });
}

TEST(EmulatedDataTest, SharesDevicesInOneLaunch) {
  CudaSetting setting = settingFor(4, mixedAllReduce(4));
  for (int ranksPerDevice : {4, 2}) {
    setting.ranksPerDevice = ranksPerDevice;
    for (Buffers buffers : {Buffers::Plain, Buffers::Registered})
      runCudaThreads(setting, [&](CudaMember &member) { checkSums(member, buffers); });
  }
}

TEST(EmulatedDataTest, GoesThroughTheHostWhereDevicesDoNotReachEachOther) {
  CudaSetting setting = settingFor(2, mixedAllReduce(2));
  setting.config.usePeerAccess = false;
  runCudaProcesses(setting, [](CudaMember &member) { checkSums(member, Buffers::Registered); });
  runCudaThreads(setting, [](CudaMember &member) { checkSums(member, Buffers::Plain); });
}

TEST(EmulatedDataTest, RunsEveryProtocolAskedFor) {
  for (Protocol protocol : {Protocol::Simple, Protocol::Ll, Protocol::Ll128}) {
    CudaSetting setting = settingFor(2, directAllReduce(2));
    setting.config.forceProtocol = protocol;
    runCudaThreads(setting, [](CudaMember &member) { checkSums(member, Buffers::Plain); });
  }
}

TEST(EmulatedDataTest, RunsWorkersScratchAndBarriers) {
  runCudaThreads(settingFor(2, workersAllReduce()),
                 [](CudaMember &member) { checkSums(member, Buffers::Plain); });
  runCudaThreads(settingFor(2, scratchAllReduce()),
                 [](CudaMember &member) { checkSums(member, Buffers::Registered); });
}

TEST(EmulatedDataTest, BroadcastsFromEveryRoot) {
  runCudaThreads(settingFor(3, only(Transport::Staged, broadcast(3))), [](CudaMember &member) {
    ASSERT_TRUE(member.status.isOk()) << member.status.message();
    DeviceArray send(member, 400), receive(member, 400);
    for (uint32_t root = 0; root < 3; ++root) {
      send.write(valuesOf(member.rank, 100));
      CudaCall call = allReduce(send, receive, 100);
      call.arguments.kind = callKind(Collective::Broadcast);
      call.arguments.root = root;
      if (member.rank != static_cast<int>(root))
        call.send = call.receive;
      Status status = member.run(call);
      ASSERT_TRUE(status.isOk()) << status.message();
      EXPECT_EQ(receive.read(), valuesOf(static_cast<int>(root), 100));
    }
  });
}

TEST(EmulatedDataTest, ReplaysCapturedCalls) {
  runCudaThreads(settingFor(2, mixedAllReduce(2)), [](CudaMember &member) {
    ASSERT_TRUE(member.status.isOk()) << member.status.message();
    constexpr uint64_t count = 1000;
    DeviceArray send(member, count * 4), receive(member, count * 4);
    const Driver &driver = member.driver;
    CudaCall call = allReduce(send, receive, count);
    ASSERT_TRUE(member.gpu->prepare(*member.plan, call).isOk());
    ASSERT_TRUE(
        COIL_CUDA(driver, cuStreamBeginCapture_v2, member.stream, StreamCaptureMode::ThreadLocal)
            .isOk());
    // Two calls in one graph.
    for (int i = 0; i < 2; ++i) {
      Status status = member.gpu->enqueue(*member.plan, call, member.stream);
      ASSERT_TRUE(status.isOk()) << status.message();
    }
    DriverGraph *graph = nullptr;
    DriverGraphExec *exec = nullptr;
    ASSERT_TRUE(COIL_CUDA(driver, cuStreamEndCapture, member.stream, &graph).isOk());
    ASSERT_TRUE(COIL_CUDA(driver, cuGraphInstantiateWithFlags, &exec, graph, 0).isOk());
    for (int replay = 0; replay < 3; ++replay) {
      send.write(valuesOf(member.rank, count, replay));
      ASSERT_TRUE(COIL_CUDA(driver, cuGraphLaunch, exec, member.stream).isOk());
      ASSERT_TRUE(COIL_CUDA(driver, cuStreamSynchronize, member.stream).isOk());
      EXPECT_EQ(receive.read(), sumsOf(2, count, replay));
      // A call in between goes on where the graph has stopped.
      ASSERT_TRUE(member.gpu->enqueue(*member.plan, call, member.stream).isOk());
      ASSERT_TRUE(COIL_CUDA(driver, cuStreamSynchronize, member.stream).isOk());
    }
    EXPECT_TRUE(member.gpu->health().isOk());
    EXPECT_TRUE(COIL_CUDA(driver, cuGraphExecDestroy, exec).isOk());
    EXPECT_TRUE(COIL_CUDA(driver, cuGraphDestroy, graph).isOk());
  });
}

TEST(EmulatedDataTest, LeavesTheUsersContextAsItWas) {
  runCudaThreads(settingFor(2, mixedAllReduce(2)), [](CudaMember &member) {
    ASSERT_TRUE(member.status.isOk()) << member.status.message();
    DriverContext *before = nullptr, *after = nullptr;
    ASSERT_TRUE(COIL_CUDA(member.driver, cuCtxGetCurrent, &before).isOk());
    DeviceArray send(member, 400), receive(member, 400);
    EXPECT_TRUE(member.run(allReduce(send, receive, 100)).isOk());
    ASSERT_TRUE(COIL_CUDA(member.driver, cuCtxGetCurrent, &after).isOk());
    EXPECT_EQ(before, after);
  });
}

} // namespace
} // namespace coil::test
