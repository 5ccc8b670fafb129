//===- Vectors.h - Registers of the instruction set compiled for -*- C++ -*-===//
//
// Included only by what Kernels.h is made of. See KernelTable.h for why
// everything has internal linkage and nothing of the standard library is called.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_CPU_VECTORS_H
#define COIL_RUNTIME_KERNELS_CPU_VECTORS_H

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define COIL_INLINE inline __attribute__((always_inline))

namespace coil::cpu {
namespace {

#if defined(__AVX512F__)
constexpr size_t vectorBytes = 64;
#elif defined(__AVX2__)
constexpr size_t vectorBytes = 32;
#else
constexpr size_t vectorBytes = 16;
#endif

template <typename T> struct VectorOf {
  typedef T Type __attribute__((vector_size(vectorBytes)));
};
template <typename T> using Vector = typename VectorOf<T>::Type;

using F32 = Vector<float>;
using I32 = Vector<int32_t>;
using U32 = Vector<uint32_t>;

/// Any pointer will do; the aliasing rules do not hold for these accesses.
template <typename V> COIL_INLINE V loadVector(const char *from) {
  V vector;
  __builtin_memcpy(&vector, from, sizeof(V));
  return vector;
}

template <typename V> COIL_INLINE void storeVector(char *to, V vector) {
  __builtin_memcpy(to, &vector, sizeof(V));
}

} // namespace
} // namespace coil::cpu

#endif // COIL_RUNTIME_KERNELS_CPU_VECTORS_H
