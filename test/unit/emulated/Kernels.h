//===- Kernels.h - Texts of small kernels -----------------------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_EMULATED_KERNELS_H
#define COIL_TEST_UNIT_EMULATED_KERNELS_H

namespace coil::emulated {

/// add<T>(words, value): adds to word i of every thread i of the grid.
inline constexpr const char *addText = R"(
#include "runtime/kernels/device/Platform.h"
namespace test {
using namespace coil::device;
template <typename T> COIL_KERNEL void add(T *words, T value) {
  u32 i = blockIndex() * blockThreads() + threadIndex();
  storeData<T>(words + i, static_cast<T>(loadData<T>(words + i) + value));
}
}
)";

/// meet(counter): all blocks wait for each other, then leave the number of blocks.
/// race(word): two threads store without order. misuse(): a divergent barrier.
/// waitFor(flag): until the host sets it.
inline constexpr const char *meetText = R"(
#include "runtime/kernels/device/Platform.h"
using namespace coil::device;
COIL_KERNEL void meet(u64 *counter, u64 blocks) {
  syncBlock();
  if (threadIndex() == 0) {
    addAcquireRelease<Scope::Device>(counter, 1);
    while (loadAcquire<Scope::Device>(counter) < blocks)
      coil::device::pause();
  }
  syncBlock();
}
COIL_KERNEL void race(u64 *word) { storeData<u64>(word, threadIndex()); }
COIL_KERNEL void misuse() {
  if (threadIndex() > 3)
    syncBlock();
}
COIL_KERNEL void waitFor(u64 *flag) {
  if (threadIndex() == 0)
    while (loadAcquire<Scope::System>(flag) == 0)
      coil::device::pause();
}
)";

} // namespace coil::emulated

#endif // COIL_TEST_UNIT_EMULATED_KERNELS_H
