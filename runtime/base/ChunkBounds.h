//===- ChunkBounds.h - Which elements a chunk and a tile hold ----*- C++ -*-===//
//
// A buffer is segments of `count` elements, each cut into `chunks` chunks:
// chunk j of a segment holds the elements floor(j*count/chunks) up to
// floor((j+1)*count/chunks). A tile is a slice of every chunk at once.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BASE_CHUNKBOUNDS_H
#define COIL_RUNTIME_BASE_CHUNKBOUNDS_H

#include <algorithm>
#include <cstdint>

namespace coil {

/// First element of chunk `chunk` in a segment of `count` elements cut into
/// `chunks` chunks; `chunk` may be `chunks`, for the end. Exact for every
/// count: no product exceeds `count + chunks * chunks`.
constexpr uint64_t chunkBegin(uint64_t count, uint64_t chunks, uint64_t chunk) {
  return count / chunks * chunk + count % chunks * chunk / chunks;
}

/// Elements of the longest chunk.
constexpr uint64_t longestChunk(uint64_t count, uint64_t chunks) {
  return count / chunks + (count % chunks != 0);
}

/// Number of tiles of at most `tileElements` elements a chunk; at least one, so
/// that a call with count 0 still meets its peers.
constexpr uint64_t tileCount(uint64_t count, uint64_t chunks, uint64_t tileElements) {
  uint64_t longest = longestChunk(count, chunks);
  return longest == 0 ? 1 : (longest - 1) / tileElements + 1;
}

/// A run of elements.
struct ElementRange {
  uint64_t begin;
  uint64_t size;
};

/// The elements of tile `tile` of buffer chunk `index` (which counts over all
/// segments: segment index / chunks, chunk index % chunks of it).
constexpr ElementRange tileRange(uint64_t count, uint64_t chunks, uint64_t index,
                                 uint64_t tileElements, uint64_t tile) {
  uint64_t segment = index / chunks, chunk = index % chunks;
  uint64_t begin = chunkBegin(count, chunks, chunk);
  uint64_t length = chunkBegin(count, chunks, chunk + 1) - begin;
  uint64_t first = std::min(tile * tileElements, length);
  return {segment * count + begin + first, std::min(tileElements, length - first)};
}

} // namespace coil

#endif // COIL_RUNTIME_BASE_CHUNKBOUNDS_H
