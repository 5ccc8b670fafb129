//===- Tile.h - Which elements a chunk's tile holds -------------*- C++ -*-===//
//
// The rule of runtime/base/ChunkBounds.h: chunk j of a segment of `count` elements
// in k chunks holds the elements floor(j*count/k) up to floor((j+1)*count/k), and
// tile t of it at most `tileElements` of them from t * tileElements on. Exact for
// every count; what must be divided by the number of chunks is multiplied by its
// reciprocal.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_TILE_H
#define COIL_RUNTIME_KERNELS_DEVICE_TILE_H

#include "runtime/kernels/device/Chunking.h"
#include "runtime/kernels/device/Words.h"

namespace coil::device {

class Tiling {
public:
  /// `tileBegin` is the tile's number * `tileElements`.
  COIL_DEVICE Tiling(const Chunking &chunking, u64 tileElements, u64 tileBegin)
      : chunking(chunking), tileElements(tileElements), tileBegin(tileBegin) {}

  /// First element of chunk `chunk` of a segment; `chunk` may be their number.
  COIL_DEVICE u64 chunkBegin(u32 chunk) const {
    // Without a reciprocal, of one chunk, the dividend is 0, and so is the result.
    return chunking.shortChunk * chunk +
           divide(static_cast<u64>(chunking.longChunks) * chunk, chunking.reciprocal);
  }

  /// First element of the current tile of a chunk in a buffer of segments; may be
  /// anywhere if size() is 0.
  COIL_DEVICE u64 first(u32 chunk, u32 segment) const {
    return segment * chunking.count + chunkBegin(chunk) + tileBegin;
  }

  /// Elements of the current tile of a chunk.
  COIL_DEVICE u64 size(u32 chunk) const {
    u64 length = chunkBegin(chunk + 1) - chunkBegin(chunk);
    return tileBegin < length ? lesser(tileElements, length - tileBegin) : 0;
  }

private:
  Chunking chunking;
  u64 tileElements, tileBegin;
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_TILE_H
