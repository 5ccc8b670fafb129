//===- TrustedCubinsTest.cpp - Kernels that were compiled ahead of time ---===//

#include "runtime/executor/cuda/Device.h"
#include "runtime/include/coil/coil.h"
#include "test/unit/api/HandPlans.h"
#include "test/unit/cuda/CudaRanks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace coil::test {
namespace {

using namespace cuda;
using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t count = 1000;

/// The staged variants out of place, from rank 0 if there is a root: few kernels.
Plan fewVariants(Plan plan) {
  std::erase_if(plan.variants, [](const PlanVariant &variant) {
    return variant.transport != Transport::Staged || variant.inPlace || variant.root > 0;
  });
  return plan;
}

/// Where the plan's kernels are all that there is.
CudaSetting withoutNvrtc(const Plan &plan, DataType compiledFor) {
  CudaSetting setting = settingFor(static_cast<int>(plan.ranks), fewVariants(plan));
  setting.config.forceProtocol = Protocol::Simple;
  setting.config.nvrtcLibrary = "/nowhere/libnvrtc.so";
  setting.trusted = std::make_shared<const nvrtc::CubinBundle>(
      bundleOf(*setting.plan, compiledFor, Protocol::Simple));
  return setting;
}

CudaCall callOf(Collective collective, DeviceArray &send, DeviceArray &receive) {
  CudaCall call = allReduce(send, receive, count);
  call.arguments.kind = callKind(collective);
  return call;
}

/// By one of two ranks.
void expectSums(CudaMember &member) {
  ASSERT_TRUE(member.status.isOk()) << member.status.message();
  DeviceArray send(member, count * 4), receive(member, count * 4);
  send.write(valuesOf(member.rank, count));
  Status status = member.run(allReduce(send, receive, count));
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_EQ(receive.read(), sumsOf(2, count));
}

TEST(TrustedCubinsTest, ServeAllReduces) {
  runCudaThreads(withoutNvrtc(directAllReduce(2), DataType::F32), expectSums);
}

// What moves data has one kernel for all types of a size.
TEST(TrustedCubinsTest, ServeAllGathersOfEveryTypeOfASize) {
  runCudaThreads(withoutNvrtc(allGather(2), DataType::I32), [](CudaMember &member) {
    ASSERT_TRUE(member.status.isOk()) << member.status.message();
    DeviceArray send(member, count * 4), receive(member, 2 * count * 4);
    std::vector<std::byte> gathered = valuesOf(0, count), second = valuesOf(1, count);
    gathered.insert(gathered.end(), second.begin(), second.end());
    send.write(valuesOf(member.rank, count));
    for (DataType type : {DataType::F32, DataType::I32, DataType::U32}) {
      CudaCall call = callOf(Collective::AllGather, send, receive);
      call.arguments.type = type;
      Status status = member.run(call);
      ASSERT_TRUE(status.isOk()) << status.message();
      EXPECT_EQ(receive.read(), gathered);
    }
  });
}

TEST(TrustedCubinsTest, ServeBroadcasts) {
  runCudaThreads(withoutNvrtc(broadcast(2), DataType::F32), [](CudaMember &member) {
    ASSERT_TRUE(member.status.isOk()) << member.status.message();
    DeviceArray send(member, count * 4), receive(member, count * 4);
    send.write(valuesOf(member.rank, count));
    Status status = member.run(callOf(Collective::Broadcast, send, receive));
    ASSERT_TRUE(status.isOk()) << status.message();
    EXPECT_EQ(receive.read(), valuesOf(0, count));
  });
}

// Where a kernel is missing, the error says which, and why it was not compiled.
TEST(TrustedCubinsTest, OthersNeedNvrtc) {
  const char *noNvrtc = "/nowhere/libnvrtc.so";
  CudaSetting setting = withoutNvrtc(directAllReduce(2), DataType::F32);
  const nvrtc::CubinBundle right = *setting.trusted;
  auto expectError = [&](const char *missing, DataType type = DataType::F32) {
    runCudaThreads(setting, [&](CudaMember &member) {
      ASSERT_TRUE(member.status.isOk()) << member.status.message();
      DeviceArray send(member, count * 8), receive(member, count * 8);
      CudaCall call = allReduce(send, receive, count);
      call.arguments.type = type;
      Status status = member.gpu->prepare(*member.plan, call);
      EXPECT_EQ(status.code(), StatusCode::Unsupported);
      EXPECT_THAT(status.message(), AllOf(HasSubstr(missing), HasSubstr(noNvrtc)));
    });
  };
  expectError("the plan's cubins have none of variant 0 for f64 (sum), protocol simple and "
              "compute capability 9.0: ",
              DataType::F64);

  nvrtc::CubinBundle other = right;
  other.cubins.front().arch = 80;
  setting.trusted = std::make_shared<const nvrtc::CubinBundle>(other);
  expectError("the plan's cubins have none of variant 0 for f32 (sum)");

  other = right;
  other.cubins.front().source += "x";
  setting.trusted = std::make_shared<const nvrtc::CubinBundle>(other);
  expectError("the plan's cubins are of kernels that another version of Coil generated: ");

  setting.trusted = nullptr;
  expectError("");
}

TEST(TrustedCubinsTest, GiveWayToNvrtcWhereTheyDoNotFit) {
  CudaSetting setting = withoutNvrtc(directAllReduce(2), DataType::F32);
  nvrtc::CubinBundle other = *setting.trusted;
  other.cubins.front().arch = 80;
  other.cubins.front().bytes.assign(100, 0);
  setting.trusted = std::make_shared<const nvrtc::CubinBundle>(other);
  setting.config.nvrtcLibrary = CudaSetting::usualConfig().nvrtcLibrary;
  runCudaThreads(setting, expectSums);
}

//===----------------------------------------------------------------------===//
// Through the C API
//===----------------------------------------------------------------------===//

/// A rank's buffers: `count` f32 of its own, and room for two ranks'.
struct RankBuffers {
  std::shared_ptr<DeviceContext> device;
  DevicePointer send = 0, receive = 0;

  RankBuffers(const std::shared_ptr<const Driver> &driver, int rank) {
    auto opened = DeviceContext::open(driver, rank);
    EXPECT_TRUE(opened.isOk()) << opened.status().message();
    device = *std::move(opened);
    ContextGuard guard(*device);
    std::vector<std::byte> values = valuesOf(rank, count);
    EXPECT_TRUE(COIL_CUDA(*driver, cuMemAlloc_v2, &send, values.size()).isOk());
    EXPECT_TRUE(COIL_CUDA(*driver, cuMemAlloc_v2, &receive, 2 * values.size()).isOk());
    EXPECT_TRUE(COIL_CUDA(*driver, cuMemcpyHtoD_v2, send, values.data(), values.size()).isOk());
  }
  ~RankBuffers() {
    ContextGuard guard(*device);
    EXPECT_TRUE(COIL_CUDA(device->driver(), cuMemFree_v2, send).isOk());
    EXPECT_TRUE(COIL_CUDA(device->driver(), cuMemFree_v2, receive).isOk());
  }
  RankBuffers(const RankBuffers &) = delete;
  RankBuffers &operator=(const RankBuffers &) = delete;

  /// What was received, once the default stream has got there.
  std::vector<std::byte> received() {
    ContextGuard guard(*device);
    std::vector<std::byte> values(2 * count * sizeof(float));
    EXPECT_TRUE(COIL_CUDA(device->driver(), cuStreamSynchronize, nullptr).isOk());
    EXPECT_TRUE(
        COIL_CUDA(device->driver(), cuMemcpyDtoH_v2, values.data(), receive, values.size()).isOk());
    return values;
  }
};

TEST(TrustedCubinsTest, AreLoadedOnTheUsersWord) {
  const CudaSetting setting = withoutNvrtc(allGather(2), DataType::F32);
  const std::vector<uint8_t> plan = planFile(*setting.plan),
                             cubins = nvrtc::writeCubinBundle(*setting.trusted);
  auto driver = Driver::load(setting.config.driverLibrary);
  ASSERT_TRUE(driver.isOk()) << driver.status().message();
  std::vector<std::byte> gathered = valuesOf(0, count), second = valuesOf(1, count);
  gathered.insert(gathered.end(), second.begin(), second.end());
  coilUniqueId id;
  ASSERT_EQ(coilGetUniqueId(&id), coilSuccess);
  auto runRank = [&](int rank) {
    coilConfig_t config = COIL_CONFIG_INITIALIZER;
    config.target = coilTargetCuda;
    config.device = rank;
    config.instances = setting.config.instances;
    config.threadsPerBlock = setting.config.threadsPerBlock;
    config.slotBytes = setting.config.tileBytes;
    config.protocol = coilProtocolSimple;
    config.cudaLibrary = setting.config.driverLibrary.c_str();
    config.nvrtcLibrary = setting.config.nvrtcLibrary.c_str();
    coilComm_t comm = nullptr;
    ASSERT_EQ(coilCommInitRankConfig(&comm, 2, id, rank, &config), coilSuccess)
        << coilGetLastError(nullptr);
    {
      RankBuffers buffers(*driver, rank);
      EXPECT_EQ(coilCommLoadPlanTrustingCubins(comm, plan.data(), plan.size(), cubins.data(),
                                               cubins.size()),
                coilSuccess)
          << coilGetLastError(comm);
      EXPECT_EQ(coilAllGather(reinterpret_cast<void *>(buffers.send),
                              reinterpret_cast<void *>(buffers.receive), count, coilFloat32, comm,
                              nullptr),
                coilSuccess)
          << coilGetLastError(comm);
      EXPECT_EQ(buffers.received(), gathered);
      // Nothing remembers them for a user who has not said so.
      EXPECT_EQ(coilCommLoadPlan(comm, plan.data(), plan.size()), coilSuccess)
          << coilGetLastError(comm);
      EXPECT_NE(coilAllGather(reinterpret_cast<void *>(buffers.send),
                              reinterpret_cast<void *>(buffers.receive), count, coilFloat32, comm,
                              nullptr),
                coilSuccess);
      EXPECT_THAT(coilGetLastError(comm), HasSubstr("/nowhere/libnvrtc.so"));
    }
    EXPECT_EQ(coilCommDestroy(comm), coilSuccess);
  };
  std::thread other(runRank, 1);
  runRank(0);
  other.join();
}

} // namespace
} // namespace coil::test
