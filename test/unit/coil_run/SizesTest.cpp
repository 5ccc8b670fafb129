//===- SizesTest.cpp - Tests of sizes and ranges of sizes -----------------===//

#include "tools/coil-run/Sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace coil;
using namespace coil::run;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

uint64_t sizeFrom(const char *text) {
  Result<uint64_t> size = parseSize(text);
  EXPECT_TRUE(size.isOk()) << text;
  return size.isOk() ? *size : ~uint64_t{0};
}

std::string errorOf(const char *text) {
  auto sizes = parseSizes(text);
  EXPECT_FALSE(sizes.isOk()) << text;
  return sizes.status().message();
}

TEST(Sizes, TakesNumbersAndSuffixes) {
  EXPECT_EQ(sizeFrom("0"), 0u);
  EXPECT_EQ(sizeFrom("17"), 17u);
  EXPECT_EQ(sizeFrom("17b"), 17u);
  for (const char *text : {"4K", "4k", "4KB", "4KiB", "4kb"})
    EXPECT_EQ(sizeFrom(text), 4096u) << text;
  EXPECT_EQ(sizeFrom("3M"), 3u << 20);
  EXPECT_EQ(sizeFrom("2G"), uint64_t{2} << 30);
  EXPECT_EQ(sizeFrom("1024T"), largestSize);
}

TEST(Sizes, RefusesWhatIsNoSize) {
  for (const char *text : {"", "K", "-1", "+1", " 1", "1 ", "1.5M", "0x10", "1KK", "1X", "4Bi"})
    EXPECT_THAT(errorOf(text), HasSubstr("expected a size such as 4096")) << text;
  for (const char *text : {"1025T", "99999999999999999999", "99999999999999999999K"})
    EXPECT_THAT(errorOf(text), HasSubstr("expected at most")) << text;
}

TEST(Sizes, MakesRanges) {
  EXPECT_THAT(*parseSizes("64"), ElementsAre(64));
  EXPECT_THAT(*parseSizes("64:64"), ElementsAre(64));
  EXPECT_THAT(*parseSizes("64:300"), ElementsAre(64, 128, 256));
  EXPECT_THAT(*parseSizes("1K:64K:x4"), ElementsAre(1024, 4096, 16384, 65536));
  EXPECT_THAT(*parseSizes("0:3:+1"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(*parseSizes("0:3:+2"), ElementsAre(0, 2));
  EXPECT_THAT(*parseSizes("0:0"), ElementsAre(0));
}

TEST(Sizes, MakesLists) {
  EXPECT_THAT(*parseSizes("0,17,4K:8K,3"), ElementsAre(0, 17, 4096, 8192, 3));
  EXPECT_THAT(errorOf("4,"), HasSubstr("found ''"));
  EXPECT_THAT(errorOf("1:90000:+1,1:90000:+1"), HasSubstr("found 180000"));
}

TEST(Sizes, SaysWhatIsWrongWithARange) {
  EXPECT_EQ(errorOf("1K:64"), "expected FROM <= TO, found 1024 > 64");
  EXPECT_EQ(errorOf("1:2:x1"), "expected a factor of at least 2, found 1");
  EXPECT_EQ(errorOf("1:2:+0"), "expected a step above 0, found 0");
  EXPECT_EQ(errorOf("1:2:3"), "expected xFACTOR or +STEP, found '3'");
  EXPECT_EQ(errorOf("1:2:"), "expected xFACTOR or +STEP, found ''");
  EXPECT_THAT(errorOf("1:2:x3:4"), HasSubstr("found 4 parts"));
  EXPECT_THAT(errorOf("0:8"), HasSubstr("cannot begin at 0"));
  EXPECT_THAT(errorOf("0:1G:+1"), HasSubstr("expected at most 100000 sizes"));
}

TEST(Sizes, EndsAtTheLargestSize) {
  auto sizes = parseSizes("1:1024T");
  ASSERT_TRUE(sizes.isOk());
  EXPECT_EQ((*sizes).size(), 51u);
  EXPECT_EQ((*sizes).back(), largestSize);
}

TEST(Sizes, DividesTheVectorAmongTheRanks) {
  EXPECT_EQ(countForBytes(segmentCounts(Collective::AllReduce, 4), DataType::F32, 103), 25u);
  EXPECT_EQ(countForBytes(segmentCounts(Collective::Broadcast, 4), DataType::F32, 103), 25u);
  EXPECT_EQ(countForBytes(segmentCounts(Collective::AllGather, 4), DataType::F32, 103), 6u);
  EXPECT_EQ(countForBytes(segmentCounts(Collective::ReduceScatter, 4), DataType::F32, 103), 6u);
  EXPECT_EQ(bytesForCount(segmentCounts(Collective::AllReduce, 4), DataType::F32, 25), 100u);
  EXPECT_EQ(bytesForCount(segmentCounts(Collective::ReduceScatter, 4), DataType::F64, 6), 192u);
  EXPECT_EQ(countForBytes({3, 2}, DataType::I8, 10), 3u);
}

} // namespace
