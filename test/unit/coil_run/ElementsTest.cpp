//===- ElementsTest.cpp - Tests of single elements ------------------------===//

#include "tools/coil-run/Elements.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace coil;
using namespace coil::run;

namespace {

constexpr DataType narrowTypes[] = {DataType::F16, DataType::BF16, DataType::F8E4M3,
                                    DataType::F8E5M2};

TEST(Elements, EveryNarrowCodeSurvivesARoundTrip) {
  for (DataType type : narrowTypes)
    for (uint64_t code = 0; code < uint64_t{1} << (8 * sizeOf(type)); ++code) {
      double value = decodeFloat(type, code);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeFloat(type, encodeFloat(type, value))));
      else
        EXPECT_EQ(encodeFloat(type, value), code) << nameOf(type) << " " << code;
    }
}

TEST(Elements, RoundsToTheNearestAndTiesToEven) {
  for (DataType type : narrowTypes) {
    uint64_t codes = uint64_t{1} << (8 * sizeOf(type) - 1);
    for (uint64_t code = 0; code + 1 < codes; ++code) {
      double low = decodeFloat(type, code), high = decodeFloat(type, code + 1);
      if (!std::isfinite(high))
        continue;
      double middle = (low + high) / 2;
      EXPECT_EQ(encodeFloat(type, middle), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(encodeFloat(type, std::nextafter(middle, 0)), code);
      EXPECT_EQ(encodeFloat(type, std::nextafter(middle, 1e300)), code + 1);
    }
  }
}

TEST(Elements, KnowsTheLimits) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(floatFormat(DataType::F16).largestFinite(), 65504);
  EXPECT_EQ(floatFormat(DataType::F8E4M3).largestFinite(), 448);
  EXPECT_EQ(floatFormat(DataType::F8E5M2).largestFinite(), 57344);
  EXPECT_EQ(floatFormat(DataType::F32).largestFinite(), std::numeric_limits<float>::max());
  EXPECT_EQ(floatFormat(DataType::F64).largestFinite(), std::numeric_limits<double>::max());
  EXPECT_EQ(floatFormat(DataType::F32).smallestSubnormal(),
            std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(floatFormat(DataType::BF16).largestExactInteger(), 256);
  EXPECT_EQ(encodeFloat(DataType::F16, 65519.9), 0x7bffu);
  EXPECT_EQ(encodeFloat(DataType::F16, 65520), 0x7c00u);
  EXPECT_EQ(encodeFloat(DataType::F16, -1e9), 0xfc00u);
  EXPECT_EQ(encodeFloat(DataType::F16, -infinity), 0xfc00u);
  EXPECT_EQ(encodeFloat(DataType::F8E4M3, 463.9), 0x7eu);
  EXPECT_EQ(encodeFloat(DataType::F8E4M3, 465), 0x7fu);
  EXPECT_EQ(encodeFloat(DataType::F16, -0.0), 0x8000u);
}

TEST(Elements, ExtendsAndTruncatesIntegers) {
  EXPECT_EQ(extendInteger(DataType::I8, 0xff), ~uint64_t{0});
  EXPECT_EQ(extendInteger(DataType::U8, 0xff), 255u);
  EXPECT_EQ(extendInteger(DataType::I32, 0x7fffffff), 0x7fffffffu);
  EXPECT_EQ(truncateInteger(DataType::U32, ~uint64_t{0}), 0xffffffffu);
  EXPECT_EQ(truncateInteger(DataType::I64, ~uint64_t{0}), ~uint64_t{0});
}

TEST(Elements, LoadsAndStoresAnywhere) {
  std::byte memory[16] = {};
  storeElement(DataType::I64, 0x0123456789abcdef, memory + 3);
  EXPECT_EQ(loadElement(DataType::I64, memory + 3), 0x0123456789abcdefu);
  EXPECT_EQ(loadElement(DataType::U8, memory + 3), 0xefu);
  EXPECT_EQ(memory[11], std::byte{0});
}

TEST(Elements, DescribesThem) {
  EXPECT_EQ(describeElement(DataType::I8, 0xfd), "-3");
  EXPECT_EQ(describeElement(DataType::U8, 0xfd), "253");
  EXPECT_EQ(describeElement(DataType::F16, 0x3c00), "1 (0x3c00)");
  EXPECT_EQ(describeElement(DataType::F8E5M2, 0), "0 (0x00)");
}

} // namespace
