//===- Group.h - The ranks of a communicator, seen from one -----*- C++ -*-===//

#ifndef COIL_RUNTIME_CHANNEL_GROUP_H
#define COIL_RUNTIME_CHANNEL_GROUP_H

#include "runtime/channel/ControlBlock.h"

#include <functional>
#include <vector>

namespace coil {

struct Group {
  int rank = 0;
  int ranks = 1;
  /// Milliseconds that a wait may take without any progress; 0: for ever.
  uint64_t timeoutMs = 0;
  /// Processors that the ranks may run on, all together.
  int processors = 1;
  /// Every rank's control block; empty until they have been exchanged.
  std::vector<ControlBlock *> control;
  /// Every rank's process.
  std::vector<int> processIds;
  /// True if the rank's process is gone or has closed its communicator. Costs a
  /// call to the operating system.
  std::function<bool(int rank)> isLost;

  ControlBlock &mine() const { return *control[static_cast<size_t>(rank)]; }
  ControlBlock &of(int other) const { return *control[static_cast<size_t>(other)]; }

  /// Makes this rank's later calls fail with `failure` and those of all others
  /// with a RemoteError of the same text; where the ranks disagree (InvalidUsage)
  /// all are equally at fault and get the same code. Returns `failure`.
  Status fail(Status failure) const;

  /// An InvalidUsage with both sides' arguments if some rank has entered call
  /// `sequence` with other arguments than this rank.
  Status checkAgreement(uint64_t sequence) const;

  /// The ranks that have not entered call `sequence`, as a sentence.
  std::string describeMissing(uint64_t sequence) const;
};

} // namespace coil

#endif // COIL_RUNTIME_CHANNEL_GROUP_H
