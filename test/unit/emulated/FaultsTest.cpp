//===- FaultsTest.cpp - Calls that are made to fail -----------------------===//

#include "test/unit/emulated/Kernels.h"
#include "test/unit/emulated/Library.h"

#include <sys/wait.h>
#include <unistd.h>

namespace coil::emulated {
namespace {

using namespace cuda;

TEST(FaultsTest, TheCallThatIsNamedFails) {
  inProcess({{"COIL_EMULATED_FAULTS", "cuMemAlloc_v2:2=out_of_memory,cuMemAlloc_v2:3=not_ready,"
                                      "nvrtcCreateProgram:1=internal_error"}},
            [] {
              CurrentContext context;
              DevicePointer pointer = 0;
              EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 8), DriverResult::Success);
              EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 8), DriverResult::OutOfMemory);
              EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 8), DriverResult::NotReady);
              EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 8), DriverResult::Success);
              EXPECT_EQ(compile("", {}).result, NvrtcResult::InternalError);
              EXPECT_EQ(compile("", {}).result, NvrtcResult::Success);
            });
}

TEST(FaultsTest, LaunchFailuresAreSticky) {
  inProcess({{"COIL_EMULATED_FAULTS", "cuStreamCreate:1=launch_failed"}}, [] {
    CurrentContext context;
    DriverStream *stream = nullptr;
    EXPECT_EQ(driver().cuStreamCreate(&stream, 0), DriverResult::LaunchFailed);
    EXPECT_EQ(driver().cuStreamCreate(&stream, 0), DriverResult::LaunchFailed);
  });
}

TEST(FaultsTest, ProcessesCanBeLost) {
  pid_t child = fork();
  if (child == 0) {
    setenv("COIL_EMULATED_FAULTS", "cuDeviceGetCount:2=exit", 1);
    int count = 0;
    if (driver().cuInit(0) == DriverResult::Success &&
        driver().cuDeviceGetCount(&count) == DriverResult::Success)
      (void)driver().cuDeviceGetCount(&count);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(FaultsTest, BadListsAreErrors) {
  const std::pair<const char *, const char *> lists[] = {
      {"cuMemAlloc_v2", "expected 'function:call=error', found 'cuMemAlloc_v2'"},
      {"cuMemAlloc:1=out_of_memory", "there is no function 'cuMemAlloc'"},
      {"cuMemAlloc_v2:0=out_of_memory", "expected the number of a call of cuMemAlloc_v2, from 1"},
      {"cuMemAlloc_v2:x=out_of_memory", "found 'x'"},
      {"cuMemAlloc_v2:1=bad_luck", "cuMemAlloc_v2 has no error 'bad_luck'"},
      {"cuInit:1=not_found,,", "found ''"},
  };
  for (auto [list, message] : lists)
    inProcess({{"COIL_EMULATED_FAULTS", list}}, [message = message] {
      testing::internal::CaptureStderr();
      EXPECT_EQ(driver().cuInit(0), DriverResult::InvalidValue);
      EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr(message));
    });
}

} // namespace
} // namespace coil::emulated
