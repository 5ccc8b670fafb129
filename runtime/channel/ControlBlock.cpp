//===- ControlBlock.cpp - What a rank shows of itself ---------------------===//

#include "runtime/channel/ControlBlock.h"

#include <algorithm>
#include <cstring>

namespace coil {

void Poison::set(StatusCode reason, std::string_view sentence) {
  uint32_t expected = Clean;
  if (!state.compare_exchange_strong(expected, BeingWritten, std::memory_order_acquire))
    return;
  code = static_cast<uint32_t>(reason);
  length = static_cast<uint32_t>(std::min(sentence.size(), text.size()));
  std::memcpy(text.data(), sentence.data(), length);
  state.store(Written, std::memory_order_release);
}

Status Poison::status() const {
  switch (state.load(std::memory_order_acquire)) {
  case Clean:
    return Status::ok();
  case Written:
    return {static_cast<StatusCode>(code), std::string(text.data(), length)};
  default:
    // The writer is at it, or died at it.
    return {StatusCode::RemoteError, "another rank failed"};
  }
}

} // namespace coil
