//===- Types.h - Element types, operators and collectives -------*- C++ -*-===//
//
// The words that the plan format, the executors and the C API share. Values are
// part of the C API and of the plan format: add at the end, never renumber.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BASE_TYPES_H
#define COIL_RUNTIME_BASE_TYPES_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace coil {

enum class DataType : uint8_t { I8, U8, I32, U32, I64, U64, F16, F32, F64, BF16, F8E4M3, F8E5M2 };
inline constexpr int numDataTypes = 12;

/// `PreMulSum` multiplies each rank's input by that rank's scalar before the
/// sum; `Avg` divides the complete sum by the number of ranks, once.
enum class ReduceOp : uint8_t { Sum, Prod, Max, Min, Avg, PreMulSum };
inline constexpr int numReduceOps = 6;

enum class Collective : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  AllToAll,
  SendRecv,
  Barrier,
  Custom
};
inline constexpr int numCollectives = 11;

/// Bytes of one element.
size_t sizeOf(DataType type);

/// The names users type and read: "f32", "bf16", "sum", "all_reduce"...
std::string_view nameOf(DataType type);
std::string_view nameOf(ReduceOp op);
/// As the language writes it: "allreduce", "reduce_scatter".
std::string_view nameOf(Collective collective);

std::optional<DataType> parseDataType(std::string_view name);
std::optional<ReduceOp> parseReduceOp(std::string_view name);
std::optional<Collective> parseCollective(std::string_view name);

/// True if the collective combines values, so that an operator matters.
bool combines(Collective collective);
/// True if the collective has a root rank.
bool hasRoot(Collective collective);

/// Segments of `count` elements in the input and output of one rank, where
/// `count` is the number that the C API's call takes.
struct SegmentCounts {
  int64_t input;
  int64_t output;
};
/// Broadcast, Reduce, AllReduce, SendRecv, Barrier: 1 and 1. AllGather: 1 and P.
/// ReduceScatter: P and 1. AllToAll: P and P. Gather: 1 and P (root's output).
/// Scatter: P (root's input) and 1.
SegmentCounts segmentCounts(Collective collective, int64_t ranks);
/// The same for one rank, with 0 for a buffer that it does not have: only the root
/// has an input in Broadcast and Scatter, and an output in Reduce and Gather.
SegmentCounts segmentCounts(Collective collective, int64_t ranks, bool isRoot);

} // namespace coil

#endif // COIL_RUNTIME_BASE_TYPES_H
