//===- TrustedCubinsTest.cpp - Kernels that were compiled ahead of time ---===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/cuda/CudaRanks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coil::test {
namespace {

using namespace cuda;

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

TEST(TrustedCubinsTest, ServeAllReduces) {
  runCudaThreads(withoutNvrtc(directAllReduce(2), DataType::F32), [](CudaMember &member) {
    ASSERT_TRUE(member.status.isOk()) << member.status.message();
    DeviceArray send(member, count * 4), receive(member, count * 4);
    send.write(valuesOf(member.rank, count));
    Status status = member.run(allReduce(send, receive, count));
    ASSERT_TRUE(status.isOk()) << status.message();
    EXPECT_EQ(receive.read(), sumsOf(2, count));
  });
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

} // namespace
} // namespace coil::test
