//===- TileTest.cpp - Tiles against the runtime's rule --------------------===//

#include "runtime/kernels/device/Tile.h"
#include "runtime/base/ChunkBounds.h"

#include <gtest/gtest.h>
#include <random>

namespace coil::test {
namespace {

using namespace coil::device;

void checkTiles(u64 count, u32 chunks, u64 tileElements, u64 tile, u32 chunk, u32 segment) {
  SCOPED_TRACE(testing::Message() << count << " elements, " << chunks << " chunks of "
                                  << tileElements << ", tile " << tile << ", chunk " << chunk);
  Tiling tiling(Chunking::of(count, chunks), tileElements, tile * tileElements);
  ElementRange expected =
      tileRange(count, chunks, u64(segment) * chunks + chunk, tileElements, tile);
  ASSERT_EQ(tiling.size(chunk), expected.size);
  ASSERT_EQ(tiling.chunkBegin(chunk), chunkBegin(count, chunks, chunk));
  if (expected.size != 0) {
    ASSERT_EQ(tiling.first(chunk, segment), expected.begin);
  }
}

TEST(TileTest, SmallCountsExhaustively) {
  for (u64 count = 0; count < 40; ++count)
    for (u32 chunks = 1; chunks < 12; ++chunks)
      for (u64 tileElements = 1; tileElements < 9; tileElements += 3)
        for (u64 tile = 0; tile < 4; ++tile)
          for (u32 chunk = 0; chunk < chunks; ++chunk)
            checkTiles(count, chunks, tileElements, tile, chunk, chunk % 3);
}

TEST(TileTest, AnyCountAndAnyNumberOfChunks) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    u64 count = random() >> (random() % 60 + 2);
    u32 chunks = static_cast<u32>(random() >> (32 + random() % 32)) / 2 + 1;
    u64 tileElements = (random() >> (random() % 50 + 12)) + 1;
    u64 tiles = tileCount(count, chunks, tileElements);
    u64 tile = random() % 4 == 0 ? tiles - 1 : random() % tiles;
    u32 chunk = random() % 4 == 0 ? chunks - 1 : static_cast<u32>(random() % chunks);
    checkTiles(count, chunks, tileElements, tile, chunk, 0);
  }
}

} // namespace
} // namespace coil::test
