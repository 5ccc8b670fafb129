//===- RollingTest.cpp - Loops found in sequences -------------------------===//

#include "runtime/codegen/Rolling.h"

#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace coil::codegen {
namespace {

std::vector<uint32_t> shapesOf(const std::string &text) { return {text.begin(), text.end()}; }

RollPolicy fitsAlways() {
  RollPolicy policy;
  policy.misfits = [](size_t, std::span<const RollLoop>) { return 0; };
  return policy;
}

/// "a 3(b 2(cd))": items as letters, loops with their steps.
std::string show(const std::vector<uint32_t> &shapes, const std::vector<Rolled> &parts) {
  std::string text;
  for (const Rolled &part : parts) {
    if (part.trip == 1)
      text += static_cast<char>(shapes[part.first]);
    else
      text += fmt::format("{}({})", part.trip, show(shapes, part.body));
  }
  return text;
}

std::string rolled(const std::string &text, const RollPolicy &policy = fitsAlways()) {
  std::vector<uint32_t> shapes = shapesOf(text);
  return show(shapes, roll(shapes, policy));
}

void expand(const std::vector<Rolled> &parts, size_t shift, std::vector<size_t> &items) {
  for (const Rolled &part : parts) {
    if (part.trip == 1)
      items.push_back(part.first + shift);
    for (uint32_t step = 0; part.trip > 1 && step < part.trip; ++step)
      expand(part.body, shift + step * part.period, items);
  }
}

TEST(Rolling, RepeatedItemsAndGroups) {
  EXPECT_EQ(rolled(""), "");
  EXPECT_EQ(rolled("abc"), "abc");
  EXPECT_EQ(rolled("aab"), "aab") << "two are no loop";
  EXPECT_EQ(rolled("aaab"), "3(a)b");
  EXPECT_EQ(rolled("xabababy"), "x3(ab)y");
  EXPECT_EQ(rolled("abcdabcd"), "2(abcd)");
}

TEST(Rolling, LoopsWithinLoops) {
  EXPECT_EQ(rolled("aaabaaabaaab"), "3(3(a)b)");
  EXPECT_EQ(rolled("xababcababcababcy"), "x3(ababc)y");
}

TEST(Rolling, StepsBeginWell) {
  RollPolicy policy = fitsAlways();
  policy.startCost = [](uint32_t shape) { return shape == 'w' ? 0 : 1; };
  EXPECT_EQ(rolled("rswrswrswrsR", policy), "rs3(wrs)R");
  EXPECT_EQ(rolled("rswrswrswR", policy), "3(rsw)R") << "no step is given up for it";
}

TEST(Rolling, TwoStepsWhereNumbersFollowTwo) {
  RollPolicy policy;
  policy.misfits = [](size_t, std::span<const RollLoop> loops) {
    return loops.size() == 2 && loops[1].trip == 3 ? 0 : 1;
  };
  EXPECT_EQ(rolled("aaaaaa", policy), "2(3(a))");
}

TEST(Rolling, SpecialFirstAndLastSteps) {
  RollPolicy policy;
  policy.misfits = [](size_t first, std::span<const RollLoop>) { return first == 0 ? 1 : 0; };
  EXPECT_EQ(rolled("aaaa", policy), "a3(a)");
  policy.misfits = [](size_t first, std::span<const RollLoop> loops) {
    return first + loops[0].trip > 3 ? 1 : 0;
  };
  EXPECT_EQ(rolled("aaaa", policy), "3(a)a");
}

TEST(Rolling, LoopsOfMisfitsAreLeft) {
  RollPolicy policy;
  policy.misfits = [](size_t, std::span<const RollLoop>) { return 2; };
  EXPECT_EQ(rolled("aaa", policy), "aaa");
  EXPECT_EQ(rolled("aaaaaaaa", policy), "8(a)") << "a long one is worth a table";
}

TEST(Rolling, ItemsComeBackInOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint32_t> shapes;
    while (shapes.size() < 60) {
      size_t period = 1 + random() % 6, trip = 1 + random() % 5, begin = shapes.size();
      for (size_t i = 0; i < period; ++i)
        shapes.push_back(random() % 3);
      for (size_t i = period; i < period * trip; ++i)
        shapes.push_back(shapes[begin + i - period]);
    }
    RollPolicy policy;
    policy.misfits = [&](size_t, std::span<const RollLoop>) { return random() % 4; };
    std::vector<size_t> items;
    expand(roll(shapes, policy), 0, items);
    ASSERT_EQ(items.size(), shapes.size());
    for (size_t i = 0; i < items.size(); ++i)
      EXPECT_EQ(shapes[items[i]], shapes[i]);
  }
}

TEST(Rolling, LongSequencesTakeLinearTime) {
  // Aperiodic, periodic with a long period, and equal throughout.
  std::mt19937 random(1);
  std::vector<uint32_t> noise(300'000), periodic(300'000), equal(300'000, 1);
  for (uint32_t &shape : noise)
    shape = random() % 4;
  for (size_t i = 0; i < periodic.size(); ++i)
    periodic[i] = static_cast<uint32_t>(i % 251);
  auto start = std::chrono::steady_clock::now();
  for (const std::vector<uint32_t> *shapes : {&noise, &periodic, &equal})
    EXPECT_FALSE(roll(*shapes, fitsAlways()).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

} // namespace
} // namespace coil::codegen
