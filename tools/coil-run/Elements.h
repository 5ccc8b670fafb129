//===- Elements.h - Single elements of every type ---------------*- C++ -*-===//
//
// What the element types mean, written once more: results are checked without
// any code of the runtime that computed them. An element's code is its bits,
// zero-extended to 64.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TOOLS_COIL_RUN_ELEMENTS_H
#define COIL_TOOLS_COIL_RUN_ELEMENTS_H

#include "runtime/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace coil::run {

/// A binary float of at most 64 bits: sign, exponent, mantissa.
struct FloatFormat {
  int exponentBits;
  int mantissaBits;
  /// Without, the code of all ones is NaN and what overflows becomes NaN.
  bool hasInfinity;

  /// The exponent of the smallest normal number, 2 ^ minExponent.
  int minExponent() const { return 2 - (1 << (exponentBits - 1)); }
  /// Every whole number up to this one is an exact value.
  double largestExactInteger() const;
  double largestFinite() const;
  double smallestSubnormal() const;
  /// The most that one rounding to nearest changes a normal number, relatively.
  double unitRoundoff() const;
};

bool isFloat(DataType type);
bool isSignedInteger(DataType type);
/// Requires isFloat(type).
const FloatFormat &floatFormat(DataType type);

/// `element` may be unaligned.
uint64_t loadElement(DataType type, const std::byte *element);
void storeElement(DataType type, uint64_t code, std::byte *element);

/// Requires isFloat(type).
double decodeFloat(DataType type, uint64_t code);
/// Rounds to nearest, ties to even; requires isFloat(type).
uint64_t encodeFloat(DataType type, double value);

/// The value of an integer type's code, as the bits of an int64_t or uint64_t:
/// signed types are sign-extended. Requires an integer type.
uint64_t extendInteger(DataType type, uint64_t code);
/// The low bits of `value` that the type has.
uint64_t truncateInteger(DataType type, uint64_t value);

/// For people: "-3", "0.1 (0x3dcccccd)".
std::string describeElement(DataType type, uint64_t code);

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_ELEMENTS_H
