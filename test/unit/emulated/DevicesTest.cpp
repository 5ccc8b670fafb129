//===- DevicesTest.cpp - Devices, contexts and errors ---------------------===//

#include "test/unit/emulated/Library.h"

#include <cstring>
#include <set>

namespace coil::emulated {
namespace {

using namespace cuda;

TEST(DevicesTest, DevicesDiffer) {
  CurrentContext context;
  std::set<std::string> uuids;
  int count = 0;
  ASSERT_EQ(driver().cuDeviceGetCount(&count), DriverResult::Success);
  for (int i = 0; i < count; ++i) {
    DeviceUuid uuid{};
    ASSERT_EQ(driver().cuDeviceGetUuid_v2(&uuid, i), DriverResult::Success);
    uuids.emplace(uuid.bytes, sizeof uuid.bytes);
  }
  EXPECT_EQ(uuids.size(), static_cast<std::size_t>(count));
  Device device = 0;
  EXPECT_EQ(driver().cuDeviceGet(&device, count), DriverResult::InvalidDevice);
  EXPECT_EQ(driver().cuDeviceGet(&device, -1), DriverResult::InvalidDevice);
  char name[8] = {};
  EXPECT_EQ(driver().cuDeviceGetName(name, sizeof name, 0), DriverResult::Success);
  EXPECT_STREQ(name, "Coil em");
  int value = 0;
  EXPECT_EQ(driver().cuDeviceGetAttribute(&value, static_cast<DeviceAttribute>(9999), 0),
            DriverResult::InvalidValue);
}

TEST(DevicesTest, ContextsAreAStack) {
  CurrentContext zero(0);
  DriverContext *first = nullptr, *second = nullptr, *found = nullptr;
  ASSERT_EQ(driver().cuCtxGetCurrent(&first), DriverResult::Success);
  {
    CurrentContext one(1);
    ASSERT_EQ(driver().cuCtxGetCurrent(&second), DriverResult::Success);
    EXPECT_NE(first, second);
    EXPECT_EQ(driver().cuCtxEnablePeerAccess(first, 0), DriverResult::Success);
    EXPECT_EQ(driver().cuCtxEnablePeerAccess(first, 0), DriverResult::PeerAccessAlreadyEnabled);
    EXPECT_EQ(driver().cuCtxEnablePeerAccess(second, 0), DriverResult::InvalidDevice);
  }
  ASSERT_EQ(driver().cuCtxGetCurrent(&found), DriverResult::Success);
  EXPECT_EQ(found, first);
  int nothing = 0;
  EXPECT_EQ(driver().cuCtxPushCurrent_v2(reinterpret_cast<DriverContext *>(&nothing)),
            DriverResult::InvalidContext);
  EXPECT_EQ(driver().cuCtxSetCurrent(nullptr), DriverResult::Success);
  EXPECT_EQ(driver().cuCtxSetCurrent(first), DriverResult::Success);
}

TEST(DevicesTest, ErrorsHaveNames) {
  const char *text = nullptr;
  EXPECT_EQ(driver().cuGetErrorName(DriverResult::OutOfMemory, &text), DriverResult::Success);
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(driver().cuGetErrorString(DriverResult::LaunchFailed, &text), DriverResult::Success);
  EXPECT_STREQ(text, "unspecified launch failure");
  EXPECT_EQ(driver().cuGetErrorName(static_cast<DriverResult>(12345), &text),
            DriverResult::InvalidValue);
  EXPECT_EQ(text, nullptr);
}

} // namespace
} // namespace coil::emulated
