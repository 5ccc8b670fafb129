//===- Meeting.h - How ranks come together ----------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_BOOTSTRAP_MEETING_H
#define COIL_RUNTIME_BOOTSTRAP_MEETING_H

#include "runtime/bootstrap/Members.h"

namespace coil {

/// Blocks until all `ranks` ranks of the id came; Bootstrap::connect() tells the
/// errors. `self` is what the others are given to watch.
Result<Members> meet(const UniqueId &id, int rank, int ranks, Presence &self, uint64_t timeoutMs);

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_MEETING_H
