//===- ReduceTest.cpp - Statements against the CPU kernels ----------------===//

#include "runtime/kernels/cpu/Reduce.h"
#include "runtime/kernels/device/LowLatency.h"
#include "runtime/kernels/device/Reduce.h"
#include "runtime/kernels/emulation/Emulation.h"
#include "test/unit/device/ElementTypes.h"
#include "test/unit/emulation/Support.h"
#include "test/unit/kernels/Reference.h"

namespace coil::test {
namespace {

using namespace coil::device;

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

/// One statement: sources at byte offsets of their own, as the device and as the CPU
/// kernels run it.
struct Statement {
  DataType type;
  ReduceOp op;
  u32 arity;
  u64 count;
  u32 divisor;
  bool isInPlace;            ///< the destination is the last source
  std::vector<Bytes> memory; ///< sources, then the destination, each with room around
  std::vector<u64> offsets;
  Bytes expected, factor;

  Statement(DataType type, ReduceOp op, u32 arity, u64 count, u32 divisor, bool isInPlace,
            bool isAligned, Fill fill, std::mt19937_64 &random)
      : type(type), op(op), arity(arity), count(count), divisor(divisor), isInPlace(isInPlace) {
    u64 size = sizeOf(type), shared = random() % 16 / size * size;
    factor = randomElements(type, 1, fill, random);
    std::vector<const void *> sources;
    std::vector<Bytes> scaledInputs;
    for (u32 q = 0; q <= arity; ++q) {
      memory.push_back(randomElements(type, count + 64, fill, random));
      offsets.push_back(16 - reinterpret_cast<u64>(memory[q].data()) % 16 +
                        (isAligned ? shared : random() % 16));
    }
    for (u32 q = 0; q < arity; ++q) {
      const void *address = source(q);
      if (op == ReduceOp::PreMulSum && isOwn(q)) {
        scaledInputs.emplace_back(count * size + 1);
        cpu::scaleKernel(type)(scaledInputs.back().data(), address, factor.data(), count);
        address = scaledInputs.back().data();
      }
      sources.push_back(address);
    }
    expected.resize(count * size + 1);
    cpu::reduceKernel(type, op)(expected.data(), sources.data(), arity, count, {divisor});
  }

  bool isOwn(u32 q) const { return q == 1 % arity; }
  const u8 *source(u32 q) const { return memory[q].data() + offsets[q]; }
  u8 *destination() {
    u32 at = isInPlace ? arity - 1 : arity;
    return memory[at].data() + offsets[at];
  }
  std::string check() { return difference(type, destination(), expected.data(), count); }
};

template <typename Element> Terms<Element> termsOf(const Statement &statement) {
  Terms<Element> terms = {};
  Bits<Element> bits;
  std::memcpy(&bits, statement.factor.data(), sizeof(bits));
  terms.factor = Arithmetic<Element>::widen(bitCast<Element>(bits));
  if (statement.divisor > 1)
    terms.divisor = {statement.divisor, reciprocalOf(statement.divisor)};
  return terms;
}

/// By all threads of a block: a statement as a program has it that knows its length.
template <typename Element, typename Operator, u32 arity> void runShort(Statement &statement) {
  Operands<arity> operands = {};
  for (u32 q = 0; q < arity; ++q) {
    operands.address[q] = statement.source(q);
    operands.own |= u32(statement.isOwn(q)) << q;
  }
  reduceMemory<Element, Operator>(statement.destination(), operands, statement.count,
                                  termsOf<Element>(statement));
}

/// The same as any number of operands.
template <typename Element, typename Operator> void runLong(Statement &statement) {
  reduceManyMemory<Element, Operator>(
      statement.destination(), statement.arity,
      [&](u32 q) { return Operand{statement.source(q), statement.isOwn(q)}; }, statement.count,
      termsOf<Element>(statement));
}

/// Statements of many counts and alignments in one launch, once with `run`.
void testStatements(DataType type, ReduceOp op, u32 arity, u32 divisor,
                    void (*run)(Statement &statement)) {
  std::mt19937_64 random(arity * 100 + divisor);
  std::vector<Statement> statements;
  for (u64 count = 0; count <= 100; count += count < 20 ? 1 : 7)
    for (bool isAligned : {true, false})
      statements.emplace_back(type, op, arity, count, divisor, count % 2 == 1, isAligned,
                              count % 3 == 0 ? Fill::AnyBits : Fill::Numbers, random);
  for (u64 count : {1000u, 3333u})
    statements.emplace_back(type, op, arity, count, divisor, false, true, Fill::AnyBits, random);
  std::vector<emulation::Problem> problems =
      emulation::run({{1, 64, 0, 0, [&] {
                         for (Statement &statement : statements) {
                           run(statement);
                           syncBlock();
                         }
                       }}});
  ASSERT_THAT(problems, emulation::HasNoProblem());
  for (Statement &statement : statements)
    ASSERT_EQ(statement.check(), "")
        << statement.count << " elements, arity " << arity << ", divisor " << divisor
        << (statement.isInPlace ? ", in place" : "");
}

// What is instantiated is little of what there could be: each type, operator and
// number of operands, but not each with each, since compilers need seconds for one.
template <typename Element, typename Operator, u32 arity> void testShort(u32 divisor = 1) {
  using As = std::conditional_t<Operator::divides, Operator, Undivided<Operator>>;
  testStatements(typeOf<Element>, opOf<Operator>, arity, divisor, runShort<Element, As, arity>);
}
template <typename Element, typename Operator> void testLong(u32 divisor = 1) {
  using As = std::conditional_t<Operator::divides, Operator, Undivided<Operator>>;
  for (u32 arity : {1u, 2u, 5u, 9u})
    testStatements(typeOf<Element>, opOf<Operator>, arity, divisor, runLong<Element, As>);
}

TYPED_TEST(ReduceTest, Sum) {
  testShort<TypeParam, Sum, 1>();
  testShort<TypeParam, Sum, 2>();
  testShort<TypeParam, Sum, 3>();
  testLong<TypeParam, Sum>();
}
TYPED_TEST(ReduceTest, Premulsum) { testShort<TypeParam, PreMulSum, 2>(); }
TYPED_TEST(ReduceTest, Prod) { testShort<TypeParam, Prod, 2>(); }
TYPED_TEST(ReduceTest, MaxAndMin) {
  testShort<TypeParam, Max, 2>();
  testShort<TypeParam, Min, 2>();
}
TYPED_TEST(ReduceTest, Avg) {
  for (u32 divisor : {2u, 3u, 7u, 64u, 1000u})
    testShort<TypeParam, Avg, 2>(divisor);
}

// Long lists, once for a type that is computed in its own and one that is not.
TEST(LongListTest, ReducesManyOperands) {
  testShort<float, Sum, 8>();
  testShort<BFloat16, Max, 8>();
  testLong<BFloat16, PreMulSum>();
  testLong<i64, Prod>();
  testLong<Half, Avg>(3);
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
