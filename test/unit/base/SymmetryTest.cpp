//===- SymmetryTest.cpp - Shifts of ranks and chunks -----------------------===//

#include "runtime/base/Symmetry.h"

#include <gtest/gtest.h>

namespace coil {
namespace {

const std::vector<std::vector<SymmetryDigit>> groupsOf12 = {
    {},
    {{1, 12, 1}},
    {{1, 12, 0}},
    {{1, 3, 1}, {3, 4, 3}},
    {{1, 3, 8}, {3, 2, 1}, {6, 2, 4}},
    {{2, 6, 4}},
    {{4, 3, 0}},
};

struct SymmetryTest : testing::TestWithParam<std::vector<SymmetryDigit>> {};

TEST_P(SymmetryTest, ShiftsAreAGroupThatActs) {
  constexpr int64_t ranks = 12, chunks = 24;
  ASSERT_EQ(findFault(GetParam(), ranks, chunks), "");
  Symmetry symmetry(ranks, GetParam());
  for (int64_t a = 0; a < symmetry.shifts(); ++a) {
    EXPECT_EQ(symmetry.sum(a, symmetry.inverse(a)), 0);
    EXPECT_EQ(symmetry.sum(0, a), a);
    for (int64_t b = 0; b < symmetry.shifts(); ++b) {
      int64_t both = symmetry.sum(a, b);
      EXPECT_EQ(both, symmetry.sum(b, a));
      for (int64_t rank = 0; rank < ranks; ++rank)
        EXPECT_EQ(symmetry.shiftRank(symmetry.shiftRank(rank, a), b),
                  symmetry.shiftRank(rank, both));
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        EXPECT_EQ(symmetry.shiftChunk(symmetry.shiftChunk(chunk, a), b),
                  symmetry.shiftChunk(chunk, both));
      for (int64_t index = 0; index < ranks * chunks; ++index)
        EXPECT_EQ(symmetry.shiftSegmented(symmetry.shiftSegmented(index, chunks, a), chunks, b),
                  symmetry.shiftSegmented(index, chunks, both));
    }
  }
}

TEST_P(SymmetryTest, RepresentativesAndShiftsNameEveryRank) {
  constexpr int64_t ranks = 12;
  Symmetry symmetry(ranks, GetParam());
  EXPECT_EQ(symmetry.kinds(ranks) * symmetry.shifts(), ranks);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t representative = symmetry.representative(symmetry.kindOf(rank));
    EXPECT_LE(representative, rank);
    EXPECT_EQ(symmetry.shiftOf(representative), 0);
    EXPECT_EQ(symmetry.shiftRank(representative, symmetry.shiftOf(rank)), rank);
  }
  for (int64_t kind = 1; kind < symmetry.kinds(ranks); ++kind)
    EXPECT_LT(symmetry.representative(kind - 1), symmetry.representative(kind));
}

INSTANTIATE_TEST_SUITE_P(Groups, SymmetryTest, testing::ValuesIn(groupsOf12));

TEST(Symmetry, RingAndExclusiveOr) {
  Symmetry ring(8, {{1, 8, 1}});
  EXPECT_EQ(ring.shiftRank(6, 3), 1);
  EXPECT_EQ(ring.shiftSegmented(7 * 8 + 7, 8, 2), 1 * 8 + 1);
  Symmetry exclusiveOr(8, {{1, 2, 1}, {2, 2, 2}, {4, 2, 4}});
  for (int64_t rank = 0; rank < 8; ++rank)
    for (int64_t shift = 0; shift < 8; ++shift) {
      EXPECT_EQ(exclusiveOr.shiftRank(rank, shift), rank ^ shift);
      EXPECT_EQ(exclusiveOr.shiftChunk(rank, shift), rank ^ shift);
    }
}

TEST(Symmetry, FaultsOfDigitsAreNamed) {
  EXPECT_EQ(findFault({{1, 1, 0}}, 12, 1),
            "a digit of weight 1 and radix 1 does not fit in 12 ranks after a weight of 1");
  EXPECT_EQ(findFault({{1, 5, 0}}, 12, 1),
            "a digit of weight 1 and radix 5 does not fit in 12 ranks after a weight of 1");
  EXPECT_EQ(findFault({{1, 3, 0}, {2, 2, 0}}, 12, 1),
            "a digit of weight 2 and radix 2 does not fit in 12 ranks after a weight of 3");
  EXPECT_EQ(findFault({{0, 3, 0}}, 12, 1),
            "a digit of weight 0 and radix 3 does not fit in 12 ranks after a weight of 1");
  EXPECT_EQ(findFault({{1, 12, 1}}, 12, 6),
            "chunks of weight 1 and radix 12 do not fit in 6 chunks");
  EXPECT_EQ(findFault({{1, 12, 5}}, 12, 12),
            "chunks of weight 5 and radix 12 do not fit in 12 chunks");
  EXPECT_EQ(findFault({{1, 12, -1}}, 12, 12),
            "chunks of weight -1 and radix 12 do not fit in 12 chunks");
  EXPECT_EQ(findFault({{1, 3, 1}, {3, 4, 1}}, 12, 12), "chunks of weights 1 and 1 overlap");
  EXPECT_EQ(findFault({{1, INT64_MAX, 0}}, 12, 1),
            "a digit of weight 1 and radix 9223372036854775807 does not fit in 12 ranks after a "
            "weight of 1");
}

} // namespace
} // namespace coil
