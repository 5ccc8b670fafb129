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
  /// `chunks` is at least 1.
  COIL_DEVICE Tiling(u64 count, u32 chunks, u64 tileElements)
      : count(count), chunks(chunks), each(count / chunks), left(count % chunks),
        tileElements(tileElements) {}

  /// First element of chunk `chunk` of a segment; `chunk` may be `chunks`.
  COIL_DEVICE u64 chunkBegin(u32 chunk) const {
    // Both factors are at most `chunks`.
    u64 extra = chunks <= 0xffff ? static_cast<u64>(left * chunk / chunks)
                                 : static_cast<u64>(left) * chunk / chunks;
    return each * chunk + extra;
  }

  COIL_DEVICE void setTile(u64 tile) { begin = tile * tileElements; }

  /// First element of the current tile of a chunk in a buffer of segments; may be
  /// anywhere if size() is 0.
  COIL_DEVICE u64 first(u32 chunk, u32 segment) const {
    return segment * count + chunkBegin(chunk) + begin;
  }

  /// Elements of the current tile of a chunk.
  COIL_DEVICE u64 size(u32 chunk) const {
    u64 length = chunkBegin(chunk + 1) - chunkBegin(chunk);
    return begin < length ? lesser(tileElements, length - begin) : 0;
  }

private:
  u64 count;
  u32 chunks;
  u64 each;
  u32 left;
  u64 tileElements;
  u64 begin = 0;
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_TILE_H
