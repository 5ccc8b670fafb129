//===- Places.h - Where operands lie ----------------------------*- C++ -*-===//
//
// A program's calls name places by the plan's numbers. Addresses are found from them
// where an operation begins, not where it is called: so a call is a few constants,
// and kernels of long programs stay small, quick to compile, and in registers.
//
// Participants: any thread.
// Memory order: reads what enterCall() and bindPeer() left in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_PLACES_H
#define COIL_RUNTIME_KERNELS_DEVICE_PLACES_H

#include "runtime/kernels/device/Block.h"
#include "runtime/kernels/device/Tile.h"

namespace coil::device {

/// The current tile of a chunk, or a message that has come.
struct Place {
  enum Kind : u32 { Input, Output, Scratch, PeerInput, PeerOutput, PeerScratch, Head };

  Kind kind;
  u32 slot;    ///< of the bound peer; of PeerScratch the rank, of Head the receiving end
  u32 chunk;   ///< in the segment; of scratch its index
  u32 segment; ///< of an input or output
};

/// A tile of every chunk.
template <typename Element> class TileView {
public:
  /// Tile number `tile`.
  COIL_DEVICE explicit TileView(u64 tile)
      : tiling(blockFacts().chunking, blockFacts().tileElements, tile * blockFacts().tileElements) {
  }

  /// Elements of chunk `chunk` in the tile.
  COIL_DEVICE u64 size(u32 chunk) const { return tiling.size(chunk); }

  /// Of a place that is no head; nobody writes to a rank's input by it.
  COIL_DEVICE u8 *address(const Place &place) const {
    const BlockFacts &facts = blockFacts();
    if (place.kind == Place::Scratch)
      return facts.scratch + place.chunk * facts.tileBytes;
    if (place.kind == Place::PeerScratch) {
      const RankState &state = *facts.state;
      return state.scratch[place.slot] +
             (facts.instance * state.scratchChunks + place.chunk) * state.tileBytes;
    }
    u8 *buffer = place.kind == Place::Input       ? const_cast<u8 *>(facts.input)
                 : place.kind == Place::Output    ? facts.output
                 : place.kind == Place::PeerInput ? boundPeer(place.slot).input
                                                  : boundPeer(place.slot).output;
    return buffer + tiling.first(place.chunk, place.segment) * sizeof(Element);
  }

private:
  Tiling tiling;
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_PLACES_H
