//===- BulkCopies.h - Copies beside a thread --------------------*- C++ -*-===//
//
// The emulated copying engine: it makes each copy as late as it may, when the thread
// waits for it, so that whoever does not wait finds other bytes. Its accesses are the
// thread's, at that moment. That they are of another proxy is not emulated.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_BULKCOPIES_H
#define COIL_RUNTIME_KERNELS_EMULATION_BULKCOPIES_H

#include "runtime/kernels/emulation/PlatformEmulated.h"

#include <vector>

namespace coil::emulation {

struct BulkCopy {
  u8 *to;
  const u8 *from;
  u32 bytes;
  u64 *barrier; ///< of loads
  Site site;    ///< where it was started
};

/// A thread's copies that have been started and not made, in this order.
struct BulkCopies {
  bool isBegun = false;
  std::vector<BulkCopy> loads, stores;
};

} // namespace coil::emulation

#endif // COIL_RUNTIME_KERNELS_EMULATION_BULKCOPIES_H
