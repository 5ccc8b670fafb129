//===- Sizes.h - Message sizes as users write them --------------*- C++ -*-===//
//
// "64M", "1K:64M", "1K:64M:x4", "0:1M:+64K" and lists of them, and what a size in bytes means
// for each collective.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TOOLS_COIL_RUN_SIZES_H
#define COIL_TOOLS_COIL_RUN_SIZES_H

#include "runtime/base/Status.h"
#include "runtime/base/Types.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace coil::run {

/// The largest size or count that is taken.
inline constexpr uint64_t largestSize = uint64_t{1} << 50;
/// The most sizes that a list may have.
inline constexpr size_t mostSizes = 100000;

/// A whole number, perhaps followed by K, M, G or T (powers of 1024), perhaps by
/// B or iB ("4K", "4KB" and "4KiB" are all 4096); upper or lower case.
Result<uint64_t> parseSize(std::string_view text);

/// The sizes of a comma-separated list of SIZE, FROM:TO (doubling),
/// FROM:TO:xFACTOR and FROM:TO:+STEP, in the order of the list; at least one. TO is
/// among them only if a step meets it.
Result<std::vector<uint64_t>> parseSizes(std::string_view text);

/// The count to call a collective with whose buffers have these segments, for a vector of at most
/// `bytes` bytes: the vector is what the longer of the two buffers holds, as in nccl-tests, so it
/// is divided among the ranks for all-gather and reduce-scatter.
uint64_t countForBytes(SegmentCounts segments, DataType type, uint64_t bytes);

/// Bytes of that vector for a count.
uint64_t bytesForCount(SegmentCounts segments, DataType type, uint64_t count);

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_SIZES_H
