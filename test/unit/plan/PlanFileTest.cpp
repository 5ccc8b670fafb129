//===- PlanFileTest.cpp - Reading whole, damaged and foreign files --------===//

#include "runtime/plan/PlanFile.h"

#include "compiler/target/plan/PlanWriter.h"
#include "test/unit/plan/TestPlans.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <memory>

namespace coil {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using Bytes = std::vector<uint8_t>;

Bytes bytesOf(std::string_view text) { return Bytes(text.begin(), text.end()); }

/// The message of the InvalidPlan error that reading `bytes` gives.
std::string messageFor(std::span<const uint8_t> bytes) {
  Result<Plan> plan = readPlan(bytes);
  if (plan.isOk())
    return "no error";
  EXPECT_EQ(plan.status().code(), StatusCode::InvalidPlan);
  return plan.status().message();
}

class PlanFile : public testing::Test {
protected:
  /// A file for the test alone, removed after it.
  std::string writeFile(const Bytes &bytes) {
    path = testing::TempDir() + "coil-plan-file-test-" +
           testing::UnitTest::GetInstance()->current_test_info()->name() + ".plan";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return path;
  }
  ~PlanFile() override {
    std::error_code error;
    std::filesystem::remove(path, error);
  }

  Bytes whole = *writePlan(stagedAllReduce());
  std::string path;
};

TEST_F(PlanFile, SaysWhyAForeignFileIsNoPlan) {
  EXPECT_EQ(messageFor({}), "not a plan: the file is empty");
  EXPECT_EQ(messageFor(bytesOf("algorithm ring : allreduce {}\n")),
            "not a plan: expected the magic \"COILPLAN\", found \"algorith\"");
  EXPECT_EQ(messageFor(bytesOf("\x7f"
                               "ELF\n\"\\")),
            "not a plan: expected the magic \"COILPLAN\", found \"\\x7fELF\\x0a\\\"\\\\\"");
}

TEST_F(PlanFile, SaysWhatIsWrongWithTheHeader) {
  auto with = [&](size_t offset, uint8_t value) {
    Bytes bytes = whole;
    bytes[offset] = value;
    return messageFor(bytes);
  };
  EXPECT_EQ(with(8, 7), "a plan of format version 7: this build reads version 2");
  EXPECT_EQ(with(13, 1), "damaged plan: expected 0 in the header's reserved field, found 256");
  EXPECT_EQ(with(23, 1), "damaged plan: expected at most 2147483646 bytes after the header, found "
                         "a size of " +
                             std::to_string((uint64_t{1} << 56) + whole.size() - 32));
  EXPECT_THAT(with(24, whole[24] ^ 1), StartsWith("damaged plan: expected the checksum 0x"));
}

TEST_F(PlanFile, RefusesEveryTruncation) {
  for (size_t size = 1; size < whole.size(); ++size)
    ASSERT_THAT(messageFor(std::span(whole).first(size)),
                StartsWith(fmt::format(
                    "the file ends early: expected {}, found {}",
                    size < 32 ? "a header of 32 bytes"
                              : fmt::format("{} bytes after the header", whole.size() - 32),
                    size < 32 ? size : size - 32)));
}

TEST_F(PlanFile, RefusesTrailingBytes) {
  Bytes longer = whole;
  longer.push_back(0);
  EXPECT_EQ(messageFor(longer),
            fmt::format("the file goes on after the plan's {} bytes", whole.size()));
}

TEST_F(PlanFile, RefusesEveryFlippedBit) {
  for (const auto &[name, plan] : allTestPlans()) {
    Bytes bytes = *writePlan(plan);
    for (size_t i = 0; i < bytes.size(); ++i)
      for (int pattern : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x55, 0xff}) {
        bytes[i] ^= pattern;
        ASSERT_NE(messageFor(bytes), "no error") << name << " byte " << i << " ^ " << pattern;
        bytes[i] ^= pattern;
      }
  }
}

TEST_F(PlanFile, ReadsFromAnyAlignment) {
  Plan expected = *readPlan(whole);
  for (size_t shift = 0; shift < 16; ++shift) {
    Bytes shifted(shift);
    shifted.insert(shifted.end(), whole.begin(), whole.end());
    Result<Plan> plan = readPlan(std::span(shifted).subspan(shift));
    ASSERT_TRUE(plan.isOk()) << plan.status().message();
    EXPECT_EQ(*plan, expected);
  }
}

TEST_F(PlanFile, ReadsFiles) {
  Result<Plan> plan = readPlanFile(writeFile(whole));
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(*plan, *readPlan(whole));
}

TEST_F(PlanFile, ReadsLargeFiles) {
  Plan large = stagedAllReduce();
  large.locations[0].file.assign(5 << 20, 'x');
  Result<Plan> plan = readPlanFile(writeFile(*writePlan(large)));
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(plan->locations, large.locations);
}

TEST_F(PlanFile, NamesTheFileInErrors) {
  Result<Plan> missing = readPlanFile("/nowhere/ring.plan");
  ASSERT_FALSE(missing.isOk());
  EXPECT_EQ(missing.status().code(), StatusCode::SystemError);
  EXPECT_EQ(missing.status().message(),
            "/nowhere/ring.plan: cannot open: No such file or directory");

  Result<Plan> directory = readPlanFile("/");
  ASSERT_FALSE(directory.isOk());
  EXPECT_EQ(directory.status().message(), "/: cannot read: Is a directory");

  Result<Plan> empty = readPlanFile(writeFile({}));
  ASSERT_FALSE(empty.isOk());
  EXPECT_EQ(empty.status().message(), path + ": not a plan: the file is empty");
}

TEST_F(PlanFile, StopsReadingWhereItCan) {
  // Endless input that is no plan, or that goes on after one.
  Result<Plan> zeros = readPlanFile("/dev/zero");
  ASSERT_FALSE(zeros.isOk());
  EXPECT_THAT(zeros.status().message(), HasSubstr("/dev/zero: not a plan: expected the magic"));

  Bytes longer = whole;
  longer.resize(whole.size() + (1 << 20));
  Result<Plan> trailing = readPlanFile(writeFile(longer));
  ASSERT_FALSE(trailing.isOk());
  EXPECT_THAT(trailing.status().message(), HasSubstr("the file goes on after the plan's"));

  // A header that promises 2 GiB.
  Bytes promising = whole;
  promising[19] = 0x7f;
  Result<Plan> truncated = readPlanFile(writeFile(promising));
  ASSERT_FALSE(truncated.isOk());
  EXPECT_THAT(truncated.status().message(), HasSubstr("the file ends early"));
}

TEST_F(PlanFile, WrapsAnyPayload) {
  Bytes bytes = wrapPlan(bytesOf("hello"));
  EXPECT_EQ(bytes.size(), sizeof(PlanFileHeader) + 5);
  EXPECT_EQ(std::memcmp(bytes.data(), "COILPLAN\2\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 24), 0);
  EXPECT_EQ(messageFor(bytes),
            "damaged plan: its payload is not a well-formed FlatBuffer of a plan");
  EXPECT_EQ(messageFor(wrapPlan({})),
            "damaged plan: its payload is not a well-formed FlatBuffer of a plan");
}

TEST(PlanChecksum, IsTheSameOnEveryMachine) {
  EXPECT_EQ(planChecksum({}), 0x1eebe1f5f13b05fb);
  EXPECT_EQ(planChecksum(bytesOf("collective intermediate language")), 0x72301bcc278f3af3);
}

TEST(PlanChecksum, DependsOnEveryBitAndOnTheSize) {
  for (size_t size = 0; size < 40; ++size) {
    Bytes bytes(size, 0xa5);
    uint64_t checksum = planChecksum(bytes);
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= 1 << bit % 8;
      ASSERT_NE(planChecksum(bytes), checksum) << "size " << size << " bit " << bit;
      bytes[bit / 8] ^= 1 << bit % 8;
    }
    bytes.push_back(0);
    ASSERT_NE(planChecksum(bytes), checksum) << size;
  }
}

TEST(PlanChecksum, SeesPairsOfFlippedHighBits) {
  // Plain FNV-1a over words loses these: both only touch the highest bit.
  Bytes bytes(16);
  uint64_t checksum = planChecksum(bytes);
  bytes[7] ^= 0x80;
  bytes[15] ^= 0x80;
  EXPECT_NE(planChecksum(bytes), checksum);
}

} // namespace
} // namespace coil
