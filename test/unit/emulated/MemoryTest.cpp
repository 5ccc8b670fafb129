//===- MemoryTest.cpp - Memory of devices and the host --------------------===//

#include "test/unit/emulated/Library.h"

#include <cstring>

namespace coil::emulated {
namespace {

using namespace cuda;

TEST(MemoryTest, CopiesGoThroughTheDevice) {
  CurrentContext context;
  DevicePointer a = 0, b = 0;
  std::vector<int> values(1000, 7), back(1000);
  std::size_t bytes = values.size() * sizeof(int);
  ASSERT_EQ(driver().cuMemAlloc_v2(&a, bytes), DriverResult::Success);
  ASSERT_EQ(driver().cuMemAlloc_v2(&b, bytes), DriverResult::Success);
  EXPECT_EQ(driver().cuMemcpyDtoH_v2(back.data(), a, bytes), DriverResult::Success);
  EXPECT_EQ(static_cast<unsigned>(back[5]), 0xa5a5a5a5u) << "no zeros to rely on";
  EXPECT_EQ(driver().cuMemcpyHtoD_v2(a, values.data(), bytes), DriverResult::Success);
  EXPECT_EQ(driver().cuMemsetD8_v2(b, 1, bytes), DriverResult::Success);
  EXPECT_EQ(driver().cuMemcpyAsync(b, a, bytes / 2, nullptr), DriverResult::Success);
  EXPECT_EQ(driver().cuMemcpyDtoH_v2(back.data(), b, bytes), DriverResult::Success);
  EXPECT_EQ(back[499], 7);
  EXPECT_EQ(back[500], 0x01010101);
  EXPECT_EQ(driver().cuMemFree_v2(a), DriverResult::Success);
  EXPECT_EQ(driver().cuMemFree_v2(b), DriverResult::Success);
  EXPECT_EQ(driver().cuMemFree_v2(0), DriverResult::Success);
}

TEST(MemoryTest, BadArgumentsAreErrors) {
  CurrentContext context;
  DevicePointer pointer = 0;
  char byte = 0;
  EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 0), DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemAlloc_v2(nullptr, 8), DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, ~std::size_t(0)), DriverResult::OutOfMemory);
  ASSERT_EQ(driver().cuMemAlloc_v2(&pointer, 64), DriverResult::Success);
  EXPECT_EQ(driver().cuMemFree_v2(pointer + 8), DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemcpyHtoD_v2(pointer, &byte, 65), DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemcpyHtoD_v2(16, &byte, 1), DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemcpyDtoH_v2(nullptr, pointer, 1), DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemsetD8_v2(pointer + 60, 0, 5), DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemFree_v2(pointer), DriverResult::Success);
  EXPECT_EQ(driver().cuMemFree_v2(pointer), DriverResult::InvalidValue);
}

TEST(MemoryTest, PointersAreKnown) {
  CurrentContext context(3);
  DevicePointer pointer = 0, base = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(driver().cuMemAlloc_v2(&pointer, 5000), DriverResult::Success);
  EXPECT_EQ(driver().cuMemGetAddressRange_v2(&base, &bytes, pointer + 4999), DriverResult::Success);
  EXPECT_EQ(base, pointer);
  EXPECT_EQ(bytes, 5000u);
  EXPECT_EQ(driver().cuMemGetAddressRange_v2(&base, &bytes, pointer + 5000),
            DriverResult::NotFound);
  int device = -1;
  unsigned type = 0;
  EXPECT_EQ(driver().cuPointerGetAttribute(&device, PointerAttribute::DeviceOrdinal, pointer + 1),
            DriverResult::Success);
  EXPECT_EQ(device, 3);
  EXPECT_EQ(driver().cuPointerGetAttribute(&type, PointerAttribute::MemoryType, pointer),
            DriverResult::Success);
  EXPECT_EQ(type, 2u);
  EXPECT_EQ(driver().cuPointerGetAttribute(&type, PointerAttribute::MemoryType,
                                           reinterpret_cast<DevicePointer>(&type)),
            DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemFree_v2(pointer), DriverResult::Success);
}

TEST(MemoryTest, HostMemoryIsMapped) {
  CurrentContext context;
  void *memory = nullptr;
  DevicePointer pointer = 0;
  ASSERT_EQ(driver().cuMemHostAlloc(&memory, 100, memHostAllocDeviceMap | memHostAllocPortable),
            DriverResult::Success);
  EXPECT_EQ(driver().cuMemHostGetDevicePointer_v2(&pointer, memory, 0), DriverResult::Success);
  EXPECT_EQ(reinterpret_cast<void *>(pointer), memory);
  unsigned type = 0;
  EXPECT_EQ(driver().cuPointerGetAttribute(&type, PointerAttribute::MemoryType, pointer),
            DriverResult::Success);
  EXPECT_EQ(type, 1u);
  EXPECT_EQ(driver().cuMemFreeHost(memory), DriverResult::Success);
  EXPECT_EQ(driver().cuMemFreeHost(memory), DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuMemHostGetDevicePointer_v2(&pointer, memory, 0), DriverResult::InvalidValue);
}

TEST(MemoryTest, HostMemoryIsRegisteredOnce) {
  CurrentContext context;
  alignas(4096) static char memory[8192];
  EXPECT_EQ(driver().cuMemHostUnregister(memory), DriverResult::HostMemoryNotRegistered);
  EXPECT_EQ(driver().cuMemHostRegister_v2(memory, 4096, memHostRegisterDeviceMap),
            DriverResult::Success);
  EXPECT_EQ(driver().cuMemHostRegister_v2(memory + 100, 100, 0),
            DriverResult::HostMemoryAlreadyRegistered);
  EXPECT_EQ(driver().cuMemHostRegister_v2(nullptr, 100, 0), DriverResult::InvalidValue);
  DevicePointer pointer = 0;
  EXPECT_EQ(driver().cuMemHostGetDevicePointer_v2(&pointer, memory + 5, 0), DriverResult::Success);
  EXPECT_EQ(driver().cuMemHostUnregister(memory), DriverResult::Success);
}

} // namespace
} // namespace coil::emulated
