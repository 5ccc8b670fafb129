//===- StreamingCopy.h - A copy that bypasses the caches --------*- C++ -*-===//
//
// Included only by Kernels.h.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_CPU_STREAMINGCOPY_H
#define COIL_RUNTIME_KERNELS_CPU_STREAMINGCOPY_H

#include "runtime/kernels/cpu/Vectors.h"

namespace coil::cpu {
namespace {

#if defined(__x86_64__)
/// `to` is aligned to the vector.
COIL_INLINE void storeStreaming(char *to, U32 vector) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i *>(to), (__m512i)vector);
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i *>(to), (__m256i)vector);
#else
  _mm_stream_si128(reinterpret_cast<__m128i *>(to), (__m128i)vector);
#endif
}

void copyStreaming(void *destination, const void *source, size_t bytes) {
  constexpr size_t lineBytes = 64, stepBytes = 4 * lineBytes;
  char *to = static_cast<char *>(destination);
  const char *from = static_cast<const char *>(source);
  // Stores that bypass the cache cost least when they fill whole lines.
  size_t head = -reinterpret_cast<uintptr_t>(to) % lineBytes;
  if (bytes < head + stepBytes) {
    __builtin_memcpy(to, from, bytes);
    return;
  }
  __builtin_memcpy(to, from, head);
  size_t offset = head;
  for (; bytes - offset >= stepBytes; offset += stepBytes) {
    U32 vectors[stepBytes / vectorBytes];
    for (size_t v = 0; v < stepBytes / vectorBytes; ++v)
      vectors[v] = loadVector<U32>(from + offset + v * vectorBytes);
    for (size_t v = 0; v < stepBytes / vectorBytes; ++v)
      storeStreaming(to + offset + v * vectorBytes, vectors[v]);
  }
  // They are not ordered with the flag that will announce the data.
  _mm_sfence();
  __builtin_memcpy(to + offset, from + offset, bytes - offset);
}
#else
void copyStreaming(void *destination, const void *source, size_t bytes) {
  __builtin_memcpy(destination, source, bytes);
}
#endif

} // namespace
} // namespace coil::cpu

#endif // COIL_RUNTIME_KERNELS_CPU_STREAMINGCOPY_H
