//===- EmulatedDataTest.cpp - Results of calls on emulated GPUs -----------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/cuda/CudaRanks.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coil::test {
namespace {

using namespace cuda;

TEST(EmulatedDataTest, AllReducesThroughSlotsInThreads) {
  runCudaThreads(settingFor(4, mixedAllReduce(4)),
                 [](CudaMember &member) { checkSums(member, Buffers::Plain); });
}

TEST(EmulatedDataTest, AllReducesBetweenRegisteredBuffersInThreads) {
  runCudaThreads(settingFor(4, mixedAllReduce(4)),
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
