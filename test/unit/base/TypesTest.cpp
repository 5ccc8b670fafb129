//===- TypesTest.cpp - Names, sizes and segments --------------------------===//

#include "runtime/base/Types.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace coil {
namespace {

template <typename Enum, typename Parse> void checkNames(int count, Parse parse) {
  std::set<std::string_view> names;
  for (int i = 0; i < count; ++i) {
    std::string_view name = nameOf(static_cast<Enum>(i));
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(names.insert(name).second) << name << " is used twice";
    EXPECT_EQ(parse(name), static_cast<Enum>(i)) << name;
    EXPECT_EQ(parse(std::string(name) + "x"), std::nullopt);
  }
  EXPECT_EQ(parse(""), std::nullopt);
}

TEST(TypesTest, NamesGoThereAndBack) {
  checkNames<DataType>(numDataTypes, parseDataType);
  checkNames<ReduceOp>(numReduceOps, parseReduceOp);
  checkNames<Collective>(numCollectives, parseCollective);
}

TEST(TypesTest, SizesMatchTheNames) {
  for (int i = 0; i < numDataTypes; ++i) {
    std::string name(nameOf(static_cast<DataType>(i)));
    std::string digits = name.substr(name.find_first_of("0123456789"));
    EXPECT_EQ(sizeOf(static_cast<DataType>(i)) * 8, std::stoul(digits)) << name;
  }
}

TEST(TypesTest, SegmentsOfInputAndOutput) {
  constexpr int64_t ranks = 8;
  for (int i = 0; i < numCollectives; ++i) {
    auto collective = static_cast<Collective>(i);
    SegmentCounts counts = segmentCounts(collective, ranks);
    bool inputIsWide = collective == Collective::ReduceScatter ||
                       collective == Collective::Scatter || collective == Collective::AllToAll;
    bool outputIsWide = collective == Collective::AllGather || collective == Collective::Gather ||
                        collective == Collective::AllToAll;
    EXPECT_EQ(counts.input, inputIsWide ? ranks : 1) << nameOf(collective);
    EXPECT_EQ(counts.output, outputIsWide ? ranks : 1) << nameOf(collective);
  }
}

TEST(TypesTest, OnlyTheRootHasSomeBuffers) {
  constexpr int64_t ranks = 8;
  for (int i = 0; i < numCollectives; ++i) {
    auto collective = static_cast<Collective>(i);
    SegmentCounts all = segmentCounts(collective, ranks);
    SegmentCounts root = segmentCounts(collective, ranks, true);
    SegmentCounts other = segmentCounts(collective, ranks, false);
    bool lacksInput = collective == Collective::Broadcast || collective == Collective::Scatter;
    bool lacksOutput = collective == Collective::Reduce || collective == Collective::Gather;
    EXPECT_TRUE(root.input == all.input && root.output == all.output) << nameOf(collective);
    EXPECT_EQ(other.input, lacksInput ? 0 : all.input) << nameOf(collective);
    EXPECT_EQ(other.output, lacksOutput ? 0 : all.output) << nameOf(collective);
  }
}

TEST(TypesTest, RootsAndOperators) {
  EXPECT_TRUE(hasRoot(Collective::Broadcast) && hasRoot(Collective::Reduce) &&
              hasRoot(Collective::Gather) && hasRoot(Collective::Scatter));
  EXPECT_FALSE(hasRoot(Collective::AllReduce) || hasRoot(Collective::Barrier));
  EXPECT_TRUE(combines(Collective::AllReduce) && combines(Collective::ReduceScatter) &&
              combines(Collective::Reduce) && combines(Collective::Barrier));
  EXPECT_FALSE(combines(Collective::AllGather) || combines(Collective::Broadcast));
}

} // namespace
} // namespace coil
