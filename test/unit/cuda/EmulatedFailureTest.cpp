//===- EmulatedFailureTest.cpp - What goes wrong on emulated GPUs ---------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/cuda/CudaRanks.h"

#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace coil::test {
namespace {

using namespace cuda;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// Until the rank has failed.
Status waitForFailure(CudaMember &member) {
  for (int waits = 0; waits < 2000; ++waits) {
    if (Status status = member.gpu->health(); !status.isOk())
      return status;
    std::this_thread::sleep_for(5ms);
  }
  return Status::ok();
}

TEST(EmulatedFailureTest, EndsCallsThatAreAborted) {
  runCudaThreads(settingFor(2, directAllReduce(2)), [](CudaMember &member) {
    DeviceArray send(member, 400), receive(member, 400);
    if (member.rank == 0) {
      ASSERT_TRUE(
          member.gpu->enqueue(*member.plan, allReduce(send, receive, 100), member.stream).isOk());
      std::this_thread::sleep_for(100ms);
      member.gpu->abort();
      EXPECT_EQ(member.gpu->waitIdle().code(), StatusCode::Aborted);
    } else {
      Status status = waitForFailure(member);
      EXPECT_EQ(status.code(), StatusCode::RemoteError);
      EXPECT_EQ(status.message(), "rank 0 aborted the communicator");
    }
    EXPECT_FALSE(member.run(allReduce(send, receive, 100)).isOk());
  });
}

TEST(EmulatedFailureTest, NamesWhatATimeOutWaitedFor) {
  CudaSetting setting = settingFor(2, directAllReduce(2));
  setting.config.timeoutMs = 300;
  setting.config.llBytes = 0;
  runCudaThreads(setting, [](CudaMember &member) {
    DeviceArray send(member, 400), receive(member, 400);
    if (member.rank == 0) {
      Status status = member.run(allReduce(send, receive, 100));
      EXPECT_EQ(status.code(), StatusCode::Timeout);
      EXPECT_THAT(status.message(),
                  HasSubstr("rank 0 waited 0.3 s for rank 1 in pop_reduce (direct.coil:2:3), "
                            "worker 0, instance 0"));
    } else {
      EXPECT_EQ(waitForFailure(member).code(), StatusCode::RemoteError);
    }
  });
}

TEST(EmulatedFailureTest, FindsDisagreements) {
  runCudaThreads(settingFor(2, directAllReduce(2)), [](CudaMember &member) {
    DeviceArray send(member, 400), receive(member, 400);
    Status status = member.run(allReduce(send, receive, member.rank == 0 ? 100 : 99));
    if (status.isOk())
      status = waitForFailure(member);
    EXPECT_EQ(status.code(), StatusCode::InvalidUsage);
    EXPECT_EQ(status.message(),
              "the ranks disagree on a call: rank 0 called allreduce of 100 f32 (sum), rank 1 "
              "called allreduce of 99 f32 (sum)");
  });
}

TEST(EmulatedFailureTest, FindsBuffersThatOneRankHasNotRegistered) {
  runCudaThreads(settingFor(2, mixedAllReduce(2)), [](CudaMember &member) {
    DeviceArray send(member, 400), receive(member, 400), other(member, 400);
    ASSERT_TRUE(member.gpu->registerMemory(send.data(), 400).isOk());
    ASSERT_TRUE(member.gpu->registerMemory(receive.data(), 400).isOk());
    Status status = member.run(allReduce(send, member.rank == 0 ? receive : other, 100));
    if (status.isOk())
      status = waitForFailure(member);
    EXPECT_EQ(status.code(), StatusCode::InvalidUsage);
    EXPECT_THAT(status.message(), HasSubstr("rank 0 runs it between registered buffers, rank 1 "
                                            "through staged messages"));
  });
}

TEST(EmulatedFailureTest, FindsTwoRoots) {
  runCudaThreads(settingFor(2, only(Transport::Staged, broadcast(2))), [](CudaMember &member) {
    DeviceArray send(member, 400), receive(member, 400);
    CudaCall call = allReduce(send, receive, 100);
    call.arguments.kind = callKind(Collective::Broadcast);
    call.arguments.root = static_cast<uint32_t>(member.rank);
    Status status = member.run(call);
    if (status.isOk())
      status = waitForFailure(member);
    EXPECT_EQ(status.code(), StatusCode::InvalidUsage);
    EXPECT_THAT(status.message(), HasSubstr("from root 0"));
    EXPECT_THAT(status.message(), HasSubstr("from root 1"));
  });
}

TEST(EmulatedFailureTest, MissesARankThatLeft) {
  runCudaThreads(settingFor(2, directAllReduce(2)), [](CudaMember &member) {
    if (member.rank == 1)
      return;
    DeviceArray send(member, 400), receive(member, 400);
    Status status = member.run(allReduce(send, receive, 100));
    EXPECT_EQ(status.code(), StatusCode::RemoteError);
    EXPECT_THAT(status.message(), HasSubstr("has destroyed its communicator, rank 0 waits for"));
  });
}

TEST(EmulatedFailureTest, LowersInstancesToWhatIsResident) {
  CudaSetting setting = settingFor(2, directAllReduce(2));
  setting.config.instances = 1024;
  runCudaThreads(setting, [](CudaMember &member) {
    ASSERT_TRUE(member.status.isOk()) << member.status.message();
    EXPECT_LT(member.plan->instances(), 1024u);
    EXPECT_GE(member.plan->instances(), 1u);
  });
}

TEST(EmulatedFailureTest, RefusesRegisteredBuffersAloneWhereDevicesDoNotReachEachOther) {
  CudaSetting setting = settingFor(2, symmetricAllReduce(2));
  setting.config.usePeerAccess = false;
  runCudaThreads(setting, [](CudaMember &member) {
    EXPECT_EQ(member.status.code(), StatusCode::Unsupported);
    EXPECT_THAT(member.status.message(), HasSubstr("not all devices reach each other's memory"));
  });
}

TEST(EmulatedFailureTest, RefusesWhatDiffersBetweenRanks) {
  CudaSetting setting = settingFor(2, directAllReduce(2));
  setting.config.tileBytes = 100;
  runCudaThreads(setting, [](CudaMember &member) {
    EXPECT_EQ(member.status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(member.status.message(), HasSubstr("bytes of a tile"));
  });
}

TEST(EmulatedFailureTest, RefusesMemoryOfTheHost) {
  runCudaThreads(settingFor(2, directAllReduce(2)), [](CudaMember &member) {
    std::vector<std::byte> host(100);
    DeviceArray array(member, 100);
    Result<uint32_t> window =
        member.gpu->registerMemory(member.rank == 0 ? host.data() : array.data(), 100);
    EXPECT_EQ(window.status().code(), StatusCode::InvalidArgument);
    EXPECT_THAT(window.status().message(), HasSubstr("expected memory of a device"));
    Result<uint32_t> beyond = member.gpu->registerMemory(array.data(), size_t{1} << 40);
    EXPECT_EQ(beyond.status().code(), StatusCode::InvalidArgument);
    // Nothing of that did harm.
    EXPECT_TRUE(member.gpu->registerMemory(array.data(), 100).isOk());
  });
}

} // namespace
} // namespace coil::test
