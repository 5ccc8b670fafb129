//===- Platform.h - What device code asks of the machine --------*- C++ -*-===//
//
// The seam below which a kernel runs on a GPU (PlatformCuda.h: PTX) or, in
// tests, on the host (runtime/kernels/emulation). Nothing above it holds inline
// assembly, a CUDA intrinsic or a C++ atomic, so what runs in the emulation is
// what runs on a GPU.
//
// Both sides give, in namespace coil::device:
//
//   COIL_DEVICE, COIL_KERNEL, COIL_GRID_CONSTANT
//       Marks of a device function, of a kernel, of its parameter.
//   COIL_OUTLINED, COIL_UNROLL
//       Marks of a function too big to be repeated where it is called; of a loop
//       of constant length whose body is to be repeated.
//
//   enum class Scope { Block, Device, System };
//
//   u32 threadIndex(), blockThreads(), blockIndex(), laneIndex()
//       A block has 1 to 32 warps of 32 threads, one dimension.
//   u8 *sharedMemory()
//       The block's dynamic shared memory, aligned to 128 bytes. There is no other.
//   void syncBlock(); bool syncBlockOr(bool mine)
//       All threads of the block; writes before it happen before reads after it.
//   void syncWarp(); bool anyInWarp(bool mine)
//       All 32 threads of the warp.
//
//   u64 loadAcquire<Scope>(const u64 *), loadRelaxed<Scope>(const u64 *)
//   void storeRelease<Scope>(u64 *, u64), storeRelaxed<Scope>(u64 *, u64)
//   u64 addAcquireRelease<Scope>(u64 *, u64)      returns the value before
//   bool compareAndSwap<Scope>(u64 *, u64 expected, u64 desired)   relaxed
//       One 64-bit word, aligned. Morally strong at the scope, in PTX's words.
//
//   Pair loadRelaxedPair(const Pair *), void storeRelaxedPair(Pair *, Pair)
//       struct Pair { u64 first, second; }, aligned to 16 bytes: two relaxed
//       system-scope accesses of 64 bits in one instruction, in unspecified order.
//       No word is ever torn; the two may be.
//   Pair loadLine(const u8 *line), void storeLine(u8 *line, Pair)
//       A line is 128 bytes, aligned. Warp-collective: groups of eight lanes have
//       one line each (lane i's `line` is its group's), lane i % 8 its 16 bytes. A
//       group whose line is null loads zeros and stores nothing.
//       Rests on what PTX does not promise: that a line stored by one warp
//       instruction arrives whole.
//
//   Word loadData<Word>(const void *), void storeData<Word>(void *, Word)
//       Plain accesses of u8, u16, u32, u64 or Vector16 (16 bytes, aligned), ordered
//       by synchronisation alone.
//
//   float add(float, float), multiply, divide; the same of double
//       Rounded to nearest even each, never fused, whatever the compiler's options.
//   u64 multiplyHigh(u64, u64)
//       The upper half of the product.
//   float halfToFloat(u16), u16 floatToHalf(float)
//       An f16's bits; rounded to nearest even.
//
//   constexpr bool forHopper
//       Whether the code is for sm_90 or later, or may be. What follows up to the next
//       blank line is called only there, within `if constexpr`.
//   bool hasBulkCopies(), hasMultimem()
//       Whether the device has what they say.
//   void beginBulkCopies(u64 *barriers, u32 count)
//   void startBulkLoad(u8 *shared, const u8 *global, u32 bytes, u64 *barrier)
//   void awaitBulkLoad(u64 *barrier, u32 turn)
//   void startBulkStore(u8 *global, const u8 *shared, u32 bytes)
//   void awaitBulkReads<latest>()
//   void endBulkCopies(u64 *barriers, u32 count)
//       Copies that an engine beside the threads makes between global and shared
//       memory. One thread calls all of them; addresses and sizes are multiples of
//       16. They read and write as plain accesses would, but later: between what is
//       ordered before beginBulkCopies() and what waits for them. A barrier, a word of
//       shared memory, has one load at a time, and its n-th load, from 0 on, has the
//       turn n % 2. Stores may still read until awaitBulkReads() has waited for all but
//       the `latest` ones, and may still write until endBulkCopies().
//   Vector16 loadMultimemWord<SwitchReduction>(const MulticastPlace &, u64 offset, combine)
//   void storeMultimemWord(const MulticastPlace &, u64 offset, Vector16)
//       Sixteen bytes, aligned, of all ranks' memory: reduced by the switch, in an
//       unspecified order; stored to all. `combine(loadAt)` gives the same out of the
//       words loadAt(0), loadAt(1), ... where there is no switch.
//   void orderMultimem()
//       Between accesses of the same memory by a multicast and by its own address, by
//       a thread that both are ordered with: one comes before the other.
//
//   u64 nanoseconds()   a clock of the machine
//   void pause()        between two polls
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_PLATFORM_H
#define COIL_RUNTIME_KERNELS_DEVICE_PLATFORM_H

#include "runtime/kernels/device/Integers.h"

namespace coil::device {

/// Who must see an access in order: PTX's .cta, .gpu and .sys.
enum class Scope { Block, Device, System };

struct alignas(16) Pair {
  u64 first, second;
};

/// Sixteen bytes of data.
struct alignas(16) Vector16 {
  u64 low, high;
};

/// The same place in the memory of several ranks.
struct MulticastPlace {
  u8 *multicast;      ///< stands for all of them; null if their devices have no switch for it
  u8 *const *unicast; ///< the place of each, as this device reaches it
  u32 ranks;          ///< at least 1
};

/// What a switch makes of the elements of sixteen bytes.
enum class SwitchReduction {
  None,
  AddF16,
  AddBF16,
  AddF32,
  AddF64,
  Add32,
  Add64,
  MinI32,
  MaxI32,
  MinU32,
  MaxU32,
  MinI64,
  MaxI64,
  MinU64,
  MaxU64
};

} // namespace coil::device

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include "runtime/kernels/device/PlatformCuda.h"
#else
#include "runtime/kernels/emulation/PlatformEmulated.h"

#include "runtime/kernels/device/PlatformHost.h"
#endif

#endif // COIL_RUNTIME_KERNELS_DEVICE_PLATFORM_H
