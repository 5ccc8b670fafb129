//===- StreamTest.cpp - Streams and events --------------------------------===//

#include "test/unit/emulated/Kernels.h"
#include "test/unit/emulated/Library.h"

namespace coil::emulated {
namespace {

using namespace cuda;

TEST(StreamTest, EventsOrderStreams) {
  CurrentContext context;
  LoadedKernel wait(meetText, "waitFor");
  DriverStream *first = nullptr, *second = nullptr;
  DriverEvent *event = nullptr;
  ASSERT_EQ(driver().cuStreamCreate(&first, streamNonBlocking), DriverResult::Success);
  ASSERT_EQ(driver().cuStreamCreate(&second, streamNonBlocking), DriverResult::Success);
  ASSERT_EQ(driver().cuEventCreate(&event, eventDisableTiming), DriverResult::Success);
  EXPECT_EQ(driver().cuEventQuery(event), DriverResult::Success) << "never recorded";
  EXPECT_EQ(driver().cuStreamWaitEvent(second, event, 0), DriverResult::Success);

  unsigned long long flag = 0;
  char from[16] = "later", to[16] = {};
  unsigned long long *pointer = &flag;
  void *parameters[] = {&pointer};
  ASSERT_EQ(
      driver().cuLaunchKernel(wait.function, 1, 1, 1, 32, 1, 1, 0, first, parameters, nullptr),
      DriverResult::Success);
  EXPECT_EQ(driver().cuEventRecord(event, first), DriverResult::Success);
  EXPECT_EQ(driver().cuStreamWaitEvent(second, event, 0), DriverResult::Success);
  EXPECT_EQ(driver().cuMemcpyAsync(reinterpret_cast<DevicePointer>(to),
                                   reinterpret_cast<DevicePointer>(from), sizeof to, second),
            DriverResult::Success);
  EXPECT_EQ(driver().cuStreamQuery(first), DriverResult::NotReady);
  EXPECT_EQ(driver().cuStreamQuery(second), DriverResult::NotReady);
  EXPECT_EQ(driver().cuEventQuery(event), DriverResult::NotReady);
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(driver().cuStreamSynchronize(second), DriverResult::Success);
  EXPECT_STREQ(to, "later");
  EXPECT_EQ(driver().cuEventQuery(event), DriverResult::Success);
  EXPECT_EQ(driver().cuEventSynchronize(event), DriverResult::Success);
  EXPECT_EQ(driver().cuEventDestroy_v2(event), DriverResult::Success);
  EXPECT_EQ(driver().cuStreamDestroy_v2(first), DriverResult::Success);
  EXPECT_EQ(driver().cuStreamDestroy_v2(second), DriverResult::Success);
}

TEST(StreamTest, BadHandlesAreErrors) {
  CurrentContext context;
  int nothing = 0;
  auto *stream = reinterpret_cast<DriverStream *>(&nothing);
  auto *event = reinterpret_cast<DriverEvent *>(&nothing);
  EXPECT_EQ(driver().cuStreamSynchronize(stream), DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuStreamDestroy_v2(stream), DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuMemsetD8Async(1, 0, 1, stream), DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuEventRecord(event, nullptr), DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuEventQuery(event), DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuGraphLaunch(reinterpret_cast<DriverGraphExec *>(&nothing), nullptr),
            DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuModuleUnload(reinterpret_cast<DriverModule *>(&nothing)),
            DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuLaunchKernel(reinterpret_cast<DriverFunction *>(&nothing), 1, 1, 1, 32, 1, 1,
                                    0, nullptr, nullptr, nullptr),
            DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuStreamCreate(nullptr, 0), DriverResult::InvalidValue);
}

TEST(StreamTest, WorkOfADestroyedStreamIsDone) {
  CurrentContext context;
  DriverStream *stream = nullptr;
  DriverEvent *event = nullptr;
  ASSERT_EQ(driver().cuStreamCreate(&stream, streamNonBlocking), DriverResult::Success);
  ASSERT_EQ(driver().cuEventCreate(&event, 0), DriverResult::Success);
  std::vector<char> memory(1 << 20);
  EXPECT_EQ(driver().cuMemsetD8Async(reinterpret_cast<DevicePointer>(memory.data()), 9,
                                     memory.size(), stream),
            DriverResult::Success);
  EXPECT_EQ(driver().cuEventRecord(event, stream), DriverResult::Success);
  EXPECT_EQ(driver().cuStreamDestroy_v2(stream), DriverResult::Success);
  EXPECT_EQ(driver().cuEventSynchronize(event), DriverResult::Success);
  EXPECT_EQ(memory.back(), 9);
  EXPECT_EQ(driver().cuEventDestroy_v2(event), DriverResult::Success);
}

} // namespace
} // namespace coil::emulated
