//===- CallRecord.h - What a rank says when it enters a call ----*- C++ -*-===//
//
// Every rank numbers its collective calls from 1, set-up calls included, and
// writes a record of each into its own control block before it does anything
// else. Peers read it to meet, to find its buffers, and to see disagreement.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CHANNEL_CALLRECORD_H
#define COIL_RUNTIME_CHANNEL_CALLRECORD_H

#include "runtime/base/Types.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace coil {

/// A collective (values below numCollectives), or one of the calls that set a
/// communicator up together.
enum class CallKind : uint8_t { LoadPlan = 64, Register, Deregister };
constexpr CallKind callKind(Collective collective) { return static_cast<CallKind>(collective); }

/// All that the ranks must agree on.
struct CallArguments {
  CallKind kind = callKind(Collective::AllReduce);
  DataType type = DataType::I8;
  ReduceOp op = ReduceOp::Sum; ///< Sum where the collective does not combine
  bool inPlace = false;
  uint32_t root = 0;
  uint64_t count = 0;
  uint64_t planDigest = 0; ///< 0 without a plan

  bool operator==(const CallArguments &) const = default;
};

/// "allreduce of 1000 f32 (sum), in place"; "coilCommLoadPlan".
std::string describe(const CallArguments &arguments);

/// Where a buffer lies in registered memory: `window` counts from 1, 0 is none.
struct WindowPlace {
  uint32_t window = 0;
  uint64_t offset = 0;
};

/// All of the arguments but count and digest, in one word.
constexpr uint64_t packFacts(const CallArguments &arguments) {
  return static_cast<uint64_t>(arguments.kind) | static_cast<uint64_t>(arguments.type) << 8 |
         static_cast<uint64_t>(arguments.op) << 16 |
         static_cast<uint64_t>(arguments.inPlace) << 24 |
         static_cast<uint64_t>(arguments.root) << 32;
}

/// A 64-bit digest of the arguments and the call's number. Two different calls
/// have the same one with a probability of 2^-64.
inline uint64_t fingerprintOf(uint64_t sequence, const CallArguments &arguments) {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15;
  auto mix = [](uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * multiplier;
    return hash ^ (hash >> 29);
  };
  uint64_t hash = mix(mix(multiplier, sequence), packFacts(arguments));
  return mix(mix(hash, arguments.count), arguments.planDigest);
}

/// One record in shared memory: a cache line that its owner alone writes. A
/// reader that finds the number it looks for sees everything else of that call.
class alignas(64) EntryRecord {
public:
  /// Owner. Earlier readers must be done: see ControlBlock::records.
  void publish(uint64_t sequence, uint64_t fingerprint, const CallArguments &arguments,
               WindowPlace send, WindowPlace receive) {
    set(Fingerprint, fingerprint);
    set(Count, arguments.count);
    set(Facts, packFacts(arguments));
    set(Windows, send.window | static_cast<uint64_t>(receive.window) << 32);
    set(SendOffset, send.offset);
    set(ReceiveOffset, receive.offset);
    set(PlanDigest, arguments.planDigest);
    words[Sequence].store(sequence, std::memory_order_release);
  }

  /// Anyone: true if this is the record of call `sequence`; the readers below
  /// are then right until this rank itself leaves that call.
  bool isOf(uint64_t sequence) const {
    return words[Sequence].load(std::memory_order_acquire) == sequence;
  }
  uint64_t fingerprint() const { return get(Fingerprint); }
  CallArguments arguments() const;
  WindowPlace send() const { return {static_cast<uint32_t>(get(Windows)), get(SendOffset)}; }
  WindowPlace receive() const {
    return {static_cast<uint32_t>(get(Windows) >> 32), get(ReceiveOffset)};
  }

private:
  enum Word {
    Sequence,
    Fingerprint,
    Count,
    Facts,
    Windows,
    SendOffset,
    ReceiveOffset,
    PlanDigest,
    numWords
  };
  void set(Word word, uint64_t value) { words[word].store(value, std::memory_order_relaxed); }
  uint64_t get(Word word) const { return words[word].load(std::memory_order_relaxed); }

  std::array<std::atomic<uint64_t>, numWords> words;
};
static_assert(sizeof(EntryRecord) == 64 && std::atomic<uint64_t>::is_always_lock_free);

} // namespace coil

#endif // COIL_RUNTIME_CHANNEL_CALLRECORD_H
