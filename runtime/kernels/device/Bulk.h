//===- Bulk.h - Copies by the device's copying engine -----------*- C++ -*-===//
//
// The same as copyMemory() of Reduce.h, but by the engine that GPUs have from sm_90
// on: one thread starts copies of kibibytes into shared memory and out of it again,
// and the data goes through no register. For long copies; a short one is over
// sooner with copyMemory().
//
// Participants: all threads of the block, with the same arguments.
// Memory order: as Reduce.h's. What the copy reads, and what was done with its part
//   of shared memory, must be ordered before the call for every thread of the block;
//   what it wrote is ordered for others, of the block too, by a syncBlock() after it.
//   Until then nothing touches its part of shared memory.
// Alignment: any. Where source and destination agree modulo 16 and are aligned to the
//   element, all but a head and a tail of less than 16 bytes is copied in bulk; else,
//   and on devices without the engine, nothing is.
// Bounds: nothing outside of the elements is read or written. `destination` may be
//   exactly `source`, and not overlap it otherwise. Both are memory here or at a peer.
// Shared memory: bulkSharedBytes from `shared` on, aligned to bulkSharedAlignment.
//   What they hold before and after means nothing.
// Progress: waits for nobody but the engine.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_BULK_H
#define COIL_RUNTIME_KERNELS_DEVICE_BULK_H

#include "runtime/kernels/device/Reduce.h"

namespace coil::device {

/// Buffers in shared memory, used in turn, so that some are filled while others are
/// emptied: enough bytes on their way to hide the latency of a peer's memory.
inline constexpr u32 bulkBuffers = 4, bulkBufferBytes = 8192;

inline constexpr u32 bulkSharedAlignment = 128;
/// The buffers' barriers come first, in a line of their own.
inline constexpr u32 bulkSharedBytes = bulkSharedAlignment + bulkBuffers * bulkBufferBytes;
static_assert(bulkBuffers * sizeof(u64) <= bulkSharedAlignment && bulkBuffers > 1);

/// By one thread: `bytes` bytes, all multiples of 16. It knows of their end.
COIL_OUTLINED void bulkCopyVectors(u8 *destination, const u8 *source, u64 bytes, u8 *shared) {
  u64 *barriers = reinterpret_cast<u64 *>(shared);
  u64 pieces = (bytes + bulkBufferBytes - 1) / bulkBufferBytes;
  auto bufferOf = [&](u64 piece) {
    return shared + bulkSharedAlignment + piece % bulkBuffers * bulkBufferBytes;
  };
  auto sizeOf = [&](u64 piece) {
    return static_cast<u32>(lesser<u64>(bytes - piece * bulkBufferBytes, bulkBufferBytes));
  };
  auto load = [&](u64 piece) {
    startBulkLoad(bufferOf(piece), source + piece * bulkBufferBytes, sizeOf(piece),
                  barriers + piece % bulkBuffers);
  };

  beginBulkCopies(barriers, bulkBuffers);
  COIL_ROLLED
  for (u64 piece = 0; piece < bulkBuffers && piece < pieces; ++piece)
    load(piece);
  COIL_ROLLED
  for (u64 piece = 0; piece < pieces; ++piece) {
    awaitBulkLoad(barriers + piece % bulkBuffers, piece / bulkBuffers % 2);
    startBulkStore(destination + piece * bulkBufferBytes, bufferOf(piece), sizeOf(piece));
    // The last piece's store has had some time: its buffer is the next to be filled.
    u64 next = piece + bulkBuffers - 1;
    if (piece != 0 && next < pieces) {
      awaitBulkReads<1>();
      load(next);
    }
  }
  endBulkCopies(barriers, bulkBuffers);
}

/// destination[i] := source[i], for `count` elements, never scaled; the operator is the
/// one whose copies the kernel has already, and `terms` are theirs.
template <typename Element, typename Operator>
COIL_DEVICE inline void bulkCopyMemory(u8 *destination, const u8 *source, u64 count, u8 *shared,
                                       const Terms<Element> &terms) {
  Split split = {0, 0};
  if constexpr (forHopper)
    if (hasBulkCopies())
      split = splitElements<Element>(addressOf(destination),
                                     addressOf(destination) ^ addressOf(source), count);
  if (split.vectors == 0)
    return copyMemory<Element, Operator>(destination, source, false, count, terms);
  if constexpr (forHopper) {
    u64 head = split.head * sizeof(Element), middle = split.vectors * sizeof(Vector16);
    u64 end = head + middle;
    if (threadIndex() == 0)
      bulkCopyVectors(destination + head, source + head, middle, shared);
    copyMemory<Element, Operator>(destination, source, false, split.head, terms);
    copyMemory<Element, Operator>(destination + end, source + end, false,
                                  count - end / sizeof(Element), terms);
  }
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_BULK_H
