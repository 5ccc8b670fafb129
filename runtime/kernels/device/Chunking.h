//===- Chunking.h - How a segment falls into chunks -------------*- C++ -*-===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_CHUNKING_H
#define COIL_RUNTIME_KERNELS_DEVICE_CHUNKING_H

#include "runtime/kernels/device/Reciprocal.h"

namespace coil::device {

/// The chunks of a segment.
struct Chunking {
  u64 count;             ///< elements of a segment
  u64 shortChunk;        ///< count / chunks
  u32 longChunks;        ///< count % chunks
  Reciprocal reciprocal; ///< of chunks, if there are two or more

  /// `chunks` is at least 1.
  COIL_HOST_DEVICE static Chunking of(u64 count, u32 chunks) {
    Chunking chunking = {count, count / chunks, static_cast<u32>(count % chunks), {0, 0}};
    if (chunks > 1)
      chunking.reciprocal = reciprocalOf(chunks);
    return chunking;
  }
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_CHUNKING_H
