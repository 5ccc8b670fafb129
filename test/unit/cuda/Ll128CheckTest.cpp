//===- Ll128CheckTest.cpp - Communicators that are asked for ll128 --------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/cuda/CudaRanks.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace coil::test {
namespace {

using namespace cuda;
using testing::HasSubstr;
namespace fs = std::filesystem;

CudaSetting settingForLl128(int ranks) {
  CudaSetting setting = settingFor(ranks, mixedAllReduce(ranks));
  setting.config.forceProtocol = Protocol::Ll128;
  return setting;
}

TEST(Ll128CheckTest, PassesOnDevicesThatStoreWholeLines) {
  for (int ranksPerDevice : {1, 2}) {
    CudaSetting setting = settingForLl128(4);
    setting.ranksPerDevice = ranksPerDevice;
    runCudaThreads(setting, [](CudaMember &member) { checkSums(member, Buffers::Plain); });
  }
}

TEST(Ll128CheckTest, RefusesDevicesThatDoNotReachEachOther) {
  CudaSetting setting = settingForLl128(2);
  setting.config.usePeerAccess = false;
  runCudaThreads(setting, [](CudaMember &member) {
    EXPECT_EQ(member.status.code(), StatusCode::Unsupported);
    EXPECT_THAT(member.status.message(), HasSubstr("ranks 0 and 1 do not"));
  });
}

/// Makes the self-test store a lane's words of the round before, as a torn line has
/// them: the stand-in takes this header instead of the library's.
class TearingLibrary {
public:
  TearingLibrary() {
    folder = fs::temp_directory_path() / ("coil-ll128-" + std::to_string(::getpid()));
    const fs::path header = "runtime/kernels/device/Ll128SelfTest.h";
    fs::create_directories((folder / header).parent_path());
    std::stringstream read;
    read << std::ifstream(fs::path(COIL_TEST_SOURCE) / header).rdbuf();
    std::string text = read.str(), right = "nullptr, selfTestPair(round, line)";
    size_t at = text.find(right);
    isPlanted = at != std::string::npos;
    if (isPlanted)
      text.replace(at, right.size(), "nullptr, selfTestPair(round - (laneIndex() == 3), line)");
    std::ofstream(folder / header) << text;
    ::setenv("COIL_EMULATED_HEADERS", folder.c_str(), 1);
  }
  ~TearingLibrary() {
    ::unsetenv("COIL_EMULATED_HEADERS");
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  fs::path folder;
  bool isPlanted = false;
};

TEST(Ll128CheckTest, RefusesDevicesThatTearLines) {
  TearingLibrary library;
  ASSERT_TRUE(library.isPlanted);
  CudaSetting setting = settingForLl128(2);
  setting.config.kernelCache = library.folder / "cache";
  runCudaThreads(setting, [](CudaMember &member) {
    EXPECT_EQ(member.status.code(), StatusCode::Unsupported);
    EXPECT_THAT(member.status.message(), HasSubstr("do not arrive whole"));
    EXPECT_THAT(member.status.message(), HasSubstr("from the device of rank 0"));
  });
}

} // namespace
} // namespace coil::test
