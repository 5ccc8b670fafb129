//===- ConversionsTest.cpp - Narrow floats against the CPU kernels --------===//

#include "runtime/kernels/cpu/Reduce.h"
#include "runtime/kernels/device/Elements.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace coil::test {
namespace {

using namespace coil::device;

template <typename Element> struct Case;
template <> struct Case<Half> {
  static constexpr DataType type = DataType::F16;
};
template <> struct Case<BFloat16> {
  static constexpr DataType type = DataType::BF16;
};
template <> struct Case<Float8E4M3> {
  static constexpr DataType type = DataType::F8E4M3;
};
template <> struct Case<Float8E5M2> {
  static constexpr DataType type = DataType::F8E5M2;
};

template <typename Element> class ConversionsTest : public testing::Test {};
using NarrowTypes = testing::Types<Half, BFloat16, Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(ConversionsTest, NarrowTypes);

TYPED_TEST(ConversionsTest, EveryCodeWidens) {
  for (u32 code = 0; code < 1u << sizeof(TypeParam) * 8; ++code) {
    auto bits = static_cast<Bits<TypeParam>>(code);
    auto element = bitCast<TypeParam>(bits);
    double expected = cpu::toDouble(Case<TypeParam>::type, &element);
    float found = Arithmetic<TypeParam>::widen(element);
    ASSERT_EQ(std::isnan(found), std::isnan(expected)) << code;
    if (!std::isnan(expected)) {
      ASSERT_EQ(found, expected) << code;
      ASSERT_EQ(std::signbit(found), std::signbit(expected)) << code;
    }
  }
}

/// Compares the rounding of the f32 with these bits.
template <typename Element> void checkRounding(u32 bits) {
  float value = bitCast<float>(bits);
  Element expected;
  cpu::fromDouble(Case<Element>::type, value, &expected);
  Element found = Arithmetic<Element>::round(value);
  if (std::isnan(value))
    ASSERT_TRUE(std::isnan(cpu::toDouble(Case<Element>::type, &found))) << bits;
  else
    ASSERT_EQ(found.bits, expected.bits) << bits;
}

TYPED_TEST(ConversionsTest, FloatsRoundToNearestEven) {
  // All upper halves, with lower halves at and around ties of all formats.
  for (u32 upper = 0; upper < 0x10000; ++upper)
    for (u32 lower : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u,
                      0xefffu, 0xf000u, 0xffffu})
      checkRounding<TypeParam>(upper << 16 | lower);
}

TYPED_TEST(ConversionsTest, EveryCodeRoundsToItself) {
  for (u32 code = 0; code < 1u << sizeof(TypeParam) * 8; ++code) {
    auto element = bitCast<TypeParam>(static_cast<Bits<TypeParam>>(code));
    float value = Arithmetic<TypeParam>::widen(element);
    if (!std::isnan(value)) {
      ASSERT_EQ(Arithmetic<TypeParam>::round(value).bits, code);
    }
  }
}

} // namespace
} // namespace coil::test
