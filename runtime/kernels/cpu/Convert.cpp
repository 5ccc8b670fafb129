//===- Convert.cpp - One element to and from double -----------------------===//
//
// Exact and one at a time, with the library's own means: it shares nothing with
// the vector kernels but the formats.
//
//===----------------------------------------------------------------------===//

#include "runtime/kernels/cpu/NarrowFormat.h"
#include "runtime/kernels/cpu/Reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace coil::cpu {

/// The least power of two of which every finite value of the binade that starts
/// at 2^exponent is a multiple, as an exponent.
static int unitExponent(const NarrowFormat &format, int exponent) {
  return std::max(exponent, 1 - format.exponentBias()) - format.mantissaBits;
}

static double decode(const NarrowFormat &format, uint32_t code) {
  int magnitude = code & format.magnitudeMask();
  double value;
  if (magnitude > format.overflowCode() || magnitude == format.quietNaNCode()) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude == format.overflowCode()) {
    value = std::numeric_limits<double>::infinity();
  } else {
    int field = magnitude >> format.mantissaBits;
    int mantissa = magnitude & ((1 << format.mantissaBits) - 1);
    if (field != 0)
      mantissa |= 1 << format.mantissaBits;
    value = std::ldexp(mantissa, unitExponent(format, field - format.exponentBias()));
  }
  return static_cast<int>(code) > format.magnitudeMask() ? -value : value;
}

static uint32_t encode(const NarrowFormat &format, double value) {
  uint32_t sign = std::signbit(value) ? format.magnitudeMask() + 1 : 0;
  if (std::isnan(value))
    return sign | format.quietNaNCode();
  if (value == 0)
    return sign;
  if (std::isinf(value))
    return sign | format.overflowCode();
  double magnitude = std::fabs(value);
  int unit = unitExponent(format, std::ilogb(magnitude));
  // At most 2^(mantissaBits + 1), to nearest even in the default rounding mode.
  double units = std::nearbyint(std::ldexp(magnitude, -unit));
  // Exponent field and mantissa are one number: a normal's leading bit is the
  // exponent field's lowest, and a carry out of the mantissa is right as it is.
  int stepsAboveSubnormal = unit - unitExponent(format, 1 - format.exponentBias());
  double code = std::ldexp(stepsAboveSubnormal, format.mantissaBits) + units;
  return sign | static_cast<uint32_t>(std::fmin(code, format.overflowCode()));
}

template <typename T> static T load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T> static void store(void *element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

/// To nearest even; what T cannot hold becomes the nearest it can, NaN becomes 0.
template <typename T> static void storeInteger(void *element, double value) {
  using Limits = std::numeric_limits<T>;
  double rounded = std::nearbyint(value);
  // 2^digits: the first double beyond the range. Limits::max() is not a double
  // for the 64-bit types.
  if (rounded >= std::ldexp(1.0, Limits::digits))
    store(element, Limits::max());
  else if (rounded <= static_cast<double>(Limits::min()))
    store(element, Limits::min());
  else
    store(element, std::isnan(rounded) ? T(0) : static_cast<T>(rounded));
}

double toDouble(DataType type, const void *element) {
  switch (type) {
  case DataType::I8:
    return load<int8_t>(element);
  case DataType::U8:
    return load<uint8_t>(element);
  case DataType::I32:
    return load<int32_t>(element);
  case DataType::U32:
    return load<uint32_t>(element);
  case DataType::I64:
    return static_cast<double>(load<int64_t>(element));
  case DataType::U64:
    return static_cast<double>(load<uint64_t>(element));
  case DataType::F16:
    return decode(formatF16, load<uint16_t>(element));
  case DataType::F32:
    return load<float>(element);
  case DataType::F64:
    return load<double>(element);
  case DataType::BF16:
    return decode(formatBF16, load<uint16_t>(element));
  case DataType::F8E4M3:
    return decode(formatF8E4M3, load<uint8_t>(element));
  case DataType::F8E5M2:
    return decode(formatF8E5M2, load<uint8_t>(element));
  }
  __builtin_unreachable();
}

void fromDouble(DataType type, double value, void *element) {
  switch (type) {
  case DataType::I8:
    return storeInteger<int8_t>(element, value);
  case DataType::U8:
    return storeInteger<uint8_t>(element, value);
  case DataType::I32:
    return storeInteger<int32_t>(element, value);
  case DataType::U32:
    return storeInteger<uint32_t>(element, value);
  case DataType::I64:
    return storeInteger<int64_t>(element, value);
  case DataType::U64:
    return storeInteger<uint64_t>(element, value);
  case DataType::F16:
    return store<uint16_t>(element, encode(formatF16, value));
  case DataType::F32:
    return store(element, static_cast<float>(value));
  case DataType::F64:
    return store(element, value);
  case DataType::BF16:
    return store<uint16_t>(element, encode(formatBF16, value));
  case DataType::F8E4M3:
    return store<uint8_t>(element, encode(formatF8E4M3, value));
  case DataType::F8E5M2:
    return store<uint8_t>(element, encode(formatF8E5M2, value));
  }
  __builtin_unreachable();
}

} // namespace coil::cpu
