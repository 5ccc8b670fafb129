//===- ConvertTest.cpp - Elements to and from double ----------------------===//

#include "test/unit/kernels/TestKernels.h"

#include <cmath>
#include <limits>

namespace coil::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

uint64_t fromDouble(DataType type, double value) {
  uint64_t bits = 0;
  cpu::fromDouble(type, value, &bits);
  return bits;
}

class ConvertNarrowTest : public testing::TestWithParam<DataType> {
protected:
  DataType type = GetParam();
  size_t size = sizeOf(GetParam());
  uint64_t codes = uint64_t(1) << (8 * sizeOf(GetParam()));
};

TEST_P(ConvertNarrowTest, EveryCodeGoesThereAndBack) {
  for (uint64_t code = 0; code < codes; ++code) {
    double value = cpu::toDouble(type, &code), expected = valueOf(type, code);
    if (std::isnan(expected)) {
      uint64_t back = fromDouble(type, value);
      ASSERT_TRUE(std::isnan(value) && std::isnan(cpu::toDouble(type, &back))) << code;
      continue;
    }
    ASSERT_EQ(value, expected) << code;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << code;
    ASSERT_EQ(fromDouble(type, value), code);
  }
}

TEST_P(ConvertNarrowTest, RoundsToNearestEven) {
  for (uint64_t code = 0; std::isfinite(valueOf(type, code + 1)); ++code) {
    double below = valueOf(type, code), above = valueOf(type, code + 1);
    double middle = (below + above) / 2;
    ASSERT_EQ(fromDouble(type, middle), code % 2 == 0 ? code : code + 1);
    ASSERT_EQ(fromDouble(type, std::nextafter(middle, 0)), code);
    ASSERT_EQ(fromDouble(type, std::nextafter(middle, infinity)), code + 1);
    ASSERT_EQ(fromDouble(type, -std::nextafter(middle, 0)), codes / 2 + code);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ConvertNarrowTest, testing::ValuesIn(narrowTypes),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

TEST(ConvertTest, Overflow) {
  EXPECT_EQ(fromDouble(DataType::F16, 65519.99), 0x7bffu);
  EXPECT_EQ(fromDouble(DataType::F16, 65520), 0x7c00u);
  EXPECT_EQ(fromDouble(DataType::F16, -1e300), 0xfc00u);
  EXPECT_EQ(fromDouble(DataType::BF16, 3.396e38), 0x7f7fu);
  EXPECT_EQ(fromDouble(DataType::BF16, 3.397e38), 0x7f80u);
  EXPECT_EQ(fromDouble(DataType::F8E5M2, 61439), 0x7bu);
  EXPECT_EQ(fromDouble(DataType::F8E5M2, 61440), 0x7cu);
  EXPECT_EQ(fromDouble(DataType::F8E5M2, -infinity), 0xfcu);
  EXPECT_EQ(fromDouble(DataType::F8E4M3, 464), 0x7eu);
  EXPECT_EQ(fromDouble(DataType::F8E4M3, std::nextafter(464, 500)), 0x7fu);
  EXPECT_EQ(fromDouble(DataType::F8E4M3, infinity), 0x7fu);
  EXPECT_EQ(fromDouble(DataType::F8E4M3, -1000), 0xffu);
  EXPECT_EQ(fromDouble(DataType::F32, 1e300), 0x7f800000u);
}

TEST(ConvertTest, Underflow) {
  for (DataType type : narrowTypes) {
    EXPECT_EQ(fromDouble(type, std::numeric_limits<double>::denorm_min()), 0u);
    double least = valueOf(type, 1);
    EXPECT_EQ(fromDouble(type, least / 2), 0u);
    EXPECT_EQ(fromDouble(type, std::nextafter(least / 2, 1)), 1u);
  }
}

TEST(ConvertTest, IntegersRoundToEvenAndSaturate) {
  EXPECT_EQ(fromDouble(DataType::I8, 2.5), 2u);
  EXPECT_EQ(fromDouble(DataType::I8, -3.5), 0xfcu);
  EXPECT_EQ(fromDouble(DataType::I8, 127.6), 0x7fu);
  EXPECT_EQ(fromDouble(DataType::I8, -1e9), 0x80u);
  EXPECT_EQ(fromDouble(DataType::U8, -1), 0u);
  EXPECT_EQ(fromDouble(DataType::U8, 255.5), 0xffu);
  EXPECT_EQ(fromDouble(DataType::I32, 2147483648.0), 0x7fffffffu);
  EXPECT_EQ(fromDouble(DataType::U32, 4294967295.0), 0xffffffffu);
  EXPECT_EQ(fromDouble(DataType::I64, 9223372036854775808.0), 0x7fffffffffffffffu);
  EXPECT_EQ(fromDouble(DataType::I64, -9223372036854775808.0), 0x8000000000000000u);
  EXPECT_EQ(fromDouble(DataType::U64, 18446744073709551616.0), ~uint64_t(0));
  EXPECT_EQ(fromDouble(DataType::U64, infinity), ~uint64_t(0));
  EXPECT_EQ(fromDouble(DataType::I64, -infinity), 0x8000000000000000u);
  EXPECT_EQ(fromDouble(DataType::U64, nan), 0u);
}

TEST(ConvertTest, WideTypesGoThereAndBackUnaligned) {
  for (DataType type : {DataType::I8, DataType::U8, DataType::I32, DataType::U32, DataType::I64,
                        DataType::U64, DataType::F32, DataType::F64}) {
    char memory[16] = {};
    for (double value : {0.0, 1.0, 2.0, 100.0, 127.0}) {
      cpu::fromDouble(type, value, memory + 3);
      EXPECT_EQ(cpu::toDouble(type, memory + 3), value) << nameOf(type);
    }
  }
  int32_t negative = -5;
  EXPECT_EQ(cpu::toDouble(DataType::I32, &negative), -5);
  uint64_t large = uint64_t(1) << 63;
  EXPECT_EQ(cpu::toDouble(DataType::U64, &large), 9223372036854775808.0);
}

} // namespace
} // namespace coil::test
