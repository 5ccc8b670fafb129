//===- ChunkBoundsTest.cpp - Chunks and tiles partition a buffer ----------===//

#include "runtime/base/ChunkBounds.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace coil {
namespace {

__extension__ typedef unsigned __int128 Wide;

std::vector<uint64_t> countsAround(uint64_t chunks) {
  std::vector<uint64_t> counts{0,
                               1,
                               chunks - 1,
                               chunks,
                               chunks + 1,
                               2 * chunks + 1,
                               1000003,
                               (uint64_t(1) << 31) + 3,
                               (uint64_t(1) << 33) + 1,
                               std::numeric_limits<int64_t>::max() - 1,
                               std::numeric_limits<int64_t>::max()};
  return counts;
}

TEST(ChunkBoundsTest, ChunksPartitionTheSegmentEvenly) {
  for (uint64_t chunks : {1, 2, 3, 7, 8, 64, 1000, 4096})
    for (uint64_t count : countsAround(chunks)) {
      EXPECT_EQ(chunkBegin(count, chunks, 0), 0u);
      EXPECT_EQ(chunkBegin(count, chunks, chunks), count);
      for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
        uint64_t begin = chunkBegin(count, chunks, chunk);
        ASSERT_EQ(begin, static_cast<uint64_t>(Wide(chunk) * count / chunks));
        uint64_t end = chunkBegin(count, chunks, chunk + 1);
        ASSERT_LE(begin, end);
        uint64_t length = end - begin;
        ASSERT_TRUE(length == count / chunks || length == longestChunk(count, chunks))
            << length << " elements in chunk " << chunk << " of " << chunks << ", " << count;
        ASSERT_LE(longestChunk(count, chunks) - length, 1u);
      }
    }
}

TEST(ChunkBoundsTest, SomeChunkIsTheLongest) {
  for (uint64_t chunks : {1, 3, 8, 100})
    for (uint64_t count : countsAround(chunks)) {
      uint64_t longest = 0;
      for (uint64_t chunk = 0; chunk < chunks; ++chunk)
        longest = std::max(longest,
                           chunkBegin(count, chunks, chunk + 1) - chunkBegin(count, chunks, chunk));
      EXPECT_EQ(longest, longestChunk(count, chunks));
    }
}

TEST(ChunkBoundsTest, TilesPartitionEveryChunk) {
  constexpr uint64_t segments = 3;
  for (uint64_t chunks : {1, 2, 5, 8})
    for (uint64_t count :
         {uint64_t(0), uint64_t(1), chunks - 1, chunks, chunks + 1, uint64_t(1000), uint64_t(4099)})
      for (uint64_t tileElements : {1, 2, 7, 64, 1024, 1 << 20}) {
        uint64_t tiles = tileCount(count, chunks, tileElements);
        ASSERT_GE(tiles, 1u);
        uint64_t next = 0; // the chunks of all segments follow each other
        for (uint64_t index = 0; index < segments * chunks; ++index)
          for (uint64_t tile = 0; tile < tiles; ++tile) {
            ElementRange range = tileRange(count, chunks, index, tileElements, tile);
            ASSERT_EQ(range.begin, next);
            ASSERT_LE(range.size, tileElements);
            next += range.size;
          }
        ASSERT_EQ(next, segments * count);
      }
}

TEST(ChunkBoundsTest, TheLastTileIsNeverEmptyInTheLongestChunk) {
  for (uint64_t chunks : {1, 3, 8})
    for (uint64_t count : countsAround(chunks))
      for (uint64_t tileElements : {uint64_t(1) << 16, uint64_t(1) << 40}) {
        uint64_t tiles = tileCount(count, chunks, tileElements);
        uint64_t longest = longestChunk(count, chunks);
        EXPECT_GE(Wide(tiles) * tileElements, Wide(longest));
        if (longest != 0) {
          EXPECT_LT(Wide(tiles - 1) * tileElements, Wide(longest));
        }
      }
}

TEST(ChunkBoundsTest, TilesOfHugeChunksAreExact) {
  constexpr uint64_t count = std::numeric_limits<int64_t>::max(), chunks = 3;
  constexpr uint64_t tileElements = uint64_t(1) << 20;
  uint64_t tiles = tileCount(count, chunks, tileElements);
  for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
    ElementRange first = tileRange(count, chunks, chunk, tileElements, 0);
    ElementRange last = tileRange(count, chunks, chunk, tileElements, tiles - 1);
    EXPECT_EQ(first.begin, chunkBegin(count, chunks, chunk));
    EXPECT_EQ(first.size, tileElements);
    EXPECT_EQ(last.begin + last.size, chunkBegin(count, chunks, chunk + 1));
  }
}

} // namespace
} // namespace coil
