//===- CubinsTest.cpp - Plans with cubins where ranks run on CPUs ---------===//
//
// CPUs have no use for cubins, but hold them to the same form.
//
//===----------------------------------------------------------------------===//

#include "runtime/nvrtc/CubinBundle.h"
#include "runtime/plan/PlanFile.h"
#include "test/unit/api/HandPlans.h"
#include "test/unit/api/Ranks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace coil;
using namespace coil::test;
using ::testing::HasSubstr;

namespace {

struct Files {
  std::vector<uint8_t> plan, cubins;
  uint64_t digest = 0;
};

/// A plan and a bundle for it.
Files filesOf(const Plan &plan) {
  Files files;
  files.plan = planFile(plan);
  Result<Plan> read = readPlan(files.plan);
  EXPECT_TRUE(read.isOk()) << read.status().message();
  nvrtc::CubinBundle bundle;
  bundle.planDigest = files.digest = read->digest;
  bundle.cubins.push_back({0, DataType::F32, ReduceOp::Sum, device::Protocol::Simple, 90, "source",
                           "kernel", std::vector<uint8_t>(100)});
  files.cubins = nvrtc::writeCubinBundle(bundle);
  return files;
}

coilResult_t load(coilComm_t comm, const std::vector<uint8_t> &plan,
                  const std::vector<uint8_t> &cubins) {
  return coilCommLoadPlanTrustingCubins(comm, plan.data(), plan.size(), cubins.data(),
                                        cubins.size());
}

TEST(CubinsTest, OfThePlanAreAccepted) {
  Files files = filesOf(directAllReduce(2));
  runThreads(Setting(), [&](coilComm_t comm, int rank) {
    // Some ranks may have none.
    if (rank == 0)
      EXPECT_COIL(comm, load(comm, files.plan, files.cubins));
    else
      EXPECT_COIL(comm, coilCommLoadPlan(comm, files.plan.data(), files.plan.size()));
    float value = static_cast<float>(rank + 1), sum = 0;
    EXPECT_COIL(comm, coilAllReduce(&value, &sum, 1, coilFloat32, coilSum, comm, nullptr));
    EXPECT_EQ(sum, 3);
  });
}

TEST(CubinsTest, OthersAreErrorsOnAllRanks) {
  Files files = filesOf(directAllReduce(2)), others = filesOf(ringAllReduce(2));
  std::vector<uint8_t> damaged = files.cubins;
  damaged.back() ^= 1;
  struct {
    std::vector<uint8_t> cubins;
    std::string message;
  } const cases[] = {
      {others.cubins, fmt::format("the cubins are for the plan with checksum {:016x}, plan "
                                  "'direct' has {:016x}",
                                  others.digest, files.digest)},
      {damaged, "a bundle of cubins: "},
      {files.plan, "a bundle of cubins"},
  };
  for (const auto &[cubins, message] : cases)
    runThreads(Setting(), [&](coilComm_t comm, int rank) {
      EXPECT_EQ(load(comm, files.plan, rank == 1 ? cubins : files.cubins), coilInvalidPlan);
      EXPECT_THAT(coilGetLastError(comm), HasSubstr(message));
      // The communicator is as it was.
      EXPECT_COIL(comm, load(comm, files.plan, files.cubins));
    });
}

TEST(CubinsTest, MissingOnesAreErrors) {
  Files files = filesOf(directAllReduce(1));
  Setting setting;
  setting.ranks = 1;
  runThreads(setting, [&](coilComm_t comm, int) {
    auto expectError = [&](coilResult_t found, coilResult_t expected, const char *message) {
      EXPECT_EQ(found, expected);
      EXPECT_THAT(coilGetLastError(comm), HasSubstr(message));
    };
    expectError(
        coilCommLoadPlanTrustingCubins(comm, files.plan.data(), files.plan.size(), nullptr, 0),
        coilInvalidArgument, "the bundle of cubins is null");
    expectError(coilCommLoadPlanTrustingCubins(comm, nullptr, 0, files.cubins.data(), 1),
                coilInvalidArgument, "the plan is null");
    expectError(coilCommLoadPlanFileTrustingCubins(comm, nullptr, "ring.plan.cubins"),
                coilInvalidArgument, "the plan's path is null");
    expectError(coilCommLoadPlanFileTrustingCubins(comm, "/nowhere/ring.plan", nullptr),
                coilSystemError, "/nowhere/ring.plan");
  });
  EXPECT_EQ(load(nullptr, files.plan, files.cubins), coilInvalidArgument);
}

TEST(CubinsTest, AreReadFromFiles) {
  Files files = filesOf(directAllReduce(1));
  std::string path = testing::TempDir() + "coil-cubins-test.plan";
  std::string cubinsPath = nvrtc::cubinBundlePath(path);
  auto write = [](const std::string &to, const std::vector<uint8_t> &bytes) {
    std::FILE *file = std::fopen(to.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    EXPECT_EQ(std::fclose(file), 0);
  };
  write(path, files.plan);
  write(cubinsPath, files.cubins);
  Setting setting;
  setting.ranks = 1;
  runThreads(setting, [&](coilComm_t comm, int) {
    EXPECT_COIL(comm, coilCommLoadPlanFileTrustingCubins(comm, path.c_str(), cubinsPath.c_str()));
    EXPECT_EQ(coilCommLoadPlanFileTrustingCubins(comm, path.c_str(), path.c_str()),
              coilInvalidPlan);
    EXPECT_THAT(coilGetLastError(comm), HasSubstr(path));
    EXPECT_EQ(coilCommLoadPlanFileTrustingCubins(comm, path.c_str(), "/nowhere/cubins"),
              coilSystemError);
    EXPECT_EQ(coilCommLoadPlanFileTrustingCubins(comm, path.c_str(), nullptr), coilInvalidArgument);
  });
  EXPECT_EQ(std::remove(path.c_str()), 0);
  EXPECT_EQ(std::remove(cubinsPath.c_str()), 0);
}

} // namespace
