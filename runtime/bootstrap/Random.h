//===- Random.h - Random bytes from the system ------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_BOOTSTRAP_RANDOM_H
#define COIL_RUNTIME_BOOTSTRAP_RANDOM_H

#include "runtime/base/Status.h"

#include <cstddef>

namespace coil {

/// Fills `size` bytes with unpredictable ones. Errors: SystemError.
Status fillRandom(void *data, size_t size);

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_RANDOM_H
