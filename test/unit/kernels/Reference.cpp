//===- Reference.cpp - What the kernels should compute --------------------===//

#include "test/unit/kernels/Reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace coil::test {

bool isFloat(DataType type) {
  return type == DataType::F16 || type == DataType::F32 || type == DataType::F64 ||
         type == DataType::BF16 || type == DataType::F8E4M3 || type == DataType::F8E5M2;
}

static bool isSigned(DataType type) {
  return type == DataType::I8 || type == DataType::I32 || type == DataType::I64;
}

static double narrowValue(DataType type, uint64_t bits) {
  if (type == DataType::BF16)
    return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
  int mantissaBits = type == DataType::F16 ? 10 : type == DataType::F8E4M3 ? 3 : 2;
  int exponentBits = type == DataType::F8E4M3 ? 4 : 5;
  int bias = type == DataType::F8E4M3 ? 7 : 15;
  double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
  int exponent = bits >> mantissaBits & ((1 << exponentBits) - 1);
  double fraction = std::ldexp(double(bits & ((1 << mantissaBits) - 1)), -mantissaBits);
  if (type == DataType::F8E4M3 && (bits & 0x7f) == 0x7f)
    return std::numeric_limits<double>::quiet_NaN();
  if (type != DataType::F8E4M3 && exponent == 31)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

/// The finite values of a narrow type that are not negative, in order, so that
/// a value's index is its code.
static const std::vector<double> &finiteValues(DataType type) {
  static const auto all = [] {
    std::map<DataType, std::vector<double>> values;
    for (DataType narrow : narrowTypes)
      for (uint64_t code = 0; std::isfinite(narrowValue(narrow, code)); ++code)
        values[narrow].push_back(narrowValue(narrow, code));
    return values;
  }();
  return all.at(type);
}

static uint64_t narrowBits(DataType type, double value) {
  const std::vector<double> &values = finiteValues(type);
  uint64_t sign = std::signbit(value) ? uint64_t(1) << (sizeOf(type) * 8 - 1) : 0;
  uint64_t overflow = values.size(); // infinity's code, or NaN's where there is none
  if (std::isnan(value))
    return sign | (type == DataType::F8E4M3 ? overflow : overflow + 1);
  double magnitude = std::fabs(value);
  // The first value beyond the finite ones would be one more unit away.
  double unit = values.back() - values[values.size() - 2];
  size_t above = std::lower_bound(values.begin(), values.end(), magnitude) - values.begin();
  if (above == 0)
    return sign;
  double upper = above == values.size() ? values.back() + unit : values[above];
  double fromBelow = magnitude - values[above - 1], fromAbove = upper - magnitude;
  bool down = fromBelow < fromAbove || (fromBelow == fromAbove && (above - 1) % 2 == 0);
  return sign | (down ? above - 1 : above);
}

double valueOf(DataType type, uint64_t bits) {
  if (type == DataType::F64)
    return std::bit_cast<double>(bits);
  if (type == DataType::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return narrowValue(type, bits);
}

uint64_t bitsOf(DataType type, double value) {
  if (type == DataType::F64)
    return std::bit_cast<uint64_t>(value);
  if (type == DataType::F32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  return narrowBits(type, value);
}

template <typename Float> static Float combineFloats(ReduceOp op, Float a, Float b) {
  switch (op) {
  case ReduceOp::Prod:
    return a * b;
  case ReduceOp::Max:
  case ReduceOp::Min:
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<Float>::quiet_NaN();
    if (a == b) // +0 is greater than -0
      return std::signbit(a) == (op == ReduceOp::Max) ? b : a;
    return (a > b) == (op == ReduceOp::Max) ? a : b;
  default:
    return a + b;
  }
}

template <typename Float>
static uint64_t reduceFloats(DataType type, ReduceOp op, const std::vector<uint64_t> &operands,
                             uint64_t divisor) {
  Float result = static_cast<Float>(valueOf(type, operands[0]));
  for (size_t s = 1; s < operands.size(); ++s)
    result = combineFloats<Float>(op, result, static_cast<Float>(valueOf(type, operands[s])));
  if (op == ReduceOp::Avg)
    result /= static_cast<Float>(divisor);
  return bitsOf(type, result);
}

static uint64_t combineIntegers(ReduceOp op, DataType type, uint64_t a, uint64_t b) {
  bool less = isSigned(type) ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  switch (op) {
  case ReduceOp::Prod:
    return a * b;
  case ReduceOp::Max:
    return less ? b : a;
  case ReduceOp::Min:
    return less ? a : b;
  default:
    return a + b;
  }
}

/// The value of the type's bits, its sign extended to 64 bits.
static uint64_t widen(DataType type, uint64_t bits) {
  int spare = 64 - 8 * static_cast<int>(sizeOf(type));
  return isSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(bits << spare) >> spare)
                        : bits << spare >> spare;
}

static uint64_t reduceIntegers(DataType type, ReduceOp op, const std::vector<uint64_t> &operands,
                               uint64_t divisor) {
  uint64_t result = widen(type, operands[0]);
  for (size_t s = 1; s < operands.size(); ++s)
    result = widen(type, combineIntegers(op, type, result, widen(type, operands[s])));
  if (op == ReduceOp::Avg) {
    __extension__ typedef __int128 Wide;
    Wide dividend = isSigned(type) ? Wide(static_cast<int64_t>(result)) : Wide(result);
    result = static_cast<uint64_t>(dividend / Wide(divisor));
  }
  return result;
}

Bytes reduceReference(DataType type, ReduceOp op, const std::vector<const void *> &sources,
                      size_t count, uint64_t divisor) {
  size_t size = sizeOf(type);
  Bytes result(count * size);
  std::vector<uint64_t> operands(sources.size());
  for (size_t i = 0; i < count; ++i) {
    for (size_t s = 0; s < sources.size(); ++s)
      operands[s] = loadBits(static_cast<const char *>(sources[s]) + i * size, size);
    uint64_t bits = !isFloat(type)          ? reduceIntegers(type, op, operands, divisor)
                    : type == DataType::F64 ? reduceFloats<double>(type, op, operands, divisor)
                                            : reduceFloats<float>(type, op, operands, divisor);
    std::memcpy(&result[i * size], &bits, size);
  }
  return result;
}

Bytes scaleReference(DataType type, const void *source, const void *scalar, size_t count) {
  Bytes scalars;
  for (size_t i = 0; i < count; ++i)
    scalars.insert(scalars.end(), static_cast<const char *>(scalar),
                   static_cast<const char *>(scalar) + sizeOf(type));
  return reduceReference(type, ReduceOp::Prod, {source, scalars.data()}, count, 1);
}

std::string difference(DataType type, const void *found, const void *expected, size_t count) {
  size_t size = sizeOf(type);
  if (count == 0 || std::memcmp(found, expected, count * size) == 0)
    return {};
  for (size_t i = 0; i < count; ++i) {
    uint64_t foundBits = loadBits(static_cast<const char *>(found) + i * size, size);
    uint64_t expectedBits = loadBits(static_cast<const char *>(expected) + i * size, size);
    bool bothNaN = isFloat(type) && std::isnan(valueOf(type, foundBits)) &&
                   std::isnan(valueOf(type, expectedBits));
    if (foundBits != expectedBits && !bothNaN)
      return fmt::format("element {} of {}: expected {:#x}, found {:#x}", i, count, expectedBits,
                         foundBits);
  }
  return {};
}

Bytes randomElements(DataType type, size_t count, Fill fill, std::mt19937_64 &random) {
  size_t size = sizeOf(type);
  Bytes elements(count * size);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = random();
    if (fill == Fill::Numbers && isFloat(type))
      bits = bitsOf(type, static_cast<int>(bits % 65) / 8.0 - 4);
    else if (fill == Fill::Numbers)
      bits = bits % 17 - (isSigned(type) ? 8 : 0);
    std::memcpy(&elements[i * size], &bits, size);
  }
  return elements;
}

} // namespace coil::test
