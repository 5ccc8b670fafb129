//===- PlatformCuda.h - The seam's side on a GPU ----------------*- C++ -*-===//
//
// What Platform.h promises, in PTX: sm_70 and later, whose memory model PTX
// states. Every access to memory that other blocks share is one instruction of
// the strength that it says, so no fence stands alone; data is read through the
// ordinary path, never through .nc, which the model leaves out.
//
// All addresses are of global memory (mapped host memory included), but for
// sharedMemory() and what is said to be shared.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_PLATFORMCUDA_H
#define COIL_RUNTIME_KERNELS_DEVICE_PLATFORMCUDA_H

#include "runtime/kernels/device/Platform.h"

#include "runtime/kernels/device/SharedLayout.h"

#define COIL_DEVICE __device__ __attribute__((always_inline))
/// A function too big to be repeated where it is called.
#define COIL_OUTLINED __device__ inline __attribute__((noinline))
/// Before a loop of constant length: its body repeated.
#define COIL_UNROLL _Pragma("unroll")
/// Before a loop: its body once, to save registers.
#define COIL_ROLLED _Pragma("unroll 1")
#define COIL_KERNEL __global__ __launch_bounds__(coil::device::mostBlockThreads, 1)
#define COIL_GRID_CONSTANT __grid_constant__

namespace coil::device {

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

COIL_DEVICE inline u32 threadIndex() { return threadIdx.x; }
COIL_DEVICE inline u32 blockThreads() { return blockDim.x; }
COIL_DEVICE inline u32 blockIndex() { return blockIdx.x; }
COIL_DEVICE inline u32 laneIndex() { return threadIdx.x % 32; }

COIL_DEVICE inline u8 *sharedMemory() {
  extern __shared__ __align__(128) u8 dynamicSharedMemory[];
  return dynamicSharedMemory;
}

COIL_DEVICE inline void syncBlock() { __syncthreads(); }
COIL_DEVICE inline bool syncBlockOr(bool mine) { return __syncthreads_or(mine) != 0; }
COIL_DEVICE inline void syncWarp() { __syncwarp(); }
COIL_DEVICE inline bool anyInWarp(bool mine) { return __any_sync(0xffffffffu, mine) != 0; }

//===----------------------------------------------------------------------===//
// Words that order
//===----------------------------------------------------------------------===//

template <Scope scope> COIL_DEVICE inline u64 loadAcquire(const u64 *address) {
  u64 value;
  if constexpr (scope == Scope::Block)
    asm volatile("ld.acquire.cta.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  else if constexpr (scope == Scope::Device)
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  else
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

template <Scope scope> COIL_DEVICE inline u64 loadRelaxed(const u64 *address) {
  u64 value;
  if constexpr (scope == Scope::Block)
    asm volatile("ld.relaxed.cta.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  else if constexpr (scope == Scope::Device)
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  else
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

template <Scope scope> COIL_DEVICE inline void storeRelease(u64 *address, u64 value) {
  if constexpr (scope == Scope::Block)
    asm volatile("st.release.cta.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
  else if constexpr (scope == Scope::Device)
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
  else
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

template <Scope scope> COIL_DEVICE inline void storeRelaxed(u64 *address, u64 value) {
  if constexpr (scope == Scope::Block)
    asm volatile("st.relaxed.cta.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
  else if constexpr (scope == Scope::Device)
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
  else
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

template <Scope scope> COIL_DEVICE inline u64 addAcquireRelease(u64 *address, u64 value) {
  u64 before;
  if constexpr (scope == Scope::Block)
    asm volatile("atom.acq_rel.cta.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(address), "l"(value)
                 : "memory");
  else if constexpr (scope == Scope::Device)
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(address), "l"(value)
                 : "memory");
  else
    asm volatile("atom.acq_rel.sys.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(address), "l"(value)
                 : "memory");
  return before;
}

template <Scope scope>
COIL_DEVICE inline bool compareAndSwap(u64 *address, u64 expected, u64 desired) {
  u64 before;
  if constexpr (scope == Scope::Block)
    asm volatile("atom.relaxed.cta.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(address), "l"(expected), "l"(desired)
                 : "memory");
  else if constexpr (scope == Scope::Device)
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(address), "l"(expected), "l"(desired)
                 : "memory");
  else
    asm volatile("atom.relaxed.sys.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(address), "l"(expected), "l"(desired)
                 : "memory");
  return before == expected;
}

//===----------------------------------------------------------------------===//
// Packets
//===----------------------------------------------------------------------===//

COIL_DEVICE inline Pair loadRelaxedPair(const Pair *address) {
  Pair pair;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(pair.first), "=l"(pair.second)
               : "l"(address)
               : "memory");
  return pair;
}

COIL_DEVICE inline void storeRelaxedPair(Pair *address, Pair pair) {
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(pair.first),
               "l"(pair.second)
               : "memory");
}

// The warp converges first, so that each line is one transaction.
COIL_DEVICE inline Pair loadLine(const u8 *line) {
  syncWarp();
  Pair pair = {0, 0};
  if (line != nullptr)
    pair = loadRelaxedPair(reinterpret_cast<const Pair *>(line) + laneIndex() % 8);
  return pair;
}

COIL_DEVICE inline void storeLine(u8 *line, Pair pair) {
  syncWarp();
  if (line != nullptr)
    storeRelaxedPair(reinterpret_cast<Pair *>(line) + laneIndex() % 8, pair);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

template <typename Word> COIL_DEVICE inline Word loadData(const void *address) {
  if constexpr (sizeof(Word) == 16) {
    Word word;
    asm volatile("ld.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(word.low), "=l"(word.high)
                 : "l"(address)
                 : "memory");
    return word;
  } else if constexpr (sizeof(Word) == 8) {
    u64 word;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
    return static_cast<Word>(word);
  } else {
    u32 word;
    if constexpr (sizeof(Word) == 4)
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(address) : "memory");
    else if constexpr (sizeof(Word) == 2)
      asm volatile("ld.global.u16 %0, [%1];" : "=r"(word) : "l"(address) : "memory");
    else
      asm volatile("ld.global.u8 %0, [%1];" : "=r"(word) : "l"(address) : "memory");
    return static_cast<Word>(word);
  }
}

template <typename Word> COIL_DEVICE inline void storeData(void *address, Word word) {
  if constexpr (sizeof(Word) == 16)
    asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(word.low), "l"(word.high)
                 : "memory");
  else if constexpr (sizeof(Word) == 8)
    asm volatile("st.global.u64 [%0], %1;" ::"l"(address), "l"(static_cast<u64>(word)) : "memory");
  else if constexpr (sizeof(Word) == 4)
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(static_cast<u32>(word)) : "memory");
  else if constexpr (sizeof(Word) == 2)
    asm volatile("st.global.u16 [%0], %1;" ::"l"(address), "r"(static_cast<u32>(word)) : "memory");
  else
    asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "r"(static_cast<u32>(word)) : "memory");
}

//===----------------------------------------------------------------------===//
// What there is from sm_90 on
//===----------------------------------------------------------------------===//

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool forHopper = true;
#else
inline constexpr bool forHopper = false;
#endif

COIL_DEVICE constexpr bool hasBulkCopies() { return forHopper; }
COIL_DEVICE constexpr bool hasMultimem() { return forHopper; }

/// An address of shared memory as instructions on that space have it.
COIL_DEVICE inline u32 sharedAddress(const void *address) {
  return static_cast<u32>(__cvta_generic_to_shared(address));
}

// Bulk copies go through the async proxy. The fence puts all that the thread knows of,
// the barriers included, before them there. The way back needs none: a completion that
// has been waited for includes it; nor does a store that reads what a load wrote, as
// both are of this proxy and block.
COIL_DEVICE inline void beginBulkCopies(u64 *barriers, u32 count) {
  for (u32 i = 0; i < count; ++i)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sharedAddress(barriers + i))
                 : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
}

COIL_DEVICE inline void startBulkLoad(u8 *shared, const u8 *global, u32 bytes, u64 *barrier) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)),
      "r"(bytes)
      : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(sharedAddress(shared)),
               "l"(global), "r"(bytes), "r"(sharedAddress(barrier))
               : "memory");
}

COIL_DEVICE inline void awaitBulkLoad(u64 *barrier, u32 turn) {
  u32 isComplete = 0;
  while (isComplete == 0)
    asm volatile("{\n\t"
                 ".reg .pred complete;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, complete;\n\t"
                 "}"
                 : "=r"(isComplete)
                 : "r"(sharedAddress(barrier)), "r"(turn)
                 : "memory");
}

COIL_DEVICE inline void startBulkStore(u8 *global, const u8 *shared, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
               "cp.async.bulk.commit_group;" ::"l"(global),
               "r"(sharedAddress(shared)), "r"(bytes)
               : "memory");
}

template <u32 latest> COIL_DEVICE inline void awaitBulkReads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(latest) : "memory");
}

COIL_DEVICE inline void endBulkCopies(u64 *barriers, u32 count) {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  for (u32 i = 0; i < count; ++i)
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(sharedAddress(barriers + i))
                 : "memory");
}

template <SwitchReduction reduction> COIL_DEVICE inline u32 loadMultimem32(const u8 *address) {
  u32 value;
  if constexpr (reduction == SwitchReduction::Add32)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(address)
                 : "memory");
  else if constexpr (reduction == SwitchReduction::MinI32)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.min.s32 %0, [%1];"
                 : "=r"(value)
                 : "l"(address)
                 : "memory");
  else if constexpr (reduction == SwitchReduction::MaxI32)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.max.s32 %0, [%1];"
                 : "=r"(value)
                 : "l"(address)
                 : "memory");
  else if constexpr (reduction == SwitchReduction::MinU32)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.min.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(address)
                 : "memory");
  else
    asm volatile("multimem.ld_reduce.relaxed.sys.global.max.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(address)
                 : "memory");
  return value;
}

template <SwitchReduction reduction> COIL_DEVICE inline u64 loadMultimem64(const u8 *address) {
  u64 value;
  if constexpr (reduction == SwitchReduction::AddF64) {
    double sum;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f64 %0, [%1];"
                 : "=d"(sum)
                 : "l"(address)
                 : "memory");
    value = static_cast<u64>(__double_as_longlong(sum));
  } else if constexpr (reduction == SwitchReduction::Add64)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(address)
                 : "memory");
  else if constexpr (reduction == SwitchReduction::MinI64)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.min.s64 %0, [%1];"
                 : "=l"(value)
                 : "l"(address)
                 : "memory");
  else if constexpr (reduction == SwitchReduction::MaxI64)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.max.s64 %0, [%1];"
                 : "=l"(value)
                 : "l"(address)
                 : "memory");
  else if constexpr (reduction == SwitchReduction::MinU64)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.min.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(address)
                 : "memory");
  else
    asm volatile("multimem.ld_reduce.relaxed.sys.global.max.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(address)
                 : "memory");
  return value;
}

/// Floats come as one vector, integers and f64 one by one: PTX has no vectors of these.
template <SwitchReduction reduction, typename Combine>
COIL_DEVICE inline Vector16 loadMultimemWord(const MulticastPlace &place, u64 offset, Combine) {
  const u8 *address = place.multicast + offset;
  if constexpr (reduction == SwitchReduction::AddF64 || reduction == SwitchReduction::Add64 ||
                reduction >= SwitchReduction::MinI64)
    return {loadMultimem64<reduction>(address), loadMultimem64<reduction>(address + 8)};
  u32 words[4];
  if constexpr (reduction == SwitchReduction::AddF16)
    asm volatile(
        "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.f16x2 {%0, %1, %2, %3}, [%4];"
        : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
        : "l"(address)
        : "memory");
  else if constexpr (reduction == SwitchReduction::AddBF16)
    asm volatile(
        "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2 {%0, %1, %2, %3}, [%4];"
        : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
        : "l"(address)
        : "memory");
  else if constexpr (reduction == SwitchReduction::AddF32)
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(address)
                 : "memory");
  else
    COIL_UNROLL
  for (u32 i = 0; i < 4; ++i)
    words[i] = loadMultimem32<reduction>(address + i * 4);
  return {u64(words[1]) << 32 | words[0], u64(words[3]) << 32 | words[2]};
}

/// Of any bits: the type is there for the vector.
COIL_DEVICE inline void storeMultimemWord(const MulticastPlace &place, u64 offset, Vector16 word) {
  asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                   place.multicast + offset),
               "r"(static_cast<u32>(word.low)), "r"(static_cast<u32>(word.low >> 32)),
               "r"(static_cast<u32>(word.high)), "r"(static_cast<u32>(word.high >> 32))
               : "memory");
}

// A multicast address is an alias of its ranks' own ones, thus another proxy.
COIL_DEVICE inline void orderMultimem() { asm volatile("fence.proxy.alias;" ::: "memory"); }

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

COIL_DEVICE inline u64 nanoseconds() {
  u64 time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
}

COIL_DEVICE inline void pause() { asm volatile("nanosleep.u32 20;" ::: "memory"); }

//===----------------------------------------------------------------------===//
// Arithmetic, whatever the compiler's options for floating point are
//===----------------------------------------------------------------------===//

COIL_DEVICE inline float add(float a, float b) {
  float sum;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
  return sum;
}

COIL_DEVICE inline double add(double a, double b) {
  double sum;
  asm("add.rn.f64 %0, %1, %2;" : "=d"(sum) : "d"(a), "d"(b));
  return sum;
}

COIL_DEVICE inline float multiply(float a, float b) {
  float product;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  return product;
}

COIL_DEVICE inline double multiply(double a, double b) {
  double product;
  asm("mul.rn.f64 %0, %1, %2;" : "=d"(product) : "d"(a), "d"(b));
  return product;
}

COIL_DEVICE inline float divide(float dividend, float divisor) {
  float quotient;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(quotient) : "f"(dividend), "f"(divisor));
  return quotient;
}

COIL_DEVICE inline double divide(double dividend, double divisor) {
  double quotient;
  asm("div.rn.f64 %0, %1, %2;" : "=d"(quotient) : "d"(dividend), "d"(divisor));
  return quotient;
}

COIL_DEVICE inline u64 multiplyHigh(u64 a, u64 b) {
  u64 high;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(high) : "l"(a), "l"(b));
  return high;
}

COIL_DEVICE inline float halfToFloat(u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

COIL_DEVICE inline u16 floatToHalf(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_PLATFORMCUDA_H
