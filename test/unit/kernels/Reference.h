//===- Reference.h - What the kernels should compute ------------*- C++ -*-===//
//
// Plain scalar arithmetic, independent of the kernels: narrow floats are rounded
// by a search among all their values.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_UNIT_KERNELS_REFERENCE_H
#define COIL_TEST_UNIT_KERNELS_REFERENCE_H

#include "runtime/base/Types.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace coil::test {

using Bytes = std::vector<unsigned char>;

inline constexpr DataType allTypes[] = {DataType::I8,   DataType::U8,     DataType::I32,
                                        DataType::U32,  DataType::I64,    DataType::U64,
                                        DataType::F16,  DataType::F32,    DataType::F64,
                                        DataType::BF16, DataType::F8E4M3, DataType::F8E5M2};
inline constexpr DataType narrowTypes[] = {DataType::F16, DataType::BF16, DataType::F8E4M3,
                                           DataType::F8E5M2};
inline constexpr ReduceOp allOps[] = {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max,
                                      ReduceOp::Min, ReduceOp::Avg,  ReduceOp::PreMulSum};

bool isFloat(DataType type);

/// An element's bits, in the low bits of the result.
inline uint64_t loadBits(const void *element, size_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, size);
  return bits;
}

/// The value of a float's bits, exactly.
double valueOf(DataType type, uint64_t bits);
/// The bits of a float, rounded to nearest even from a double.
uint64_t bitsOf(DataType type, double value);

/// The reduction of whole arrays of `count` elements, in order.
Bytes reduceReference(DataType type, ReduceOp op, const std::vector<const void *> &sources,
                      size_t count, uint64_t divisor);
Bytes scaleReference(DataType type, const void *source, const void *scalar, size_t count);

/// Empty if the arrays are equal bit for bit, where all NaNs are equal; else
/// which element differs, and how.
std::string difference(DataType type, const void *found, const void *expected, size_t count);

/// Elements of any bits, or (numbers) integers and fractions of moderate size,
/// so that sums of floats stay finite.
enum class Fill { AnyBits, Numbers };
Bytes randomElements(DataType type, size_t count, Fill fill, std::mt19937_64 &random);

} // namespace coil::test

#endif // COIL_TEST_UNIT_KERNELS_REFERENCE_H
