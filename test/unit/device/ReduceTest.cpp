//===- ReduceTest.cpp - Statements against the CPU kernels ----------------===//

#include "runtime/kernels/cpu/Reduce.h"
#include "runtime/kernels/device/LowLatency.h"
#include "runtime/kernels/device/Reduce.h"
#include "runtime/kernels/emulation/Emulation.h"
#include "test/unit/emulation/Support.h"
#include "test/unit/kernels/Reference.h"

namespace coil::test {
namespace {

using namespace coil::device;

template <typename Element> constexpr DataType typeOf = DataType::F32;
template <> constexpr DataType typeOf<i8> = DataType::I8;
template <> constexpr DataType typeOf<u8> = DataType::U8;
template <> constexpr DataType typeOf<i32> = DataType::I32;
template <> constexpr DataType typeOf<u32> = DataType::U32;
template <> constexpr DataType typeOf<i64> = DataType::I64;
template <> constexpr DataType typeOf<u64> = DataType::U64;
template <> constexpr DataType typeOf<Half> = DataType::F16;
template <> constexpr DataType typeOf<double> = DataType::F64;
template <> constexpr DataType typeOf<BFloat16> = DataType::BF16;
template <> constexpr DataType typeOf<Float8E4M3> = DataType::F8E4M3;
template <> constexpr DataType typeOf<Float8E5M2> = DataType::F8E5M2;

template <typename Operator> constexpr ReduceOp opOf = ReduceOp::Sum;
template <> constexpr ReduceOp opOf<Prod> = ReduceOp::Prod;
template <> constexpr ReduceOp opOf<Max> = ReduceOp::Max;
template <> constexpr ReduceOp opOf<Min> = ReduceOp::Min;
template <> constexpr ReduceOp opOf<Avg> = ReduceOp::Avg;
template <> constexpr ReduceOp opOf<PreMulSum> = ReduceOp::PreMulSum;

template <typename Element> class ReduceTest : public testing::Test {};
using AllTypes = testing::Types<i8, u8, i32, u32, i64, u64, Half, float, double, BFloat16,
                                Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(ReduceTest, AllTypes);

/// One statement: `arity` sources at byte offsets of their own, as the device and as
/// the CPU kernels run it.
template <typename Element, typename Operator, u32 arity> struct Statement {
  u64 count;
  u32 divisor;
  bool isInPlace;            ///< the destination is the last source
  std::vector<Bytes> memory; ///< sources, then the destination, each with room around
  std::vector<u64> offsets;
  Bytes expected, factor;

  Statement(u64 count, u32 divisor, bool isInPlace, bool isAligned, Fill fill,
            std::mt19937_64 &random)
      : count(count), divisor(divisor), isInPlace(isInPlace) {
    constexpr DataType type = typeOf<Element>;
    u64 shared = random() % 16 / sizeof(Element) * sizeof(Element);
    factor = randomElements(type, 1, fill, random);
    std::vector<const void *> sources;
    std::vector<Bytes> scaledInputs;
    for (u32 q = 0; q <= arity; ++q) {
      Bytes elements = randomElements(type, count + 64, fill, random);
      memory.push_back(elements);
      offsets.push_back(16 - reinterpret_cast<u64>(memory[q].data()) % 16 +
                        (isAligned ? shared : random() % 16));
    }
    for (u32 q = 0; q < arity; ++q) {
      const void *source = memory[q].data() + offsets[q];
      if (Operator::scales && isOwn(q)) {
        scaledInputs.emplace_back(count * sizeof(Element) + 1);
        cpu::scaleKernel(type)(scaledInputs.back().data(), source, factor.data(), count);
        source = scaledInputs.back().data();
      }
      sources.push_back(source);
    }
    expected.resize(count * sizeof(Element) + 1);
    cpu::reduceKernel(type, opOf<Operator>)(expected.data(), sources.data(), arity, count,
                                            {divisor});
  }

  static bool isOwn(u32 q) { return q == 1 % arity; }
  const u8 *source(u32 q) const { return memory[q].data() + offsets[q]; }
  u8 *destination() {
    u32 at = isInPlace ? arity - 1 : arity;
    return memory[at].data() + offsets[at];
  }
  Terms<Element> terms() const {
    Terms<Element> terms = {};
    Bits<Element> bits;
    std::memcpy(&bits, factor.data(), sizeof(bits));
    terms.factor = Arithmetic<Element>::widen(bitCast<Element>(bits));
    if (divisor > 1)
      terms.divisor = {divisor, reciprocalOf(divisor)};
    return terms;
  }

  /// By all threads of a block.
  void run(bool many) {
    if (divisor > 1)
      runAs<Operator>(many);
    else
      runAs<Undivided<Operator>>(many);
    syncBlock();
  }
  template <typename As> void runAs(bool many) {
    Operands<arity> operands = {};
    for (u32 q = 0; q < arity; ++q) {
      operands.address[q] = source(q);
      operands.own |= u32(isOwn(q)) << q;
    }
    if (many)
      reduceManyMemory<Element, As>(
          destination(), arity, [&](u32 q) { return Operand{source(q), isOwn(q)}; }, count,
          terms());
    else
      reduceMemory<Element, As>(destination(), operands, count, terms());
  }

  std::string check() { return difference(typeOf<Element>, destination(), expected.data(), count); }
};

/// Statements of many counts and alignments in one launch.
template <typename Element, typename Operator, u32 arity> void testStatements(u32 divisor) {
  std::mt19937_64 random(arity * 100 + divisor);
  std::vector<Statement<Element, Operator, arity>> statements;
  for (u64 count = 0; count <= 100; count += count < 20 ? 1 : 7)
    for (bool isAligned : {true, false})
      statements.emplace_back(count, divisor, count % 2 == 1, isAligned,
                              count % 3 == 0 ? Fill::AnyBits : Fill::Numbers, random);
  for (u64 count : {1000u, 3333u})
    statements.emplace_back(count, divisor, false, true, Fill::AnyBits, random);
  for (bool many : {false, true}) {
    auto copies = statements;
    // Vectors move when they are copied; alignment is that of the copy.
    for (size_t i = 0; i < copies.size(); ++i)
      for (size_t q = 0; q < copies[i].memory.size(); ++q)
        copies[i].memory[q] = statements[i].memory[q];
    std::vector<emulation::Problem> problems = emulation::run({{1, 64, 0, 0, [&] {
                                                                  for (auto &statement : copies)
                                                                    statement.run(many);
                                                                }}});
    ASSERT_THAT(problems, emulation::HasNoProblem());
    for (auto &statement : copies)
      ASSERT_EQ(statement.check(), "")
          << statement.count << " elements, arity " << arity << ", divisor " << divisor
          << (many ? ", many" : "") << (statement.isInPlace ? ", in place" : "");
  }
}

template <typename Element, typename Operator> void testArities(u32 divisor = 1) {
  testStatements<Element, Operator, 1>(divisor);
  testStatements<Element, Operator, 2>(divisor);
  testStatements<Element, Operator, 3>(divisor);
  testStatements<Element, Operator, 8>(divisor);
}

TYPED_TEST(ReduceTest, SumAndPremulsum) {
  testArities<TypeParam, Sum>();
  testArities<TypeParam, PreMulSum>();
}
TYPED_TEST(ReduceTest, Prod) { testArities<TypeParam, Prod>(); }
TYPED_TEST(ReduceTest, MaxAndMin) {
  testArities<TypeParam, Max>();
  testArities<TypeParam, Min>();
}
TYPED_TEST(ReduceTest, Avg) {
  for (u32 divisor : {1u, 2u, 3u, 7u, 64u, 1000u})
    testStatements<TypeParam, Avg, 2>(divisor);
  testStatements<TypeParam, Avg, 1>(5);
}

TEST(DivisionTest, ReciprocalsAreExact) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    u32 divisor = static_cast<u32>(random() >> (33 + random() % 31));
    if (divisor < 2)
      continue;
    u64 dividend = random() >> random() % 64;
    for (u64 value :
         {dividend, dividend / divisor * divisor, dividend / divisor * divisor - 1, ~u64(0)})
      ASSERT_EQ(divide(value, reciprocalOf(divisor)), value / divisor) << value << " " << divisor;
    i64 negative = -static_cast<i64>(dividend >> 1);
    ASSERT_EQ(average<i64>(negative, {divisor, reciprocalOf(divisor)}),
              negative / static_cast<i64>(divisor));
  }
}

TEST(PacketsTest, FlagsAreInBothWords) {
  Pair packet = llPacket(0x0123456789abcdef, llFlag(0x1'0000'0002));
  EXPECT_EQ(llData(packet), 0x0123456789abcdefu);
  EXPECT_TRUE(llArrived(packet, llFlag(2)));
  EXPECT_FALSE(llArrived({packet.first, packet.second ^ u64(1) << 32}, llFlag(2)));
  EXPECT_FALSE(llArrived({packet.first ^ u64(1) << 32, packet.second}, llFlag(2)));
}

} // namespace
} // namespace coil::test
