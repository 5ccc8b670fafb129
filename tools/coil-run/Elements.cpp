//===- Elements.cpp - Single elements of every type -----------------------===//

#include "tools/coil-run/Elements.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace coil::run {

namespace {
constexpr FloatFormat f8e4m3{4, 3, false}, f8e5m2{5, 2, true}, f16{5, 10, true}, bf16{8, 7, true},
    f32{8, 23, true}, f64{11, 52, true};

/// All bits of a code but the sign.
uint64_t magnitudeMask(const FloatFormat &format) {
  return (uint64_t{1} << (format.exponentBits + format.mantissaBits)) - 1;
}

/// The smallest magnitude that is not finite: infinity's, or else NaN's.
uint64_t overflowCode(const FloatFormat &format) {
  return format.hasInfinity ? magnitudeMask(format) >> format.mantissaBits << format.mantissaBits
                            : magnitudeMask(format);
}

double decodeMagnitude(const FloatFormat &format, uint64_t magnitude) {
  auto exponent = static_cast<int>(magnitude >> format.mantissaBits);
  uint64_t hidden = uint64_t{1} << format.mantissaBits;
  uint64_t mantissa = magnitude & (hidden - 1);
  if (exponent > 0)
    mantissa |= hidden;
  else
    exponent = 1;
  return std::ldexp(static_cast<double>(mantissa),
                    exponent - 1 + format.minExponent() - format.mantissaBits);
}
} // namespace

double FloatFormat::largestExactInteger() const { return std::ldexp(1.0, mantissaBits + 1); }
double FloatFormat::largestFinite() const {
  return decodeMagnitude(*this, overflowCode(*this) - 1);
}
double FloatFormat::smallestSubnormal() const {
  return std::ldexp(1.0, minExponent() - mantissaBits);
}
double FloatFormat::unitRoundoff() const { return std::ldexp(1.0, -mantissaBits - 1); }

bool isFloat(DataType type) { return type >= DataType::F16; }
bool isSignedInteger(DataType type) {
  return type == DataType::I8 || type == DataType::I32 || type == DataType::I64;
}

const FloatFormat &floatFormat(DataType type) {
  assert(isFloat(type));
  switch (type) {
  case DataType::F8E4M3:
    return f8e4m3;
  case DataType::F8E5M2:
    return f8e5m2;
  case DataType::F16:
    return f16;
  case DataType::BF16:
    return bf16;
  case DataType::F32:
    return f32;
  default:
    return f64;
  }
}

static_assert(std::endian::native == std::endian::little, "codes are loaded by their low bytes");

uint64_t loadElement(DataType type, const std::byte *element) {
  uint64_t code = 0;
  std::memcpy(&code, element, sizeOf(type));
  return code;
}

void storeElement(DataType type, uint64_t code, std::byte *element) {
  std::memcpy(element, &code, sizeOf(type));
}

double decodeFloat(DataType type, uint64_t code) {
  if (type == DataType::F64)
    return std::bit_cast<double>(code);
  if (type == DataType::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(code));
  const FloatFormat &format = floatFormat(type);
  uint64_t magnitude = code & magnitudeMask(format);
  double value;
  if (magnitude < overflowCode(format))
    value = decodeMagnitude(format, magnitude);
  else if (format.hasInfinity && magnitude == overflowCode(format))
    value = std::numeric_limits<double>::infinity();
  else
    value = std::numeric_limits<double>::quiet_NaN();
  return magnitude == code ? value : -value;
}

uint64_t encodeFloat(DataType type, double value) {
  if (type == DataType::F64)
    return std::bit_cast<uint64_t>(value);
  if (type == DataType::F32)
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  const FloatFormat &format = floatFormat(type);
  uint64_t sign = std::signbit(value) ? magnitudeMask(format) + 1 : 0;
  if (std::isnan(value))
    return magnitudeMask(format);
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  if (magnitude > format.largestFinite() * 2)
    return sign | overflowCode(format);
  int exponent = std::max(std::ilogb(magnitude), format.minExponent());
  // The mantissa with its hidden bit, which adds one to the exponent's field; a
  // mantissa that rounds up to the next power of two carries into it likewise.
  double mantissa = std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
  uint64_t code = (static_cast<uint64_t>(exponent - format.minExponent()) << format.mantissaBits) +
                  static_cast<uint64_t>(mantissa);
  return sign | std::min(code, overflowCode(format));
}

uint64_t extendInteger(DataType type, uint64_t code) {
  if (!isSignedInteger(type))
    return code;
  size_t unused = 64 - 8 * sizeOf(type);
  return static_cast<uint64_t>(static_cast<int64_t>(code << unused) >> unused);
}

uint64_t truncateInteger(DataType type, uint64_t value) {
  return value & (~uint64_t{0} >> (64 - 8 * sizeOf(type)));
}

std::string describeElement(DataType type, uint64_t code) {
  if (isFloat(type))
    return fmt::format("{:.17g} (0x{:0{}x})", decodeFloat(type, code), code, 2 * sizeOf(type));
  if (isSignedInteger(type))
    return fmt::format("{}", static_cast<int64_t>(extendInteger(type, code)));
  return fmt::format("{}", code);
}

} // namespace coil::run
