//===- Tile.h - Which elements a chunk's tile holds -------------*- C++ -*-===//
//
// The rule of runtime/base/ChunkBounds.h: chunk j of a segment of `count` elements
// in k chunks holds the elements floor(j*count/k) up to floor((j+1)*count/k), and
// tile t of it at most `tileElements` of them from t * tileElements on. Exact for
// every count; the one division by a number that the compiler may not know is done
// once.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_TILE_H
#define COIL_RUNTIME_KERNELS_DEVICE_TILE_H

#include "runtime/kernels/device/Words.h"

namespace coil::device {

class Tiling {
public:
  /// `shortChunk` and `longChunks` are quotient and remainder of `count` by `chunks`,
  /// which is at least 1; `tileBegin` is the tile's number * `tileElements`.
  COIL_DEVICE Tiling(u64 count, u32 chunks, u64 shortChunk, u32 longChunks, u64 tileElements,
                     u64 tileBegin)
      : count(count), chunks(chunks), shortChunk(shortChunk), longChunks(longChunks),
        tileElements(tileElements), tileBegin(tileBegin) {}

  /// First element of chunk `chunk` of a segment; `chunk` may be `chunks`.
  COIL_DEVICE u64 chunkBegin(u32 chunk) const {
    // Both factors are at most `chunks`.
    u64 extra = chunks <= 0xffff ? static_cast<u64>(longChunks * chunk / chunks)
                                 : static_cast<u64>(longChunks) * chunk / chunks;
    return shortChunk * chunk + extra;
  }

  /// First element of the current tile of a chunk in a buffer of segments; may be
  /// anywhere if size() is 0.
  COIL_DEVICE u64 first(u32 chunk, u32 segment) const {
    return segment * count + chunkBegin(chunk) + tileBegin;
  }

  /// Elements of the current tile of a chunk.
  COIL_DEVICE u64 size(u32 chunk) const {
    u64 length = chunkBegin(chunk + 1) - chunkBegin(chunk);
    return tileBegin < length ? lesser(tileElements, length - tileBegin) : 0;
  }

private:
  u64 count;
  u32 chunks;
  u64 shortChunk;
  u32 longChunks;
  u64 tileElements, tileBegin;
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_TILE_H
