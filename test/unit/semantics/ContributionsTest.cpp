//===- ContributionsTest.cpp - Multisets of inputs ------------------------===//

#include "compiler/semantics/Contributions.h"

#include <gtest/gtest.h>

using namespace coil;

namespace {

/// Of (rank, chunk) pairs, added one after another.
Contributions make(std::initializer_list<std::pair<int32_t, int64_t>> pairs) {
  Contributions result;
  for (auto [rank, chunk] : pairs)
    result.add(Contributions::of(rank, chunk));
  return result;
}

TEST(ContributionsTest, BeginsEmpty) {
  EXPECT_TRUE(Contributions().empty());
  EXPECT_EQ(Contributions().describe(), "nothing");
}

TEST(ContributionsTest, KeepsOrderOfChunkThenRank) {
  Contributions value = make({{2, 1}, {0, 1}, {5, 0}});
  std::vector<Contribution> expected = {{5, 1, 0}, {0, 1, 1}, {2, 1, 1}};
  EXPECT_EQ(value.list(), expected);
  EXPECT_EQ(value, make({{0, 1}, {5, 0}, {2, 1}}));
}

TEST(ContributionsTest, CountsWhatIsAddedTwice) {
  Contributions value = make({{1, 3}, {1, 3}, {0, 3}});
  std::vector<Contribution> expected = {{0, 1, 3}, {1, 2, 3}};
  EXPECT_EQ(value.list(), expected);
  EXPECT_NE(value, make({{1, 3}, {0, 3}}));
}

TEST(ContributionsTest, CommonTakesTheSmallerCount) {
  Contributions twice = make({{1, 3}, {1, 3}, {0, 0}}), once = make({{1, 3}, {2, 3}});
  EXPECT_EQ(twice.common(once), make({{1, 3}}));
  EXPECT_EQ(once.common(twice), make({{1, 3}}));
  EXPECT_TRUE(make({{0, 0}}).common(make({{0, 1}, {1, 0}})).empty());
}

TEST(ContributionsTest, WithoutTakesCountsAway) {
  Contributions value = make({{1, 3}, {1, 3}, {0, 0}, {4, 7}});
  EXPECT_EQ(value.without(make({{1, 3}, {0, 0}})), make({{1, 3}, {4, 7}}));
  EXPECT_EQ(value.without(Contributions()), value);
  EXPECT_TRUE(value.without(value).empty());
  EXPECT_TRUE(make({{0, 0}}).without(make({{0, 0}, {0, 0}})).empty());
}

TEST(ContributionsTest, DescribesRanksAsRanges) {
  EXPECT_EQ(make({{3, 2}}).describe(), "input[2] of rank 3");
  EXPECT_EQ(make({{0, 3}, {1, 3}, {2, 3}, {5, 3}}).describe(), "input[3] of ranks 0-2 and 5");
  EXPECT_EQ(make({{1, 3}, {1, 3}}).describe(), "input[3] of rank 1 (2 times)");
  EXPECT_EQ(make({{0, 0}, {1, 1}}).describe(), "input[0] of rank 0, input[1] of rank 1");
}

TEST(ContributionsTest, DescribesRanks) {
  EXPECT_EQ(describeRanks({7}), "rank 7");
  EXPECT_EQ(describeRanks({0, 1}), "ranks 0-1");
  EXPECT_EQ(describeRanks({0, 2}), "ranks 0 and 2");
  EXPECT_EQ(describeRanks({0, 2, 4, 5, 6}), "ranks 0, 2 and 4-6");
}

} // namespace
