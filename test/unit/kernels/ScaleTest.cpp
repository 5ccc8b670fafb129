//===- ScaleTest.cpp - Scaling of every type and ISA ----------------------===//

#include "test/unit/kernels/TestKernels.h"

#include <algorithm>

namespace coil::test {
namespace {

class ScaleTest : public testing::TestWithParam<DataType> {
protected:
  DataType type = GetParam();
  size_t size = sizeOf(GetParam());
};

TEST_P(ScaleTest, MatchesReferenceInAndOutOfPlace) {
  std::mt19937_64 random(1);
  constexpr size_t maxCount = 3001;
  for (int round = 0; round < 8; ++round) {
    Fill fill = round % 2 ? Fill::AnyBits : Fill::Numbers;
    Bytes source = randomElements(type, maxCount, fill, random);
    Bytes scalar(3); // misaligned
    Bytes bits = randomElements(type, 1, fill, random);
    scalar.insert(scalar.end(), bits.begin(), bits.end());
    Bytes expected = scaleReference(type, source.data(), &scalar[3], maxCount);
    for (const cpu::KernelTable *table : runnableKernels())
      for (size_t count = 0; count <= maxCount; count += count < 140 ? 1 : 2861) {
        cpu::ScaleKernel scale = table->scale[static_cast<int>(type)];
        Bytes result(count * size + 3);
        scale(&result[1], source.data(), &scalar[3], count);
        ASSERT_EQ(difference(type, &result[1], expected.data(), count), "")
            << table->name << " " << nameOf(type);
        Bytes inPlace = source;
        scale(inPlace.data(), inPlace.data(), &scalar[3], count);
        ASSERT_EQ(difference(type, inPlace.data(), expected.data(), count), "")
            << table->name << " " << nameOf(type) << " in place";
        ASSERT_TRUE(std::equal(inPlace.begin() + count * size, inPlace.end(),
                               source.begin() + count * size));
      }
  }
}

TEST_P(ScaleTest, TouchesNothingBeyondItsElements) {
  std::mt19937_64 random(2);
  GuardedBuffer destination(200 * size), source(200 * size), scalar(size);
  Bytes elements = randomElements(type, 200, Fill::Numbers, random);
  std::copy(elements.begin(), elements.begin() + size, scalar.last(size));
  for (const cpu::KernelTable *table : runnableKernels())
    for (size_t count = 0; count <= 200; ++count) {
      char *from = source.last(count * size), *to = destination.last(count * size);
      std::copy(elements.begin(), elements.begin() + count * size, from);
      table->scale[static_cast<int>(type)](to, from, scalar.last(size), count);
      Bytes expected = scaleReference(type, from, scalar.last(size), count);
      ASSERT_EQ(difference(type, to, expected.data(), count), "") << table->name;
    }
}

TEST_P(ScaleTest, NothingToScaleNeedsNoPointers) {
  for (const cpu::KernelTable *table : runnableKernels())
    table->scale[static_cast<int>(type)](nullptr, nullptr, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, ScaleTest, testing::ValuesIn(allTypes),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

TEST(ScaleNarrowTest, ByOneKeepsEveryCode) {
  for (DataType type : narrowTypes) {
    size_t size = sizeOf(type), count = size_t(1) << (8 * size);
    Bytes codes(count * size), result(count * size);
    for (size_t code = 0; code < count; ++code)
      std::memcpy(&codes[code * size], &code, size);
    uint64_t one = bitsOf(type, 1);
    for (const cpu::KernelTable *table : runnableKernels()) {
      table->scale[static_cast<int>(type)](result.data(), codes.data(), &one, count);
      EXPECT_EQ(difference(type, result.data(), codes.data(), count), "")
          << table->name << " " << nameOf(type);
    }
  }
}

} // namespace
} // namespace coil::test
