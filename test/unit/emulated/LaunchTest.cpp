//===- LaunchTest.cpp - Kernels loaded and launched -----------------------===//

#include "test/unit/emulated/Kernels.h"
#include "test/unit/emulated/Library.h"

#include <numeric>

namespace coil::emulated {
namespace {

using namespace cuda;

DriverResult launch(DriverFunction *function, unsigned blocks, unsigned threads, void **parameters,
                    unsigned sharedBytes = 0) {
  return driver().cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, sharedBytes, nullptr,
                                 parameters, nullptr);
}

TEST(LaunchTest, KernelsRun) {
  CurrentContext context;
  LoadedKernel add(addText, "test::add<short>");
  std::vector<short> values(256);
  std::iota(values.begin(), values.end(), short(0));
  DevicePointer memory = 0;
  std::size_t bytes = values.size() * sizeof(short);
  ASSERT_EQ(driver().cuMemAlloc_v2(&memory, bytes), DriverResult::Success);
  ASSERT_EQ(driver().cuMemcpyHtoD_v2(memory, values.data(), bytes), DriverResult::Success);
  short addend = 1000;
  void *parameters[] = {&memory, &addend};
  EXPECT_EQ(launch(add.function, 4, 64, parameters), DriverResult::Success);
  ASSERT_EQ(driver().cuMemcpyDtoH_v2(values.data(), memory, bytes), DriverResult::Success);
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(values[static_cast<std::size_t>(i)], i + 1000);
  EXPECT_EQ(driver().cuMemFree_v2(memory), DriverResult::Success);
}

TEST(LaunchTest, CooperativeLaunchesMustBeResident) {
  CurrentContext context;
  LoadedKernel meet(meetText, "meet");
  int perMultiprocessor = 0, multiprocessors = 0;
  ASSERT_EQ(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, meet.function,
                                                                 1024, 0),
            DriverResult::Success);
  EXPECT_EQ(perMultiprocessor, 2);
  // Few threads, and much shared memory: what a thread of a block costs the host is
  // more than a thread costs a device.
  constexpr unsigned threads = 64, sharedBytes = 100 << 10;
  ASSERT_EQ(driver().cuFuncSetAttribute(meet.function, FunctionAttribute::MaxDynamicSharedSizeBytes,
                                        sharedBytes),
            DriverResult::Success);
  ASSERT_EQ(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, meet.function,
                                                                 threads, sharedBytes),
            DriverResult::Success);
  EXPECT_EQ(perMultiprocessor, 2);
  ASSERT_EQ(
      driver().cuDeviceGetAttribute(&multiprocessors, DeviceAttribute::MultiprocessorCount, 0),
      DriverResult::Success);
  auto cooperative = [&](unsigned blocks) {
    unsigned long long counter = 0, goal = blocks;
    unsigned long long *pointer = &counter;
    void *parameters[] = {&pointer, &goal};
    DriverResult result = driver().cuLaunchCooperativeKernel(
        meet.function, blocks, 1, 1, threads, 1, 1, sharedBytes, nullptr, parameters);
    EXPECT_EQ(driver().cuStreamSynchronize(nullptr), DriverResult::Success);
    return result;
  };
  auto most = static_cast<unsigned>(perMultiprocessor * multiprocessors);
  EXPECT_EQ(cooperative(most), DriverResult::Success);
  EXPECT_EQ(cooperative(most + 1), DriverResult::CooperativeLaunchTooLarge);
}

TEST(LaunchTest, ShapesAreChecked) {
  CurrentContext context;
  LoadedKernel add(addText, "test::add<int>");
  DevicePointer memory = 0;
  int addend = 0;
  void *parameters[] = {&memory, &addend};
  EXPECT_EQ(launch(add.function, 0, 32, parameters), DriverResult::InvalidValue);
  EXPECT_EQ(launch(add.function, 1, 0, parameters), DriverResult::InvalidValue);
  EXPECT_EQ(launch(add.function, 1, 1056, parameters), DriverResult::InvalidValue);
  EXPECT_EQ(launch(add.function, 1, 33, parameters), DriverResult::NotSupported);
  EXPECT_EQ(launch(add.function, 1, 32, nullptr), DriverResult::InvalidValue);
  EXPECT_EQ(launch(add.function, 1, 32, parameters, 50 << 10), DriverResult::InvalidValue);
  int value = 0;
  EXPECT_EQ(driver().cuFuncSetAttribute(add.function, FunctionAttribute::MaxDynamicSharedSizeBytes,
                                        300 << 10),
            DriverResult::InvalidValue);
  EXPECT_EQ(driver().cuFuncSetAttribute(add.function, FunctionAttribute::MaxDynamicSharedSizeBytes,
                                        100 << 10),
            DriverResult::Success);
  EXPECT_EQ(driver().cuFuncGetAttribute(&value, FunctionAttribute::MaxDynamicSharedSizeBytes,
                                        add.function),
            DriverResult::Success);
  EXPECT_EQ(value, 100 << 10);
}

TEST(LaunchTest, ModulesAreApart) {
  CurrentContext context;
  Compiled compiled = compile(addText, {"test::add<int>", "test::add<float>"});
  ASSERT_EQ(compiled.result, NvrtcResult::Success) << compiled.log;
  EXPECT_NE(compiled.names[0], compiled.names[1]);
  DriverModule *first = nullptr, *second = nullptr;
  ASSERT_EQ(driver().cuModuleLoadData(&first, compiled.cubin.data()), DriverResult::Success);
  ASSERT_EQ(driver().cuModuleLoadData(&second, compiled.cubin.data()), DriverResult::Success);
  DriverFunction *a = nullptr, *b = nullptr, *again = nullptr;
  const char *name = compiled.names[0].c_str();
  EXPECT_EQ(driver().cuModuleGetFunction(&a, first, name), DriverResult::Success);
  EXPECT_EQ(driver().cuModuleGetFunction(&again, first, name), DriverResult::Success);
  EXPECT_EQ(driver().cuModuleGetFunction(&b, second, name), DriverResult::Success);
  EXPECT_EQ(a, again);
  EXPECT_NE(a, b);
  EXPECT_EQ(driver().cuModuleGetFunction(&b, second, "none"), DriverResult::NotFound);
  EXPECT_EQ(driver().cuModuleUnload(first), DriverResult::Success);
  EXPECT_EQ(launch(a, 1, 32, nullptr), DriverResult::InvalidHandle);
  EXPECT_EQ(driver().cuModuleUnload(second), DriverResult::Success);
}

TEST(LaunchTest, BadImagesAreErrors) {
  CurrentContext context;
  DriverModule *module = nullptr;
  std::string cubin(64, '\0');
  EXPECT_EQ(driver().cuModuleLoadData(&module, cubin.data()), DriverResult::InvalidImage);
  EXPECT_EQ(driver().cuModuleLoadData(&module, nullptr), DriverResult::InvalidValue);
  cubin = compile(addText, {"test::add<int>"}).cubin;
  ASSERT_GT(cubin.size(), 64u);
  cubin[18] = char(190); // NVIDIA's machine
  cubin[19] = 0;
  EXPECT_EQ(driver().cuModuleLoadData(&module, cubin.data()), DriverResult::InvalidImage);
}

} // namespace
} // namespace coil::emulated
