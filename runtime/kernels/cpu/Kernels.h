//===- Kernels.h - The loops, compiled once an instruction set --*- C++ -*-===//
//
// Included only by Kernels<InstructionSet>.cpp, whose compiler options say which
// instructions there are. Each of them exports makeKernels' table, nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_CPU_KERNELS_H
#define COIL_RUNTIME_KERNELS_CPU_KERNELS_H

#include "runtime/kernels/cpu/Elements.h"
#include "runtime/kernels/cpu/IntegerDivision.h"
#include "runtime/kernels/cpu/KernelTable.h"
#include "runtime/kernels/cpu/StreamingCopy.h"

namespace coil::cpu {
namespace {

/// Vectors a loop step handles: enough to hide latencies, few enough that all
/// accumulators stay in registers.
template <typename E> constexpr int vectorsPerStep = 4 / E::Sum::numParts;

/// Below this many bytes, aligning the destination costs more than it gains.
constexpr size_t alignFrom = 2048;

/// Calls `step` for every byte offset of [begin, end): step.full<vectors>(offset)
/// for whole vectors, step.part(offset, size) for fewer bytes than a vector.
/// Where it pays, a part comes first so that stores are aligned.
template <typename E, typename Step>
COIL_INLINE void forEachVector(const Step &step, size_t begin, size_t end) {
  constexpr size_t stepBytes = vectorsPerStep<E> * vectorBytes;
  size_t offset = begin;
  size_t head = -reinterpret_cast<uintptr_t>(step.destination + begin) % vectorBytes;
  if (end - begin >= alignFrom && head != 0 && head % E::size == 0) {
    step.part(offset, head);
    offset += head;
  }
  for (; end - offset >= stepBytes; offset += stepBytes)
    step.template full<vectorsPerStep<E>>(offset);
  for (; end - offset >= vectorBytes; offset += vectorBytes)
    step.template full<1>(offset);
  if (offset != end)
    step.part(offset, end - offset);
}

#if defined(__AVX512BW__)
/// Selects as many bytes of a vector, which are fewer than it has.
COIL_INLINE __mmask64 firstBytes(size_t bytes) { return (__mmask64(1) << bytes) - 1; }
#endif

/// Less than a vector, from memory that ends there; the other lanes are zero.
template <typename E> COIL_INLINE typename E::Sum loadPart(const char *from, size_t bytes) {
#if defined(__AVX512BW__)
  U32 staged = (U32)_mm512_maskz_loadu_epi8(firstBytes(bytes), from);
#else
  U32 staged = {};
  __builtin_memcpy(&staged, from, bytes);
#endif
  return E::load(reinterpret_cast<const char *>(&staged));
}

template <typename E>
COIL_INLINE void storePart(char *to, const typename E::Sum &sum, size_t bytes) {
  U32 staged;
  E::store(reinterpret_cast<char *>(&staged), sum);
#if defined(__AVX512BW__)
  _mm512_mask_storeu_epi8(to, firstBytes(bytes), (__m512i)staged);
#else
  __builtin_memcpy(to, &staged, bytes);
#endif
}

/// All sources of one place are read before it is written, so the destination
/// may be any of the sources. `fixedCount` is the number of sources, 0 for any.
template <typename E, ReduceOp op, bool divides, size_t fixedCount> struct ReduceStep {
  using Sum = typename E::Sum;
  char *destination;
  const char *const *sources;
  size_t sourceCount;
  typename E::Lane divisor;

  template <int vectors> COIL_INLINE void full(size_t offset) const {
    Sum sums[vectors];
    for (int v = 0; v < vectors; ++v)
      sums[v] = E::load(sources[0] + offset + v * vectorBytes);
    for (size_t s = 1; s < count(); ++s) {
      const char *source = sources[s] + offset;
      for (int v = 0; v < vectors; ++v)
        combine<op, E>(sums[v], E::load(source + v * vectorBytes));
    }
    for (int v = 0; v < vectors; ++v)
      E::store(destination + offset + v * vectorBytes, finish(sums[v]));
  }

  COIL_INLINE void part(size_t offset, size_t bytes) const {
    Sum sum = loadPart<E>(sources[0] + offset, bytes);
    for (size_t s = 1; s < count(); ++s)
      combine<op, E>(sum, loadPart<E>(sources[s] + offset, bytes));
    storePart<E>(destination + offset, finish(sum), bytes);
  }

private:
  COIL_INLINE size_t count() const { return fixedCount ? fixedCount : sourceCount; }
  COIL_INLINE Sum finish(Sum sum) const {
    if constexpr (divides)
      for (int p = 0; p < Sum::numParts; ++p)
        sum.part[p] /= divisor;
    return sum;
  }
};

/// What the kernels' arguments come to, in bytes.
struct Operands {
  char *destination;
  const char *const *sources;
  size_t sourceCount;
};

COIL_INLINE Operands operands(void *destination, const void *const *sources, size_t sourceCount) {
  return {static_cast<char *>(destination), reinterpret_cast<const char *const *>(sources),
          sourceCount};
}

/// The bytes [begin, end) of a reduction, begin < end.
template <typename E, ReduceOp op, bool divides>
void reduceRange(Operands on, size_t begin, size_t end, typename E::Lane divisor) {
  if (on.sourceCount == 2) {
    // Held in registers: the compiler cannot know that stores leave them alone.
    const char *const pair[2] = {on.sources[0], on.sources[1]};
    forEachVector<E>(ReduceStep<E, op, divides, 2>{on.destination, pair, 2, divisor}, begin, end);
  } else if (on.sourceCount == 1 && !divides) {
    if (on.destination != on.sources[0])
      __builtin_memcpy(on.destination + begin, on.sources[0] + begin, end - begin);
  } else {
    forEachVector<E>(
        ReduceStep<E, op, divides, 0>{on.destination, on.sources, on.sourceCount, divisor}, begin,
        end);
  }
}

template <typename E, ReduceOp op>
void reduce(void *destination, const void *const *sources, size_t sourceCount, size_t count,
            ReduceEpilogue) {
  if (count != 0)
    reduceRange<E, op, false>(operands(destination, sources, sourceCount), 0, count * E::size, 1);
}

template <typename E>
void averageFloats(void *destination, const void *const *sources, size_t sourceCount, size_t count,
                   ReduceEpilogue epilogue) {
  using Lane = typename E::Lane;
  if (epilogue.divisor <= 1)
    reduce<E, ReduceOp::Sum>(destination, sources, sourceCount, count, epilogue);
  else if (count != 0)
    reduceRange<E, ReduceOp::Sum, true>(operands(destination, sources, sourceCount), 0,
                                        count * E::size, Lane(epilogue.divisor));
}

template <typename T>
void averageIntegers(void *destination, const void *const *sources, size_t sourceCount,
                     size_t count, ReduceEpilogue epilogue) {
  using Element = Plain<std::make_unsigned_t<T>>;
  // The division meets each block while it is still in the first-level cache.
  constexpr size_t blockBytes = 8192;
  Operands on = operands(destination, sources, sourceCount);
  size_t end = count * sizeof(T);
  for (size_t begin = 0, size; begin != end; begin += size) {
    size = end - begin < blockBytes ? end - begin : blockBytes;
    reduceRange<Element, ReduceOp::Sum, false>(on, begin, begin + size, 1);
    if (epilogue.divisor > 1)
      divideIntegers<T>(on.destination + begin, size / sizeof(T), epilogue.divisor);
  }
}

template <typename E> struct ScaleStep {
  using Sum = typename E::Sum;
  char *destination;
  const char *source;
  typename E::Lane scalar;

  template <int vectors> COIL_INLINE void full(size_t offset) const {
    for (int v = 0; v < vectors; ++v) {
      size_t at = offset + v * vectorBytes;
      E::store(destination + at, scaled(E::load(source + at)));
    }
  }
  COIL_INLINE void part(size_t offset, size_t bytes) const {
    storePart<E>(destination + offset, scaled(loadPart<E>(source + offset, bytes)), bytes);
  }

private:
  COIL_INLINE Sum scaled(Sum values) const {
    for (int p = 0; p < Sum::numParts; ++p)
      values.part[p] *= scalar;
    return values;
  }
};

template <typename E>
void scale(void *destination, const void *source, const void *scalar, size_t count) {
  if (count == 0)
    return;
  typename E::Sum factor = loadPart<E>(static_cast<const char *>(scalar), E::size);
  forEachVector<E>(ScaleStep<E>{static_cast<char *>(destination), static_cast<const char *>(source),
                                factor.part[0][0]},
                   0, count * E::size);
}

/// Fills in the rows of `type`, whose values are added and multiplied as `E`.
template <typename E, typename MaxElement, typename MinElement>
constexpr void addType(KernelTable &table, DataType type, ReduceKernel average) {
  ReduceKernel *row = table.reduce[static_cast<int>(type)];
  row[static_cast<int>(ReduceOp::Sum)] = reduce<E, ReduceOp::Sum>;
  row[static_cast<int>(ReduceOp::Prod)] = reduce<E, ReduceOp::Prod>;
  row[static_cast<int>(ReduceOp::Max)] = reduce<MaxElement, ReduceOp::Max>;
  row[static_cast<int>(ReduceOp::Min)] = reduce<MinElement, ReduceOp::Min>;
  row[static_cast<int>(ReduceOp::Avg)] = average;
  row[static_cast<int>(ReduceOp::PreMulSum)] = reduce<E, ReduceOp::Sum>;
  table.scale[static_cast<int>(type)] = scale<E>;
}

/// Sums and products are of unsigned integers, which wrap.
template <typename T> constexpr void addInteger(KernelTable &table, DataType type) {
  addType<Plain<std::make_unsigned_t<T>>, Plain<T>, Plain<T>>(table, type, averageIntegers<T>);
}

template <typename T> constexpr void addFloat(KernelTable &table, DataType type) {
  addType<Plain<T>, Plain<T>, Plain<T>>(table, type, averageFloats<Plain<T>>);
}

template <NarrowFormat format> constexpr void addNarrow(KernelTable &table, DataType type) {
  addType<Narrow<format>, Ordered<format, ReduceOp::Max>, Ordered<format, ReduceOp::Min>>(
      table, type, averageFloats<Narrow<format>>);
}

consteval KernelTable makeKernels(const char *name) {
  KernelTable table{};
  table.name = name;
  addInteger<int8_t>(table, DataType::I8);
  addInteger<uint8_t>(table, DataType::U8);
  addInteger<int32_t>(table, DataType::I32);
  addInteger<uint32_t>(table, DataType::U32);
  addInteger<int64_t>(table, DataType::I64);
  addInteger<uint64_t>(table, DataType::U64);
  addFloat<float>(table, DataType::F32);
  addFloat<double>(table, DataType::F64);
  addNarrow<formatF16>(table, DataType::F16);
  addNarrow<formatBF16>(table, DataType::BF16);
  addNarrow<formatF8E4M3>(table, DataType::F8E4M3);
  addNarrow<formatF8E5M2>(table, DataType::F8E5M2);
  table.copyStreaming = copyStreaming;
  return table;
}

} // namespace
} // namespace coil::cpu

#endif // COIL_RUNTIME_KERNELS_CPU_KERNELS_H
