//===- Reduce.h - Element-wise kernels of the CPU executor ------*- C++ -*-===//
//
// Copies, n-ary reductions and scaling over contiguous elements, for every
// element type and operator, in versions for several instruction sets of which
// the best that this machine has is chosen once, at run time.
//
// Rules shared by all kernels:
//  - Pointers may be unaligned, even to the element. A count of 0 is a no-op and
//    its pointers may be null.
//  - `destination` may be exactly one of the sources; any other overlap is the
//    caller's error.
//  - Reductions combine left to right: ((s0 + s1) + s2) ... f16, bf16, f8e4m3 and
//    f8e5m2 accumulate in f32 and are rounded once, to nearest even, at the end.
//    Integers wrap. min and max return NaN if any operand is NaN, and take +0 to
//    be greater than -0.
//  - Every instruction set gives the same bits, but for NaN: any NaN is as good
//    as another. Subnormals are kept, and products and sums are never fused.
//  - Floats round to nearest even and overflow to infinity; f8e4m3 (OCP's "fn"),
//    which has none, overflows to NaN.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_CPU_REDUCE_H
#define COIL_RUNTIME_KERNELS_CPU_REDUCE_H

#include "runtime/base/Types.h"

#include <cstddef>
#include <cstdint>

namespace coil::cpu {

/// How a reduction ends. `divisor` is 1 but for Avg on the statement that makes
/// the value complete, where it is the number of ranks: integers are divided
/// towards zero after the wrapped sum; floats in the accumulation type, before
/// the one rounding. Only Avg's kernels read it; they take 0 to be 1.
struct ReduceEpilogue {
  uint64_t divisor = 1;
};

/// destination[i] = ((sources[0][i] + sources[1][i]) + ...) / epilogue.divisor.
/// At least one source. Avg and PreMulSum combine as Sum does.
using ReduceKernel = void (*)(void *destination, const void *const *sources, size_t sourceCount,
                              size_t count, ReduceEpilogue epilogue);

/// destination[i] = source[i] * scalar, rounded to the type once; `scalar`
/// points to one element of the same type (possibly unaligned).
using ScaleKernel = void (*)(void *destination, const void *source, const void *scalar,
                             size_t count);

/// The kernel for a type and an operator on this machine; never null. Look it
/// up once a call, not once a tile.
ReduceKernel reduceKernel(DataType type, ReduceOp op);
ScaleKernel scaleKernel(DataType type);

/// Copies `bytes` bytes. `streaming` asks for stores that bypass the caches, for
/// data that will not be read again soon; a matter of speed only.
void copyBytes(void *destination, const void *source, size_t bytes, bool streaming = false);

/// Name of the instruction set in use: "baseline", "avx2" or "avx512". The
/// environment variable COIL_CPU_ISA, read once, lowers it to one of these names;
/// anything else that it says, and what the machine lacks, is ignored.
const char *activeIsa();

/// One element converted to and from double, exactly as the kernels convert
/// (from double: rounded to nearest even, in one step; f8e4m3 becomes NaN where
/// that is beyond its largest finite value, 448). Integers that the type cannot
/// hold become the nearest that it can, and NaN becomes 0. For checks and
/// printing, not for speed. 64-bit integers beyond 2^53 lose digits. `element`
/// may be unaligned.
double toDouble(DataType type, const void *element);
void fromDouble(DataType type, double value, void *element);

} // namespace coil::cpu

#endif // COIL_RUNTIME_KERNELS_CPU_REDUCE_H
