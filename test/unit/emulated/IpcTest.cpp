//===- IpcTest.cpp - Memory of other processes ----------------------------===//

#include "test/unit/emulated/Library.h"

#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace coil::emulated {
namespace {

using namespace cuda;

TEST(IpcTest, ProcessesShareMemory) {
  int handles[2], replies[2];
  ASSERT_EQ(pipe(handles), 0);
  ASSERT_EQ(pipe(replies), 0);
  pid_t child = fork(); // before this process has loaded the library
  if (child == 0) {
    CurrentContext context(1);
    DevicePointer pointer = 0;
    IpcMemHandle handle{};
    bool isRight = driver().cuMemAlloc_v2(&pointer, 5000) == DriverResult::Success;
    int value = 41;
    isRight &= driver().cuMemcpyHtoD_v2(pointer, &value, sizeof value) == DriverResult::Success;
    isRight &= driver().cuIpcGetMemHandle(&handle, pointer) == DriverResult::Success;
    DevicePointer own = 0;
    isRight &= driver().cuIpcOpenMemHandle_v2(&own, handle, ipcMemLazyEnablePeerAccess) ==
               DriverResult::InvalidContext;
    isRight &= write(handles[1], &handle, sizeof handle) == ssize_t(sizeof handle);
    char done = 0;
    isRight &= read(replies[0], &done, 1) == 1;
    isRight &= driver().cuMemcpyDtoH_v2(&value, pointer, sizeof value) == DriverResult::Success;
    _exit(isRight && value == 42 ? 0 : 1);
  }
  IpcMemHandle handle{};
  ASSERT_EQ(read(handles[0], &handle, sizeof handle), ssize_t(sizeof handle));
  inProcess({}, [&] {
    CurrentContext context(0);
    DevicePointer mapped = 0, again = 0;
    ASSERT_EQ(driver().cuIpcOpenMemHandle_v2(&mapped, handle, ipcMemLazyEnablePeerAccess),
              DriverResult::Success);
    EXPECT_EQ(driver().cuIpcOpenMemHandle_v2(&again, handle, ipcMemLazyEnablePeerAccess),
              DriverResult::Success);
    EXPECT_EQ(mapped, again);
    int value = 0;
    EXPECT_EQ(driver().cuMemcpyDtoH_v2(&value, mapped, sizeof value), DriverResult::Success);
    EXPECT_EQ(value, 41);
    ++value;
    EXPECT_EQ(driver().cuMemcpyHtoD_v2(mapped, &value, sizeof value), DriverResult::Success);
    DevicePointer base = 0;
    std::size_t bytes = 0;
    EXPECT_EQ(driver().cuMemGetAddressRange_v2(&base, &bytes, mapped + 7), DriverResult::Success);
    EXPECT_EQ(bytes, 5000u);
    EXPECT_EQ(driver().cuMemFree_v2(mapped), DriverResult::InvalidValue);
    EXPECT_EQ(driver().cuIpcCloseMemHandle(mapped), DriverResult::Success);
    EXPECT_EQ(driver().cuIpcCloseMemHandle(mapped), DriverResult::Success);
    EXPECT_EQ(driver().cuIpcCloseMemHandle(mapped), DriverResult::InvalidValue);
  });
  ASSERT_EQ(write(replies[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  inProcess({}, [&] { // the owner is gone
    CurrentContext context(0);
    DevicePointer mapped = 0;
    EXPECT_EQ(driver().cuIpcOpenMemHandle_v2(&mapped, handle, ipcMemLazyEnablePeerAccess),
              DriverResult::MapFailed);
    IpcMemHandle nonsense{};
    std::memset(&nonsense, 0x5a, sizeof nonsense);
    EXPECT_EQ(driver().cuIpcOpenMemHandle_v2(&mapped, nonsense, ipcMemLazyEnablePeerAccess),
              DriverResult::InvalidValue);
  });
  for (int end : {handles[0], handles[1], replies[0], replies[1]})
    close(end);
}

} // namespace
} // namespace coil::emulated
