//===- LaunchingTest.cpp - Launches, windows and the driver's errors ------===//

#include "runtime/executor/cuda/Launching.h"
#include "runtime/executor/cuda/DeviceWindows.h"
#include "runtime/executor/cuda/Watchdog.h"
#include "test/unit/cuda/FakeDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace coil::test {
namespace {

using namespace cuda;
using testing::HasSubstr;

DriverStream *stream(uintptr_t number) { return reinterpret_cast<DriverStream *>(number); }

LaunchPart partOf(uint32_t rank, uint32_t workers, uint32_t instances) {
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->threads = 64;
  kernel->sharedBytes = 100;
  kernel->residentBlocks = 16;
  LaunchPart part;
  part.rank = rank;
  part.facts.arguments.count = 10;
  part.facts.tileElements = 4;
  part.tiles = 3;
  part.kernel = kernel;
  part.call.workerCount = workers;
  part.call.instances = instances;
  part.stream = stream(10 + rank);
  return part;
}

TEST(LaunchingTest, LaunchesOneBlockPlainlyAndMoreTogether) {
  std::shared_ptr<DeviceContext> device = openFakeDevice();
  LaunchPart one = partOf(0, 1, 1);
  ASSERT_TRUE(launch(*device, {&one, 1}, one.stream).isOk());
  LaunchPart more = partOf(0, 2, 3);
  ASSERT_TRUE(launch(*device, {&more, 1}, more.stream).isOk());
  const auto &launches = fakeState().launches;
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_FALSE(launches[0].isCooperative);
  EXPECT_EQ(launches[0].blocks, 1u);
  EXPECT_TRUE(launches[1].isCooperative);
  EXPECT_EQ(launches[1].blocks, 6u);
  EXPECT_EQ(launches[1].threads, 64u);
  EXPECT_EQ(launches[1].launch.count, 10u);
  EXPECT_EQ(launches[1].launch.tiles, 3u);
  EXPECT_EQ(launches[1].launch.rankCount, 1u);
  EXPECT_EQ(fakeState().contextDepth, 0);
}

TEST(LaunchingTest, RefusesMoreBlocksThanAreResident) {
  std::shared_ptr<DeviceContext> device = openFakeDevice();
  LaunchPart part = partOf(0, 17, 1);
  Status status = launch(*device, {&part, 1}, part.stream);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_THAT(status.message(), HasSubstr("holds 16 blocks"));
  EXPECT_THAT(status.message(), HasSubstr("17 must run together"));
  EXPECT_TRUE(fakeState().launches.empty());
}

TEST(LaunchingTest, TellsTheDriversErrors) {
  std::shared_ptr<DeviceContext> device = openFakeDevice();
  fakeState().launchResult = DriverResult::OutOfMemory;
  LaunchPart part = partOf(0, 1, 1);
  Status status = launch(*device, {&part, 1}, part.stream);
  EXPECT_EQ(status.code(), StatusCode::SystemError);
  EXPECT_EQ(status.message(), "cuLaunchKernel failed: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
}

/// Two ranks on one device, each in a thread.
std::pair<Status, Status> joinBoth(LaunchPart first, LaunchPart second, uint64_t timeoutMs = 0) {
  std::shared_ptr<DeviceContext> device = openFakeDevice();
  auto shared = SharedLaunch::find(1, device, {0, 1});
  EXPECT_TRUE(shared.isOk());
  std::pair<Status, Status> results;
  auto join = [&](LaunchPart part, Status &result) {
    Group group;
    group.rank = static_cast<int>(part.rank);
    group.ranks = 2;
    group.timeoutMs = timeoutMs;
    result = (*shared)->join(group, std::move(part), [] { return Status::ok(); });
  };
  std::thread other([&] { join(second, results.second); });
  join(first, results.first);
  other.join();
  return results;
}

TEST(SharedLaunchTest, LaunchesOnceForAllInTheOrderOfTheirStreams) {
  auto results = joinBoth(partOf(0, 1, 2), partOf(1, 3, 2));
  EXPECT_TRUE(results.first.isOk());
  EXPECT_TRUE(results.second.isOk());
  ASSERT_EQ(fakeState().launches.size(), 1u);
  const FakeLaunch &made = fakeState().launches[0];
  EXPECT_EQ(made.blocks, 8u);
  EXPECT_EQ(made.launch.rankCount, 2u);
  EXPECT_EQ(made.launch.ranks[0].firstBlock, 0u);
  EXPECT_EQ(made.launch.ranks[1].firstBlock, 2u);
  const auto &calls = fakeState().calls;
  ASSERT_EQ(calls.size(), 5u);
  EXPECT_THAT(calls[0], HasSubstr("in 11"));
  EXPECT_THAT(calls[1], HasSubstr("10 waits"));
  EXPECT_EQ(calls[2], "launch in 10");
  EXPECT_THAT(calls[3], HasSubstr("in 10"));
  EXPECT_THAT(calls[4], HasSubstr("11 waits"));
}

TEST(SharedLaunchTest, NeedsNoEventsInOneStream) {
  LaunchPart first = partOf(0, 1, 1), second = partOf(1, 1, 1);
  first.isCaptured = second.isCaptured = true;
  second.stream = first.stream;
  auto results = joinBoth(first, second);
  EXPECT_TRUE(results.first.isOk());
  EXPECT_EQ(fakeState().calls.size(), 1u);
}

TEST(SharedLaunchTest, RefusesToCaptureSeveralStreams) {
  LaunchPart first = partOf(0, 1, 1), second = partOf(1, 1, 1);
  first.isCaptured = true;
  auto results = joinBoth(first, second);
  EXPECT_EQ(results.first.code(), StatusCode::Unsupported);
  EXPECT_EQ(results.second.message(), results.first.message());
  EXPECT_TRUE(fakeState().launches.empty());
}

TEST(SharedLaunchTest, FindsDisagreements) {
  LaunchPart first = partOf(0, 1, 1), second = partOf(1, 1, 1);
  second.facts.arguments.count = 11;
  auto results = joinBoth(first, second);
  EXPECT_EQ(results.first.code(), StatusCode::InvalidUsage);
  EXPECT_THAT(results.first.message(), HasSubstr("rank 1 called allreduce of 11"));
  EXPECT_EQ(results.second.message(), results.first.message());
}

TEST(SharedLaunchTest, DoesNotWaitForEver) {
  std::shared_ptr<DeviceContext> device = openFakeDevice();
  auto shared = SharedLaunch::find(2, device, {0, 1});
  ASSERT_TRUE(shared.isOk());
  Group group;
  group.ranks = 2;
  group.timeoutMs = 100;
  Status late = (*shared)->join(group, partOf(0, 1, 1), [] { return Status::ok(); });
  EXPECT_EQ(late.code(), StatusCode::Timeout);
  EXPECT_THAT(late.message(), HasSubstr("those that did not: 1"));
  Status poisoned = (*shared)->join(group, partOf(0, 1, 1),
                                    [] { return Status(StatusCode::RemoteError, "poison"); });
  EXPECT_EQ(poisoned.message(), "poison");
}

TEST(DeviceWindowsTest, FindsMemoryAndGrows) {
  std::shared_ptr<DeviceContext> device = openFakeDevice();
  Result<Stream> stream = Stream::create(device);
  ASSERT_TRUE(stream.isOk());
  Result<DeviceWindows> windows = DeviceWindows::create(device, *stream, 2);
  ASSERT_TRUE(windows.isOk()) << windows.status().message();
  size_t hint = 0;
  EXPECT_EQ(windows->locate(nullptr, 0, hint)->window, 0u);
  EXPECT_FALSE(windows->locate(nullptr, 1, hint));
  std::vector<std::byte> memory(1000);
  uint32_t capacity = windows->capacity();
  for (uint32_t i = 0; i < capacity; ++i) {
    bool moved = false;
    std::vector<PeerMemory> parts(2);
    parts[1].data = reinterpret_cast<uint8_t *>(memory.data()) + i;
    parts[1].bytes = 10;
    Result<uint32_t> number = windows->add(*stream, memory.data() + i * 10, 10, parts, moved);
    ASSERT_TRUE(number.isOk());
    EXPECT_EQ(*number, i + 1);
    EXPECT_FALSE(moved);
  }
  bool moved = false;
  EXPECT_EQ(*windows->add(*stream, nullptr, 0, std::vector<PeerMemory>(2), moved), capacity + 1);
  EXPECT_TRUE(moved);
  EXPECT_EQ(windows->capacity(), capacity * 2);
  EXPECT_EQ(windows->table()[(7 - 1) * 2 + 1].base, reinterpret_cast<uint8_t *>(memory.data()) + 6);
  auto place = windows->locate(memory.data() + 63, 7, hint);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->window, 7u);
  EXPECT_EQ(place->offset, 3u);
  EXPECT_FALSE(windows->locate(memory.data() + 63, 8, hint));
  EXPECT_TRUE(windows->remove(*stream, 7).isOk());
  EXPECT_FALSE(windows->locate(memory.data() + 63, 7, hint));
  EXPECT_EQ(windows->table()[(7 - 1) * 2 + 1].base, nullptr);
  EXPECT_FALSE(windows->remove(*stream, 7).isOk());
  EXPECT_FALSE(windows->remove(*stream, 0).isOk());
}

TEST(DeviceTest, TellsWhatCannotBeHad) {
  std::shared_ptr<DeviceContext> device = openFakeDevice();
  Result<Stream> stream = Stream::create(device);
  fakeState().allocateResult = DriverResult::OutOfMemory;
  Result<DeviceBuffer> buffer = DeviceBuffer::create(device, 1 << 20, *stream);
  ASSERT_FALSE(buffer.isOk());
  EXPECT_EQ(buffer.status().message(),
            "cannot allocate 1048576 bytes on device 0 (Fake): cuMemAlloc_v2 failed: "
            "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  Result<std::shared_ptr<DeviceContext>> beyond = DeviceContext::open(device->driverPointer(), 2);
  ASSERT_FALSE(beyond.isOk());
  EXPECT_EQ(beyond.status().message(), "there is no CUDA device 2, this process sees 2");
}

TEST(DriverTest, SaysWhatWasTried) {
  Result<std::shared_ptr<const Driver>> none = Driver::load("/nowhere/libcuda.so");
  ASSERT_FALSE(none.isOk());
  EXPECT_EQ(none.status().code(), StatusCode::Unsupported);
  EXPECT_THAT(none.status().message(), HasSubstr("/nowhere/libcuda.so"));
  // A library, but not a driver.
  Result<std::shared_ptr<const Driver>> other = Driver::load("libm.so.6");
  ASSERT_FALSE(other.isOk());
  EXPECT_THAT(other.status().message(), HasSubstr("libm.so.6 has no function cu"));
}

TEST(WatchdogTest, LooksWhileThereIsSomethingToLookAt) {
  std::atomic<int> looks = 0, wanted = 0;
  Watchdog watchdog(std::chrono::milliseconds(1), [&] { return ++looks < wanted; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(looks, 0);
  wanted = 5;
  watchdog.wake();
  for (int waits = 0; looks < 5 && waits < 5000; ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(looks, 5);
}

} // namespace
} // namespace coil::test
