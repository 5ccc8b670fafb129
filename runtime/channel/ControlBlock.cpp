//===- ControlBlock.cpp - What a rank shows of itself ---------------------===//

#include "runtime/channel/ControlBlock.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

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
  uint32_t seen = state.load(std::memory_order_acquire);
  if (seen == Clean)
    return Status::ok();
  // A writer that lost its processor comes back; one that died does not.
  constexpr int longEnough = 200;
  for (int waits = 0; seen == BeingWritten && waits < longEnough; ++waits) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    seen = state.load(std::memory_order_acquire);
  }
  if (seen == BeingWritten)
    return {StatusCode::RemoteError, "another rank failed, and died before it could say why"};
  return {static_cast<StatusCode>(code), std::string(text.data(), length)};
}

} // namespace coil
