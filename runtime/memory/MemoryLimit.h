//===- MemoryLimit.h - How much memory can be had at all --------*- C++ -*-===//

#ifndef COIL_RUNTIME_MEMORY_MEMORYLIMIT_H
#define COIL_RUNTIME_MEMORY_MEMORYLIMIT_H

#include <cstdint>

namespace coil {

/// Bytes that this process could still be given: what the machine has available
/// in memory and swap, or the limit of its control group if that is less. The
/// largest number if the system does not say.
uint64_t memoryLimit();

} // namespace coil

#endif // COIL_RUNTIME_MEMORY_MEMORYLIMIT_H
