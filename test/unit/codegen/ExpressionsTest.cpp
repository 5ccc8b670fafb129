//===- ExpressionsTest.cpp - Numbers as functions of rank and step --------===//

#include "runtime/codegen/Expressions.h"

#include <functional>
#include <gtest/gtest.h>
#include <numeric>

namespace coil::codegen {
namespace {

/// Values of one number for some ranks, in one loop or none.
struct Table {
  Table(std::vector<uint32_t> ranks, uint32_t trip,
        const std::function<uint32_t(uint32_t rank, uint32_t step)> &value)
      : ranks(std::move(ranks)) {
    for (uint32_t rank : this->ranks) {
      std::vector<uint32_t> &row = rows.emplace_back();
      for (uint32_t step = 0; step < trip; ++step)
        row.push_back(value(rank, step));
    }
    spans.assign(rows.begin(), rows.end());
    samples = {this->ranks, spans, 0, {}};
    if (trip > 1)
      samples.loops.push_back({trip, 1});
  }
  Table(const Table &) = delete;

  std::string text(std::vector<uint32_t> moduli = {8}) const {
    std::optional<Number> number = fit(samples, moduli);
    return number ? toText(*number, std::vector<std::string>{"step"}) : "none";
  }

  std::vector<uint32_t> ranks;
  std::vector<std::vector<uint32_t>> rows;
  std::vector<std::span<const uint32_t>> spans;
  Samples samples;
};

std::vector<uint32_t> firstRanks(uint32_t count) {
  std::vector<uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::string textOf(uint32_t ranks, uint32_t trip,
                   const std::function<uint32_t(uint32_t, uint32_t)> &value,
                   std::vector<uint32_t> moduli = {8}) {
  return Table(firstRanks(ranks), trip, value).text(std::move(moduli));
}

TEST(Expressions, SimplestFormIsChosen) {
  EXPECT_EQ(textOf(8, 1, [](uint32_t, uint32_t) { return 5; }), "5");
  EXPECT_EQ(textOf(8, 1, [](uint32_t rank, uint32_t) { return rank; }), "rank");
  EXPECT_EQ(textOf(8, 4, [](uint32_t, uint32_t step) { return step; }), "step");
  EXPECT_EQ(textOf(8, 1, [](uint32_t rank, uint32_t) { return rank + 3; }), "rank + 3");
  EXPECT_EQ(textOf(8, 4, [](uint32_t rank, uint32_t step) { return 10 + 2 * rank - step; }),
            "2 * rank + 10 - step");
}

TEST(Expressions, RingsCountModuloRanks) {
  EXPECT_EQ(textOf(8, 1, [](uint32_t rank, uint32_t) { return (rank + 7) % 8; }), "(rank + 7) % 8");
  EXPECT_EQ(textOf(8, 6, [](uint32_t rank, uint32_t step) { return (rank + 14 - step) % 8; }),
            "(rank + 6 - step) % 8");
  EXPECT_EQ(textOf(8, 8, [](uint32_t rank, uint32_t step) { return (rank + 14 - step) % 8; }),
            "(rank + 14 - step) % 8")
      << "the sum must not be negative in any step";
  EXPECT_EQ(textOf(1, 8, [](uint32_t, uint32_t step) { return (3 + step) % 4; }, {8, 4}),
            "(step + 3) % 4");
}

TEST(Expressions, RanksOfAClassNeedNotBeNeighbours) {
  Table even({0, 2, 4, 6}, 1, [](uint32_t rank, uint32_t) { return (rank + 7) % 8; });
  EXPECT_EQ(even.text(), "(rank + 7) % 8");
  Table ends({0, 7}, 1, [](uint32_t rank, uint32_t) { return (rank + 1) % 8; });
  EXPECT_EQ(ends.text(), "(rank + 1) % 8");
}

TEST(Expressions, BitsAndOtherRanks) {
  EXPECT_EQ(textOf(8, 1, [](uint32_t rank, uint32_t) { return rank ^ 5; }), "rank ^ 5");
  EXPECT_EQ(textOf(16, 3, [](uint32_t rank, uint32_t step) { return rank ^ (2u << step); }),
            "rank ^ (2u << step)");
  EXPECT_EQ(textOf(8, 7, [](uint32_t rank, uint32_t step) { return step + (step >= rank); }),
            "step + (step >= rank)");
}

TEST(Expressions, LargeNumbers) {
  EXPECT_EQ(textOf(2, 1, [](uint32_t, uint32_t) { return 0xffffffffu; }), "4294967295u");
  EXPECT_EQ(textOf(3, 1, [](uint32_t rank, uint32_t) { return 0xffffffffu - rank; }),
            "4294967295 - rank");
}

TEST(Expressions, NothingFitsNoise) {
  const uint32_t noise[] = {3, 1, 4, 1, 5, 9, 2, 6};
  EXPECT_EQ(textOf(8, 1, [&](uint32_t rank, uint32_t) { return noise[rank]; }), "none");
}

TEST(Expressions, EvaluateIsWhatTheTextSays) {
  Number table;
  table.form = Number::Form::Table;
  table.base = 1;
  table.stepFactors = {2};
  const std::vector<uint32_t> constants{10, 11, 12, 13}, steps{1}, beyond{2};
  EXPECT_EQ(toText(table, std::vector<std::string>{"step"}), "worker.constant(2 * step + 1)");
  EXPECT_EQ(evaluate(table, 0, steps, constants), 13u);
  EXPECT_EQ(evaluate(table, 0, beyond, constants), std::nullopt);

  Number wrapping;
  wrapping.form = Number::Form::Modular;
  wrapping.rankFactor = -1;
  wrapping.modulus = 7;
  EXPECT_EQ(evaluate(wrapping, 1, {}, {}), 0xffffffffu % 7) << "as unsigned numbers compute";
}

TEST(Expressions, EveryFitGivesAllSamples) {
  // Families of numbers as algorithms have them, over shapes of classes and loops.
  uint32_t fitted = 0;
  for (uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 16u})
    for (uint32_t trip : {1u, 2u, 3u, 7u})
      for (uint32_t a = 0; a < 4; ++a)
        for (uint32_t b = 0; b < 4; ++b)
          for (uint32_t modulus : {2u, 3u, 7u, 16u}) {
            Table table(firstRanks(ranks), trip, [&](uint32_t rank, uint32_t step) {
              return (a * rank + b * step + 5) % modulus;
            });
            std::vector<uint32_t> moduli{ranks > 1 ? ranks : 2, modulus};
            std::optional<Number> number = fit(table.samples, moduli);
            ASSERT_TRUE(number) << ranks << ' ' << trip << ' ' << a << ' ' << b << ' ' << modulus;
            EXPECT_TRUE(table.samples.all(
                [&](uint32_t rank, std::span<const uint32_t> steps, uint32_t value) {
                  return evaluate(*number, rank, steps, {}) == value;
                }));
            ++fitted;
          }
  EXPECT_EQ(fitted, 6u * 4 * 4 * 4 * 4);
}

TEST(Samples, LoopsAreVisitedInnermostFastest) {
  const std::vector<uint32_t> row{0, 1, 10, 11, 20, 21}, ranks{4};
  const std::vector<std::span<const uint32_t>> rows{row};
  Samples samples{ranks, rows, 0, {{3, 2}, {2, 1}}};
  std::vector<uint32_t> seen;
  EXPECT_TRUE(samples.all([&](uint32_t rank, std::span<const uint32_t> steps, uint32_t value) {
    EXPECT_EQ(rank, 4u);
    EXPECT_EQ(value, 10 * steps[0] + steps[1]);
    seen.push_back(value);
    return true;
  }));
  EXPECT_EQ(seen, row);
}

} // namespace
} // namespace coil::codegen
