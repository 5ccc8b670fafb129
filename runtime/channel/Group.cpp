//===- Group.cpp - The ranks of a communicator, seen from one -------------===//

#include "runtime/channel/Group.h"

#include <algorithm>

namespace coil {

Status Group::fail(Status failure) const {
  if (control.empty())
    return failure;
  mine().poison.set(failure.code(), failure.message());
  StatusCode forOthers = failure.code() == StatusCode::InvalidUsage ? StatusCode::InvalidUsage
                                                                    : StatusCode::RemoteError;
  for (ControlBlock *block : control)
    block->poison.set(forOthers, failure.message());
  return failure;
}

Status Group::checkAgreement(uint64_t sequence) const {
  const EntryRecord &own = mine().recordOf(sequence);
  if (!own.isOf(sequence))
    return Status::ok();
  for (int other = 0; other < ranks; ++other) {
    const EntryRecord &record = of(other).recordOf(sequence);
    if (!record.isOf(sequence) || record.fingerprint() == own.fingerprint())
      continue;
    // All ranks that look say it with the same words: lower rank first.
    int first = std::min(rank, other), second = std::max(rank, other);
    return Status::error(StatusCode::InvalidUsage,
                         "the ranks disagree on call {}: rank {} called {}, rank {} called {}",
                         sequence, first, describe(of(first).recordOf(sequence).arguments()),
                         second, describe(of(second).recordOf(sequence).arguments()));
  }
  return Status::ok();
}

std::string Group::describeMissing(uint64_t sequence) const {
  std::string text;
  int missing = 0, last = -1;
  for (int other = 0; other < ranks; ++other) {
    if (of(other).recordOf(sequence).isOf(sequence))
      continue;
    if (last >= 0)
      text += fmt::format("{}{}", missing > 1 ? ", " : "", last);
    last = other;
    ++missing;
  }
  if (missing == 0)
    return "all ranks have entered the call";
  if (missing == 1)
    return fmt::format("rank {} has not entered the call", last);
  return fmt::format("ranks {} and {} have not entered the call", text, last);
}

} // namespace coil
