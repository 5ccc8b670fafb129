//===- MultimemTest.cpp - Reductions and stores by the switch -------------===//

#include "runtime/kernels/device/Multimem.h"
#include "test/unit/emulation/Support.h"
#include "test/unit/kernels/Reference.h"

#include <cstring>

namespace coil::test {
namespace {

using namespace coil::device;
using emulation::HasNoProblem;
using emulation::HasProblem;
using emulation::ProblemKind;

constexpr u32 threads = 64;
constexpr u64 margin = 32;
constexpr u8 untouched = 0xee;

/// The same elements' place at several ranks, and memory of one of them, each at a
/// byte offset from a multiple of 16, with room around.
class Memory {
public:
  Memory(u32 ranks, u64 bytes, u32 placeOffset, u32 offset)
      : bytes(bytes), placeOffset(placeOffset), offset(offset) {
    for (u32 rank = 0; rank <= ranks; ++rank)
      pieces.emplace_back(16 + 16 + margin + bytes + margin, untouched);
    for (u32 rank = 0; rank < ranks; ++rank)
      unicast.push_back(aligned(rank) + margin + placeOffset);
  }

  /// Nothing may access the multicast address but the switch.
  MulticastPlace place(bool hasMulticast = true) const {
    u64 nowhere = 0x1000 + placeOffset;
    return {hasMulticast ? reinterpret_cast<u8 *>(nowhere) : nullptr, unicast.data(),
            static_cast<u32>(unicast.size())};
  }
  u32 ranks() const { return static_cast<u32>(unicast.size()); }
  u8 *rank(u32 index) { return unicast[index]; }
  u8 *own() { return aligned(ranks()) + margin + offset; }

  /// Whether the bytes around a piece are as at first.
  bool isCleanAround(const u8 *begin) const {
    for (u64 i = 1; i <= margin; ++i)
      if (begin[-i64(i)] != untouched || begin[bytes + i - 1] != untouched)
        return false;
    return true;
  }

private:
  u8 *aligned(u32 piece) {
    u8 *data = pieces[piece].data();
    return data + (16 - reinterpret_cast<u64>(data) % 16) % 16;
  }

  u64 bytes;
  u32 placeOffset, offset;
  std::vector<std::vector<u8>> pieces;
  std::vector<u8 *> unicast;
};

std::vector<emulation::Problem> runBlock(std::function<void()> body, u32 capability = 90) {
  emulation::KernelLaunch launch = {1, threads, 0, 0, std::move(body)};
  launch.computeCapability = capability;
  return emulation::run({launch}, 60);
}

/// Elements whose sums are exact in any order.
void fillExactly(DataType type, u8 *to, u64 count, std::mt19937_64 &random) {
  for (u64 i = 0; i < count; ++i) {
    i64 value = static_cast<i64>(random() % 33) - 16;
    u64 bits = isFloat(type) ? bitsOf(type, static_cast<double>(value)) : static_cast<u64>(value);
    std::memcpy(to + i * sizeOf(type), &bits, sizeOf(type));
  }
}

enum class Values { Exact, Any };

template <typename Element, typename Operator>
void testReduction(DataType type, ReduceOp op, Values values, bool hasMulticast = true,
                   u32 capability = 90) {
  SCOPED_TRACE(testing::Message() << "type " << int(type) << ", operator " << int(op));
  std::mt19937_64 random(static_cast<u64>(type) * 16 + static_cast<u64>(op));
  std::vector<std::pair<Memory, u64>> cases;
  for (u64 count : {0, 1, 2, 3, 5, 8, 17, 31, 64, 333, 2000})
    for (u32 offset = 0; offset < 16; offset += sizeof(Element))
      for (u32 place : {offset, 0u, static_cast<u32>(sizeof(Element)) % 16}) {
        u32 ranks = static_cast<u32>(random() % 5) + 2;
        Memory &memory =
            cases.emplace_back(Memory(ranks, count * sizeof(Element), place, offset), count).first;
        for (u32 rank = 0; rank < ranks; ++rank) {
          if (values == Values::Exact) {
            fillExactly(type, memory.rank(rank), count, random);
            continue;
          }
          Bytes bytes = randomElements(type, count, Fill::Numbers, random);
          std::copy_n(bytes.begin(), count * sizeof(Element), memory.rank(rank));
        }
      }
  auto kernel = [&] {
    for (auto &[memory, count] : cases) {
      Terms<Element> terms = {};
      terms.divisor = {memory.ranks(), reciprocalOf(memory.ranks())};
      reduceMultimem<Element, Operator>(memory.own(), memory.place(hasMulticast), count, terms);
    }
  };
  ASSERT_THAT(runBlock(kernel, capability), HasNoProblem());
  for (auto &[memory, count] : cases) {
    std::vector<const void *> sources;
    for (u32 rank = 0; rank < memory.ranks(); ++rank)
      sources.push_back(memory.rank(rank));
    Bytes expected = reduceReference(type, op, sources, count, memory.ranks());
    ASSERT_EQ(difference(type, memory.own(), expected.data(), count), "") << count << " elements";
    ASSERT_TRUE(memory.isCleanAround(memory.own()));
  }
}

TEST(MultimemTest, SupportsWhatTheSwitchDoes) {
  static_assert(multimemSupports<Half, Sum> && multimemSupports<BFloat16, Sum> &&
                multimemSupports<float, Sum> && multimemSupports<double, Sum>);
  static_assert(multimemSupports<i32, Sum> && multimemSupports<u64, Max> &&
                multimemSupports<i64, Min>);
  static_assert(!multimemSupports<u8, Sum> && !multimemSupports<Float8E4M3, Sum> &&
                !multimemSupports<float, Max> && !multimemSupports<Half, Min> &&
                !multimemSupports<float, Prod> && !multimemSupports<i32, Avg> &&
                !multimemSupports<float, PreMulSum>);
}

TEST(MultimemTest, ReducesFloats) {
  testReduction<Half, Sum>(DataType::F16, ReduceOp::Sum, Values::Exact);
  testReduction<BFloat16, Sum>(DataType::BF16, ReduceOp::Sum, Values::Exact);
  testReduction<float, Sum>(DataType::F32, ReduceOp::Sum, Values::Exact);
  testReduction<double, Sum>(DataType::F64, ReduceOp::Sum, Values::Exact);
}

TEST(MultimemTest, ReducesIntegers) {
  testReduction<i32, Sum>(DataType::I32, ReduceOp::Sum, Values::Any);
  testReduction<i32, Min>(DataType::I32, ReduceOp::Min, Values::Any);
  testReduction<u32, Max>(DataType::U32, ReduceOp::Max, Values::Any);
  testReduction<i64, Max>(DataType::I64, ReduceOp::Max, Values::Any);
  testReduction<u64, Sum>(DataType::U64, ReduceOp::Sum, Values::Any);
}

TEST(MultimemTest, OtherOperatorsInTheOrderOfTheRanks) {
  testReduction<u8, Sum>(DataType::U8, ReduceOp::Sum, Values::Any);
  testReduction<float, Prod>(DataType::F32, ReduceOp::Prod, Values::Any);
  testReduction<float, Avg>(DataType::F32, ReduceOp::Avg, Values::Any);
  testReduction<Half, Max>(DataType::F16, ReduceOp::Max, Values::Any);
}

TEST(MultimemTest, WithoutSwitchInTheOrderOfTheRanks) {
  testReduction<float, Sum>(DataType::F32, ReduceOp::Sum, Values::Any, false);
  testReduction<float, Sum>(DataType::F32, ReduceOp::Sum, Values::Any, true, 80);
  testReduction<Half, Sum>(DataType::F16, ReduceOp::Sum, Values::Any, true, 75);
}

TEST(MultimemTest, TheSwitchHasAnOrderOfItsOwn) {
  // ((1e8 - 1e8) + 1) is 1, the sum in another order may be 0.
  constexpr u64 count = 1 + 24 + 2;
  Memory memory(3, count * 4, 12, 12);
  const float values[3] = {1e8f, -1e8f, 1};
  for (u32 rank = 0; rank < 3; ++rank)
    for (u64 i = 0; i < count; ++i)
      std::memcpy(memory.rank(rank) + i * 4, &values[rank], 4);
  auto kernel = [&] { reduceMultimem<float, Sum>(memory.own(), memory.place(), count, {}); };
  ASSERT_THAT(runBlock(kernel), HasNoProblem());
  u32 others = 0;
  for (u64 i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, memory.own() + i * 4, 4);
    if (i == 0 || i >= 25) {
      EXPECT_EQ(value, 1) << "head and tail, " << i;
    }
    others += value != 1;
  }
  EXPECT_GT(others, 0u);
  EXPECT_LT(others, 24u);
}

template <typename Element> void testStores(bool hasMulticast, u32 capability) {
  std::mt19937_64 random(5);
  std::vector<std::pair<Memory, u64>> cases;
  for (u64 count : {0, 1, 2, 7, 16, 33, 100, 3000})
    for (u32 offset = 0; offset < 16; ++offset)
      for (u32 place : {offset, 3u}) {
        Memory &memory = cases
                             .emplace_back(Memory(static_cast<u32>(random() % 4) + 1,
                                                  count * sizeof(Element), place, offset),
                                           count)
                             .first;
        for (u64 i = 0; i < count * sizeof(Element); ++i)
          memory.own()[i] = static_cast<u8>(random());
      }
  auto kernel = [&] {
    for (auto &[memory, count] : cases)
      storeMultimem<Element, Sum>(memory.place(hasMulticast), memory.own(), count, {});
  };
  ASSERT_THAT(runBlock(kernel, capability), HasNoProblem());
  for (auto &[memory, count] : cases)
    for (u32 rank = 0; rank < memory.ranks(); ++rank) {
      ASSERT_EQ(std::memcmp(memory.rank(rank), memory.own(), count * sizeof(Element)), 0)
          << count << " elements";
      ASSERT_TRUE(memory.isCleanAround(memory.rank(rank)));
    }
}

TEST(MultimemTest, StoresToAllRanks) {
  testStores<u8>(true, 90);
  testStores<float>(true, 90);
  testStores<float>(false, 90);
  testStores<double>(true, 80);
}

/// Two ranks: each writes its input, reduces half of it by the switch and stores the
/// result to both, with or without waiting for the other in between.
class TwoRanks {
public:
  std::vector<emulation::Problem> run(bool waitsForInput, bool waitsForResult) {
    emulation::TrackingScope tracking;
    std::vector<emulation::KernelLaunch> launches;
    for (u32 rank = 0; rank < 2; ++rank)
      launches.push_back({1, threads, 0, rank, [=, this] {
                            for (u64 i = threadIndex(); i < count; i += blockThreads())
                              storeData<u32>(inputs.rank(rank) + i * 4, (rank + 1) * 1000);
                            meet(rank, 1, waitsForInput);
                            u8 *sums = inputs.own() + rank * halfBytes;
                            reduceMultimem<u32, Sum>(sums, half(inputs, rank), count / 2, {});
                            syncBlock();
                            storeMultimem<u32, Sum>(half(results, rank), sums, count / 2, {});
                            meet(rank, 2, waitsForResult);
                            for (u64 i = threadIndex(); i < count; i += blockThreads())
                              wrong[rank] += loadData<u32>(results.rank(rank) + i * 4) != 3000;
                          }});
    return emulation::run(std::move(launches), 60);
  }

  u64 wrong[2] = {};

private:
  static constexpr u64 count = 202, halfBytes = count / 2 * 4;

  /// Ranks' addresses are taken one by one, so half 1 is a place of its own.
  MulticastPlace half(Memory &memory, u32 index) {
    MulticastPlace place = memory.place();
    if (index == 0)
      return place;
    return {place.multicast + halfBytes, &memory == &inputs ? inputHalves : resultHalves, 2};
  }

  void meet(u32 rank, u64 stage, bool waits) {
    syncBlock();
    if (threadIndex() == 0 && waits) {
      storeRelease<Scope::System>(&stages[rank], stage);
      while (loadAcquire<Scope::System>(&stages[1 - rank]) < stage)
        pause();
    }
    syncBlock();
  }

  Memory inputs{2, count * 4, 8, 8}, results{2, count * 4, 8, 8};
  u8 *const inputHalves[2] = {inputs.rank(0) + halfBytes, inputs.rank(1) + halfBytes};
  u8 *const resultHalves[2] = {results.rank(0) + halfBytes, results.rank(1) + halfBytes};
  u64 stages[2] = {};
};

TEST(MultimemTest, TrackedAsPlainAccesses) {
  TwoRanks right;
  EXPECT_THAT(right.run(true, true), HasNoProblem());
  EXPECT_EQ(right.wrong[0] + right.wrong[1], 0u);
  EXPECT_THAT(TwoRanks().run(false, true), HasProblem(ProblemKind::Race));
  EXPECT_THAT(TwoRanks().run(true, false), HasProblem(ProblemKind::Race));
}

} // namespace
} // namespace coil::test
