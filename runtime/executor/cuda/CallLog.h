//===- CallLog.h - What a rank has enqueued ---------------------*- C++ -*-===//
//
// Devices know calls by their fingerprints alone. Each rank's log, in shared host
// memory, says what the latest of them meant, so that a disagreement that a device
// finds can be told in words. Nobody waits for a log: entries are overwritten.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_CALLLOG_H
#define COIL_RUNTIME_EXECUTOR_CUDA_CALLLOG_H

#include "runtime/base/Status.h"
#include "runtime/channel/CallRecord.h"
#include "runtime/executor/cuda/CudaConfig.h"
#include "runtime/plan/Plan.h"

#include <array>
#include <atomic>
#include <optional>

namespace coil::cuda {

/// A call and how it is run: all that ranks must agree on.
struct CallFacts {
  CallArguments arguments;
  Transport transport = Transport::Staged;
  Protocol protocol = Protocol::Simple;
  uint32_t instances = 1;
  uint64_t tileElements = 1;

  bool operator==(const CallFacts &) const = default;
};

/// A 64-bit digest. It does not count calls, since a graph replays them.
uint64_t fingerprintOf(const CallFacts &facts);

/// An InvalidUsage that says where two ranks' calls differ.
Status disagreement(uint32_t rank, const CallFacts &mine, uint32_t other, const CallFacts &theirs);

class CallLog {
public:
  struct Entry {
    uint64_t fingerprint = 0;
    CallFacts facts;
  };

  /// Owner. The next call, which is the `enqueued() + 1`st.
  void append(uint64_t fingerprint, const CallFacts &facts, bool captured);

  /// Anyone: calls that the owner has enqueued.
  uint64_t enqueued() const { return count.load(std::memory_order_acquire); }
  /// Anyone: whether some call was captured, so that devices run more than were
  /// enqueued.
  bool hasCaptured() const { return captures.load(std::memory_order_acquire) != 0; }
  /// Anyone: the call with this number, from 1, if it is not overwritten.
  std::optional<Entry> at(uint64_t number) const;
  /// Anyone: the latest call with this fingerprint, if there is one.
  std::optional<CallFacts> find(uint64_t fingerprint) const;

private:
  enum Word { Number, Fingerprint, Facts, Count, PlanDigest, How, TileElements, numWords };
  static constexpr uint64_t capacity = 64;
  using Record = std::array<std::atomic<uint64_t>, numWords>;

  alignas(128) std::atomic<uint64_t> count;
  std::atomic<uint64_t> captures;
  std::array<Record, capacity> records;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_CALLLOG_H
