//===- ReduceTest.cpp - Reductions of every type, operator and ISA --------===//

#include "test/unit/kernels/TestKernels.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace coil::test {
namespace {

constexpr size_t maxSources = 9;
/// Enough for the loops that align their destination first, and odd.
constexpr size_t longCount = 4099;
constexpr uint64_t avgDivisor = 7;

std::vector<size_t> counts() {
  std::vector<size_t> result;
  for (size_t count = 0; count <= 70; ++count)
    result.push_back(count);
  result.insert(result.end(), {127, 128, 129, 1009, longCount});
  return result;
}

class ReduceTest : public testing::TestWithParam<DataType> {
protected:
  DataType type = GetParam();
  size_t size = sizeOf(GetParam());
};

TEST_P(ReduceTest, MatchesReferenceForEveryCountSourceCountAndAlignment) {
  std::mt19937_64 random(1);
  Bytes destination(longCount * size + 64);
  for (Fill fill : {Fill::AnyBits, Fill::Numbers}) {
    std::vector<Bytes> elements;
    for (size_t s = 0; s < maxSources; ++s)
      elements.push_back(randomElements(type, longCount, fill, random));
    for (size_t sourceCount = 1; sourceCount <= maxSources; ++sourceCount) {
      // Sources are shifted copies, so that each meets another misalignment.
      constexpr size_t offsets[] = {0, 1, 3};
      std::vector<Bytes> shifted[3];
      std::vector<const void *> aligned;
      for (size_t s = 0; s < sourceCount; ++s)
        aligned.push_back(elements[s].data());
      for (size_t variant = 0; variant < 3; ++variant)
        for (size_t s = 0; s < sourceCount; ++s) {
          Bytes copy(offsets[(variant + s) % 3]);
          copy.insert(copy.end(), elements[s].begin(), elements[s].end());
          shifted[variant].push_back(std::move(copy));
        }
      for (ReduceOp op : allOps) {
        Bytes expected = reduceReference(type, op, aligned, longCount, avgDivisor);
        for (const cpu::KernelTable *table : runnableKernels())
          for (size_t variant = 0; variant < 3; ++variant) {
            std::vector<const void *> sources;
            for (size_t s = 0; s < sourceCount; ++s)
              sources.push_back(shifted[variant][s].data() + offsets[(variant + s) % 3]);
            for (size_t count : counts()) {
              size_t begin = 8 + offsets[variant], end = begin + count * size;
              std::fill(destination.begin(), destination.begin() + end + 8, 0xA5);
              kernelOf(*table, type, op)(&destination[begin], sources.data(), sourceCount, count,
                                         {op == ReduceOp::Avg ? avgDivisor : 1});
              ASSERT_EQ(difference(type, &destination[begin], expected.data(), count), "")
                  << describe(*table, type, op) << " of " << sourceCount << " sources";
              for (size_t i = 0; i < 8; ++i)
                ASSERT_TRUE(destination[begin - 1 - i] == 0xA5 && destination[end + i] == 0xA5)
                    << describe(*table, type, op) << " wrote outside " << count << " elements";
            }
          }
      }
    }
  }
}

TEST_P(ReduceTest, DestinationMayBeAnySource) {
  std::mt19937_64 random(2);
  std::vector<Bytes> elements;
  for (size_t s = 0; s < maxSources; ++s)
    elements.push_back(randomElements(type, longCount, Fill::AnyBits, random));
  for (const cpu::KernelTable *table : runnableKernels())
    for (ReduceOp op : allOps)
      for (size_t sourceCount = 1; sourceCount <= maxSources; ++sourceCount)
        for (size_t count : {size_t(1), size_t(67), longCount})
          for (size_t alias = 0; alias < sourceCount; ++alias) {
            std::vector<const void *> sources;
            for (size_t s = 0; s < sourceCount; ++s)
              sources.push_back(elements[s].data());
            Bytes separate(count * size);
            kernelOf(*table, type, op)(separate.data(), sources.data(), sourceCount, count, {3});
            Bytes inPlace = elements[alias];
            sources[alias] = inPlace.data();
            kernelOf(*table, type, op)(inPlace.data(), sources.data(), sourceCount, count, {3});
            ASSERT_EQ(difference(type, inPlace.data(), separate.data(), count), "")
                << describe(*table, type, op) << " onto source " << alias << " of " << sourceCount;
          }
}

TEST_P(ReduceTest, TouchesNothingBeyondItsElements) {
  std::mt19937_64 random(3);
  constexpr size_t sourceCount = 3, maxCount = 300;
  GuardedBuffer destination(maxCount * size), first(maxCount * size), second(maxCount * size),
      third(maxCount * size);
  GuardedBuffer *buffers[] = {&first, &second, &third};
  for (const cpu::KernelTable *table : runnableKernels())
    for (ReduceOp op : allOps)
      for (size_t count = 0; count <= maxCount; count += count < 140 ? 1 : 53)
        for (bool atEnd : {true, false})
          for (size_t used = 2; used <= sourceCount; ++used) {
            std::vector<const void *> sources;
            for (size_t s = 0; s < used; ++s) {
              char *place = atEnd ? buffers[s]->last(count * size) : buffers[s]->begin();
              Bytes elements = randomElements(type, count, Fill::AnyBits, random);
              std::copy(elements.begin(), elements.end(), place);
              sources.push_back(place);
            }
            char *place = atEnd ? destination.last(count * size) : destination.begin();
            kernelOf(*table, type, op)(place, sources.data(), used, count, {2});
            Bytes expected = reduceReference(type, op, sources, count, 2);
            ASSERT_EQ(difference(type, place, expected.data(), count), "")
                << describe(*table, type, op);
          }
}

TEST_P(ReduceTest, NothingToReduceNeedsNoPointers) {
  for (const cpu::KernelTable *table : runnableKernels())
    for (ReduceOp op : allOps) {
      kernelOf(*table, type, op)(nullptr, nullptr, 2, 0, {5});
      const void *sources[] = {nullptr, nullptr, nullptr};
      kernelOf(*table, type, op)(nullptr, sources, 3, 0, {5});
    }
}

TEST_P(ReduceTest, AllInstructionSetsGiveTheSameBits) {
  std::mt19937_64 random(4);
  constexpr size_t count = 20011;
  Bytes a = randomElements(type, count, Fill::AnyBits, random);
  Bytes b = randomElements(type, count, Fill::AnyBits, random);
  Bytes c = randomElements(type, count, Fill::AnyBits, random);
  const void *sources[] = {a.data(), b.data(), c.data()};
  for (ReduceOp op : allOps) {
    Bytes baseline(count * size), result(count * size);
    kernelOf(cpu::baselineKernels, type, op)(baseline.data(), sources, 3, count, {3});
    for (const cpu::KernelTable *table : runnableKernels()) {
      kernelOf(*table, type, op)(result.data(), sources, 3, count, {3});
      ASSERT_EQ(difference(type, result.data(), baseline.data(), count), "")
          << describe(*table, type, op);
    }
  }
}

TEST_P(ReduceTest, AverageDividesOnceAfterTheSum) {
  std::mt19937_64 random(5);
  std::vector<uint64_t> divisors{1, 2, 3, 5, 7, 8, 10, 127, 128, 255, 256, 257, 641, 65536};
  for (int shift : {31, 32, 53, 63})
    for (int64_t nudge : {-1, 0, 1})
      divisors.push_back((uint64_t(1) << shift) + nudge);
  divisors.insert(divisors.end(), {std::numeric_limits<uint64_t>::max(), 6700417 * uint64_t(641)});
  // Every value of the 8-bit types, and the ends of the others' ranges.
  Bytes elements = randomElements(type, 2048, Fill::AnyBits, random);
  for (int code = 0; code < 256; ++code)
    elements[code * size] = static_cast<unsigned char>(code);
  for (uint64_t edge = 0; edge < 64; ++edge)
    for (int64_t nudge : {-1, 0, 1}) {
      uint64_t bits = (uint64_t(1) << edge) + nudge;
      std::memcpy(&elements[(256 + edge * 3 + nudge + 1) * size], &bits, size);
    }
  const void *source = elements.data();
  Bytes result(elements.size());
  for (const cpu::KernelTable *table : runnableKernels())
    for (uint64_t divisor : divisors) {
      kernelOf(*table, type, ReduceOp::Avg)(result.data(), &source, 1, 2048, {divisor});
      Bytes expected = reduceReference(type, ReduceOp::Avg, {source}, 2048, divisor);
      ASSERT_EQ(difference(type, result.data(), expected.data(), 2048), "")
          << describe(*table, type, ReduceOp::Avg) << " by " << divisor;
    }
}

INSTANTIATE_TEST_SUITE_P(Types, ReduceTest, testing::ValuesIn(allTypes),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

TEST(ReduceFloat8Test, EveryPairOfCodes) {
  Bytes a(65536), b(65536), result(65536);
  for (size_t i = 0; i < 65536; ++i)
    a[i] = i & 0xff, b[i] = i >> 8;
  const void *sources[] = {a.data(), b.data()};
  for (DataType type : {DataType::F8E4M3, DataType::F8E5M2})
    for (ReduceOp op : allOps) {
      Bytes expected = reduceReference(type, op, {a.data(), b.data()}, 65536, 3);
      for (const cpu::KernelTable *table : runnableKernels()) {
        kernelOf(*table, type, op)(result.data(), sources, 2, 65536, {3});
        ASSERT_EQ(difference(type, result.data(), expected.data(), 65536), "")
            << describe(*table, type, op);
      }
    }
}

TEST(ReduceFloat16Test, EveryCodeWithNeighboursAndExtremes) {
  for (DataType type : {DataType::F16, DataType::BF16}) {
    std::vector<uint16_t> a, b;
    for (unsigned code = 0; code < 65536; ++code)
      for (unsigned other : {0u, 0x8000u, 1u, 0x0080u, 0x0400u, 0x3c00u, 0x3f80u, 0x7bffu, 0x7f7fu,
                             0x7c00u, code + 1, code ^ 0x8001u, code * 40503u}) {
        a.push_back(code);
        b.push_back(other);
      }
    const void *sources[] = {a.data(), b.data()};
    Bytes result(a.size() * 2);
    for (ReduceOp op : allOps) {
      Bytes expected = reduceReference(type, op, {a.data(), b.data()}, a.size(), 3);
      for (const cpu::KernelTable *table : runnableKernels()) {
        kernelOf(*table, type, op)(result.data(), sources, 2, a.size(), {3});
        ASSERT_EQ(difference(type, result.data(), expected.data(), a.size()), "")
            << describe(*table, type, op);
      }
    }
  }
}

TEST(ReduceFloatTest, SpecialValues) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float largest = std::numeric_limits<float>::max();
  constexpr float tiny = std::numeric_limits<float>::denorm_min();
  const float values[] = {0,       -0.0f,    1,        -1,        tiny, -tiny,
                          largest, -largest, infinity, -infinity, nan};
  std::vector<double> a64, b64;
  std::vector<float> a, b;
  for (float x : values)
    for (float y : values) {
      a.push_back(x), b.push_back(y);
      a64.push_back(x), b64.push_back(y);
    }
  Bytes result(a.size() * 8);
  for (const cpu::KernelTable *table : runnableKernels())
    for (ReduceOp op : allOps) {
      const void *sources[] = {a.data(), b.data()};
      kernelOf(*table, DataType::F32, op)(result.data(), sources, 2, a.size(), {3});
      Bytes expected = reduceReference(DataType::F32, op, {a.data(), b.data()}, a.size(), 3);
      EXPECT_EQ(difference(DataType::F32, result.data(), expected.data(), a.size()), "")
          << describe(*table, DataType::F32, op);
      const void *sources64[] = {a64.data(), b64.data()};
      kernelOf(*table, DataType::F64, op)(result.data(), sources64, 2, a.size(), {3});
      expected = reduceReference(DataType::F64, op, {a64.data(), b64.data()}, a.size(), 3);
      EXPECT_EQ(difference(DataType::F64, result.data(), expected.data(), a.size()), "")
          << describe(*table, DataType::F64, op);
    }
}

TEST(ReduceFloatTest, NarrowFloatsRoundOnceAtTheEnd) {
  // 2048 + 1 + 1 is 2050 in f32; rounding each sum to f16 would lose both ones.
  const uint16_t large = 0x6800, one = 0x3c00;
  const void *sources[] = {&large, &one, &one};
  for (const cpu::KernelTable *table : runnableKernels()) {
    uint16_t result = 0;
    kernelOf(*table, DataType::F16, ReduceOp::Sum)(&result, sources, 3, 1, {});
    EXPECT_EQ(result, 0x6801) << table->name;
  }
}

TEST(SelectKernelsTest, LimitLowersButNeverRaises) {
  const cpu::KernelTable &best = cpu::selectKernels(nullptr);
  EXPECT_STREQ(cpu::selectKernels("baseline").name, "baseline");
  for (const char *ignored : {"", "AVX512", "no such set", "avx512"})
    EXPECT_EQ(&cpu::selectKernels(ignored), &best) << ignored;
  EXPECT_EQ(runnableKernels().back(), &best);
  for (const cpu::KernelTable *table : runnableKernels())
    EXPECT_EQ(&cpu::selectKernels(table->name), table);
}

TEST(SelectKernelsTest, ActiveKernelsAreTheSelectedOnes) {
  const cpu::KernelTable &selected = cpu::selectKernels(std::getenv("COIL_CPU_ISA"));
  EXPECT_STREQ(cpu::activeIsa(), selected.name);
  for (DataType type : allTypes) {
    EXPECT_EQ(cpu::scaleKernel(type), selected.scale[static_cast<int>(type)]);
    for (ReduceOp op : allOps)
      EXPECT_EQ(cpu::reduceKernel(type, op), kernelOf(selected, type, op));
  }
}

} // namespace
} // namespace coil::test
