//===- EnvironmentTest.cpp - What the environment asks for ----------------===//

#include "test/unit/emulated/Kernels.h"
#include "test/unit/emulated/Library.h"

namespace coil::emulated {
namespace {

using namespace cuda;

DriverResult launch(DriverFunction *function, void **parameters) {
  return driver().cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr);
}

TEST(EnvironmentTest, NothingWorksBeforeInit) {
  inProcess({}, [] {
    int count = 0;
    EXPECT_EQ(driver().cuDeviceGetCount(&count), DriverResult::NotInitialized);
    EXPECT_EQ(driver().cuInit(1), DriverResult::InvalidValue);
    EXPECT_EQ(driver().cuInit(0), DriverResult::Success);
    DevicePointer pointer = 0;
    EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 4), DriverResult::InvalidContext);
  });
}

TEST(EnvironmentTest, EnvironmentChoosesTheMachine) {
  inProcess(
      {{"COIL_EMULATED_DEVICES", "3"},
       {"COIL_EMULATED_MULTIPROCESSORS", "5"},
       {"COIL_EMULATED_PEERS", "0"}},
      [] {
        CurrentContext context(2);
        int count = 0, value = 0;
        EXPECT_EQ(driver().cuDeviceGetCount(&count), DriverResult::Success);
        EXPECT_EQ(count, 3);
        EXPECT_EQ(driver().cuDeviceGetAttribute(&value, DeviceAttribute::MultiprocessorCount, 0),
                  DriverResult::Success);
        EXPECT_EQ(value, 5);
        EXPECT_EQ(driver().cuDeviceCanAccessPeer(&value, 0, 1), DriverResult::Success);
        EXPECT_EQ(value, 0);
        CurrentContext other(1);
        DriverContext *one = nullptr;
        EXPECT_EQ(driver().cuCtxGetCurrent(&one), DriverResult::Success);
        CurrentContext again(2);
        EXPECT_EQ(driver().cuCtxEnablePeerAccess(one, 0), DriverResult::PeerAccessUnsupported);
      });
  for (const char *bad : {"0", "65", "many", "3 "})
    inProcess({{"COIL_EMULATED_DEVICES", bad}},
              [] { EXPECT_EQ(driver().cuInit(0), DriverResult::InvalidValue); });
}

TEST(EnvironmentTest, DevicesAreSmall) {
  inProcess({{"COIL_EMULATED_MEMORY", "1"}}, [] {
    CurrentContext context;
    DevicePointer first = 0, second = 0;
    EXPECT_EQ(driver().cuMemAlloc_v2(&first, 1 << 19), DriverResult::Success);
    EXPECT_EQ(driver().cuMemAlloc_v2(&second, (1 << 19) + 1), DriverResult::OutOfMemory);
    EXPECT_EQ(driver().cuMemFree_v2(first), DriverResult::Success);
    EXPECT_EQ(driver().cuMemAlloc_v2(&second, (1 << 19) + 1), DriverResult::Success);
  });
}

TEST(EnvironmentTest, MissingCompilersAreErrors) {
  inProcess({{"COIL_EMULATION_CXX", "/no/such/compiler"}}, [] {
    Compiled compiled = compile(addText, {"test::add<int>"});
    EXPECT_EQ(compiled.result, NvrtcResult::Compilation);
    EXPECT_THAT(compiled.log, testing::HasSubstr("no compiler of the host can be run; tried "
                                                 "/no/such/compiler"));
  });
}

TEST(EnvironmentTest, MisuseFailsTheContext) {
  inProcess({}, [] {
    CurrentContext other(1);
    {
      CurrentContext context(0);
      LoadedKernel misuse(meetText, "misuse");
      EXPECT_EQ(launch(misuse.function, nullptr), DriverResult::Success);
      EXPECT_EQ(driver().cuStreamSynchronize(nullptr), DriverResult::LaunchFailed);
      DevicePointer pointer = 0;
      EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 8), DriverResult::LaunchFailed) << "sticky";
    }
    DevicePointer pointer = 0;
    EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 8), DriverResult::Success);
  });
}

TEST(EnvironmentTest, RacesFailTrackedLaunches) {
  auto race = [] {
    CurrentContext context;
    LoadedKernel kernel(meetText, "race");
    unsigned long long word = 0;
    unsigned long long *pointer = &word;
    void *parameters[] = {&pointer};
    EXPECT_EQ(launch(kernel.function, parameters), DriverResult::Success);
    return driver().cuStreamSynchronize(nullptr);
  };
  inProcess({{"COIL_EMULATED_TRACK", "0"}}, [&] { EXPECT_EQ(race(), DriverResult::Success); });
  inProcess({{"COIL_EMULATED_TRACK", "1"}}, [&] {
    testing::internal::CaptureStderr();
    EXPECT_EQ(race(), DriverResult::LaunchFailed);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::AllOf(testing::HasSubstr("emulated CUDA: kernel kernel0_race: race at"),
                               testing::HasSubstr("test.cu:13")));
  });
}

} // namespace
} // namespace coil::emulated
