//===- EmulatedProcessesTest.cpp - Ranks on GPUs, each a process ----------===//
//
// The ranks' parent uses no driver: what it had started would not be in its
// children.
//
//===----------------------------------------------------------------------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/cuda/CudaRanks.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coil::test {
namespace {

using testing::HasSubstr;

TEST(EmulatedProcessesTest, AllReducesThroughSlots) {
  runCudaProcesses(settingFor(2, mixedAllReduce(2)),
                   [](CudaMember &member) { checkSums(member, Buffers::Plain); });
}

TEST(EmulatedProcessesTest, AllReducesBetweenRegisteredBuffers) {
  runCudaProcesses(settingFor(2, mixedAllReduce(2)),
                   [](CudaMember &member) { checkSums(member, Buffers::Registered); });
}

TEST(EmulatedProcessesTest, GoesThroughTheHostWhereDevicesDoNotReachEachOther) {
  CudaSetting setting = settingFor(2, mixedAllReduce(2));
  setting.config.usePeerAccess = false;
  runCudaProcesses(setting, [](CudaMember &member) { checkSums(member, Buffers::Registered); });
}

TEST(EmulatedProcessesTest, MissesARankThatDied) {
  runCudaProcesses(
      settingFor(2, directAllReduce(2)),
      [](CudaMember &member) {
        DeviceArray send(member, 400), receive(member, 400);
        // Both work together once.
        ASSERT_TRUE(member.run(allReduce(send, receive, 100)).isOk());
        if (member.rank == 1)
          raise(SIGKILL);
        Status status = member.run(allReduce(send, receive, 100));
        EXPECT_EQ(status.code(), StatusCode::RemoteError);
        EXPECT_THAT(status.message(), HasSubstr("is gone: its process died; rank 0 waits for rank "
                                                "1 in "));
      },
      1);
}

TEST(EmulatedProcessesTest, RefusesSeveralProcessesOnOneDevice) {
  CudaSetting setting = settingFor(2, directAllReduce(2));
  setting.ranksPerDevice = 2;
  runCudaProcesses(setting, [](CudaMember &member) {
    EXPECT_EQ(member.status.code(), StatusCode::Unsupported);
    EXPECT_THAT(member.status.message(), HasSubstr("are processes of their own on one device"));
  });
}

TEST(EmulatedProcessesTest, TellsAllRanksThatMemoryRanOut) {
  // Of the table of windows, then of the plan's two pieces.
  for (int number : {1, 2, 3}) {
    SCOPED_TRACE(number);
    CudaSetting setting = settingFor(2, directAllReduce(2));
    setting.faults = "cuMemAlloc_v2:" + std::to_string(number) + "=out_of_memory";
    runCudaProcesses(setting, [](CudaMember &member) {
      EXPECT_EQ(member.status.code(), StatusCode::SystemError);
      EXPECT_THAT(member.status.message(), HasSubstr("bytes on device 1"));
      EXPECT_THAT(member.status.message(), HasSubstr("OUT_OF_MEMORY"));
      if (member.rank == 0) {
        EXPECT_THAT(member.status.message(), testing::StartsWith("rank 1: "));
      }
    });
  }
}

TEST(EmulatedProcessesTest, TellsAllRanksThatALaunchFailed) {
  CudaSetting setting = settingFor(2, directAllReduce(2));
  setting.config.instances = 1;
  setting.faults = "cuLaunchKernel:2=launch_out_of_resources";
  runCudaProcesses(setting, [](CudaMember &member) {
    DeviceArray send(member, 400), receive(member, 400);
    // Rank 0 may hear of the failure before its first call is over.
    Status status = member.run(allReduce(send, receive, 100));
    ASSERT_TRUE(status.isOk() || member.rank == 0) << status.message();
    if (status.isOk())
      status = member.run(allReduce(send, receive, 100));
    EXPECT_EQ(status.code(), member.rank == 1 ? StatusCode::SystemError : StatusCode::RemoteError);
    EXPECT_THAT(status.message(), HasSubstr("cuLaunchKernel failed: "));
  });
}

TEST(EmulatedProcessesTest, TellsAllRanksThatAKernelDidNotCompile) {
  CudaSetting setting = settingFor(2, directAllReduce(2));
  setting.faults = "cuModuleLoadData:1=no_binary_for_gpu";
  runCudaProcesses(setting, [](CudaMember &member) {
    DeviceArray send(member, 400), receive(member, 400);
    Status status = member.run(allReduce(send, receive, 100));
    EXPECT_EQ(status.code(), member.rank == 1 ? StatusCode::Unsupported : StatusCode::RemoteError);
    EXPECT_THAT(status.message(), HasSubstr("cuModuleLoadData failed: "));
  });
}

} // namespace
} // namespace coil::test
