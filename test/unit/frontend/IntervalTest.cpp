//===- IntervalTest.cpp - Bounds against values ---------------------------===//

#include "compiler/frontend/Interval.h"

#include <gtest/gtest.h>
#include <vector>

using namespace coil;

namespace {

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t floorMod(int64_t a, int64_t b) { return a - floorDiv(a, b) * b; }

/// Intervals with numbers and lines as bounds, empty ones left out.
std::vector<Interval> samples() {
  std::vector<Interval> result = {{}, Interval::ranks(), Interval::atLeast(0)};
  for (int64_t value : {-7, -1, 0, 1, 2, 8})
    result.push_back(Interval::constant(value));
  result.push_back({Bound{0, 0}, Bound{1, -1}});
  result.push_back({Bound{0, -2}, Bound{2, 1}});
  result.push_back({Bound{-1, 0}, Bound{0, 3}});
  result.push_back({std::nullopt, Bound{0, -1}});
  return result;
}

int64_t at(Bound bound, int64_t ranks) { return bound.factor * ranks + bound.constant; }

bool contains(const Interval &interval, int64_t ranks, int64_t value) {
  return (!interval.low || at(*interval.low, ranks) <= value) &&
         (!interval.high || value <= at(*interval.high, ranks));
}

/// Calls `check` with two intervals, a number of ranks and values within.
template <typename Check> void forAllSamples(Check check) {
  for (const Interval &a : samples())
    for (const Interval &b : samples())
      for (int64_t ranks = 1; ranks <= 5; ++ranks)
        for (int64_t x = -9; x <= 9; ++x)
          for (int64_t y = -9; y <= 9; ++y)
            if (contains(a, ranks, x) && contains(b, ranks, y))
              check(a, b, ranks, x, y);
}

TEST(Interval, ContainsEveryResult) {
  forAllSamples([](const Interval &a, const Interval &b, int64_t ranks, int64_t x, int64_t y) {
    EXPECT_TRUE(contains(add(a, b), ranks, x + y));
    EXPECT_TRUE(contains(subtract(a, b), ranks, x - y));
    EXPECT_TRUE(contains(multiply(a, b), ranks, x * y));
    EXPECT_TRUE(contains(negate(a), ranks, -x));
    EXPECT_TRUE(contains(minimum(a, b), ranks, std::min(x, y)));
    EXPECT_TRUE(contains(maximum(a, b), ranks, std::max(x, y)));
    EXPECT_TRUE(contains(bitAnd(a, b), ranks, x & y));
    if (!a.asConstant() || !b.asConstant()) {
      EXPECT_TRUE(contains(bitOr(a, b), ranks, x | y));
      EXPECT_TRUE(contains(bitOr(a, b), ranks, x ^ y));
    }
    if (y != 0) {
      EXPECT_TRUE(contains(floorDivide(a, b), ranks, floorDiv(x, y)));
      EXPECT_TRUE(contains(floorRemainder(a, b), ranks, floorMod(x, y)));
    }
    if (y >= 0) {
      EXPECT_TRUE(contains(shiftRight(a, b), ranks, x >> y));
    }
  });
}

TEST(Interval, DecidesOnlyWhatAlwaysHolds) {
  forAllSamples([](const Interval &a, const Interval &b, int64_t, int64_t x, int64_t y) {
    EXPECT_EQ(isLess(a, b).value_or(x < y), x < y);
    EXPECT_EQ(isLessEqual(a, b).value_or(x <= y), x <= y);
    EXPECT_EQ(isEqual(a, b).value_or(x == y), x == y);
  });
}

TEST(Interval, KnowsTheNumberOfRanksToBePositive) {
  EXPECT_TRUE(Interval::ranks().isAtLeast(1));
  EXPECT_FALSE(Interval::ranks().isAtLeast(2));
  EXPECT_EQ(isLess(Interval::ranks(), add(Interval::ranks(), Interval::constant(1))), true);
  EXPECT_EQ(isLess(Interval::ranks(), multiply(Interval::ranks(), Interval::constant(2))), true);
  EXPECT_EQ(isLess(Interval::constant(4), Interval::ranks()), std::nullopt);
}

TEST(Interval, WidensInsteadOfOverflowing) {
  Interval largest = Interval::constant(INT64_MAX), smallest = Interval::constant(INT64_MIN);
  EXPECT_FALSE(add(largest, Interval::constant(1)).asConstant());
  EXPECT_FALSE(multiply(largest, largest).asConstant());
  EXPECT_FALSE(negate(smallest).asConstant());
  EXPECT_FALSE(floorDivide(smallest, Interval::constant(-1)).asConstant());
  EXPECT_EQ(floorRemainder(smallest, Interval::constant(-1)).asConstant(), 0);
}

TEST(Interval, ReadsLikeTheSource) {
  EXPECT_EQ(toString({0, -3}), "-3");
  EXPECT_EQ(toString({1, 0}), "ranks");
  EXPECT_EQ(toString({-1, 2}), "-ranks + 2");
  EXPECT_EQ(toString({2, -1}), "2 * ranks - 1");
  EXPECT_EQ(toString({1, INT64_MIN}), "ranks - 9223372036854775808");
  EXPECT_EQ(describeLow({Bound{0, 2}, std::nullopt}), "at least 2");
  EXPECT_EQ(describeHigh({Bound{0, 2}, Bound{0, 2}}), "2");
}

} // namespace
