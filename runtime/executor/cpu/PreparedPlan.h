//===- PreparedPlan.h - A plan made ready to run on one rank ----*- C++ -*-===//
//
// What one rank needs of a plan, with everything resolved that does not depend
// on the call: channels' places in memory, scratch, operand lists. Nothing is
// allocated when it runs.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CPU_PREPAREDPLAN_H
#define COIL_RUNTIME_EXECUTOR_CPU_PREPAREDPLAN_H

#include "runtime/base/ChunkBounds.h"
#include "runtime/channel/PlanSegment.h"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace coil::cpu {

/// A chunk of memory or a slot.
struct PreparedPlace {
  OperandKind kind = OperandKind::Input;
  uint32_t rank = 0;
  uint32_t segment = 0;         ///< Input and Output
  uint32_t chunk = 0;           ///< Input and Output: index in PreparedVariant::chunks
  std::byte *scratch = nullptr; ///< Scratch
  FifoReceiver *slot = nullptr; ///< Slot
  uint32_t source = 0;          ///< Slot: rank at the other end
};

struct PreparedOp {
  OpKind kind = OpKind::Copy;
  bool complete = false;
  /// Index in PreparedVariant::chunks.
  uint32_t length = 0;
  uint32_t operandCount = 0;
  const PreparedPlace *operands = nullptr;
  PreparedPlace destination;
  FifoSender *sender = nullptr;        ///< Push
  SignalSender *signaller = nullptr;   ///< Signal
  SignalReceiver *signalled = nullptr; ///< Wait
  uint32_t peer = 0;                   ///< Push, Signal, Wait: rank at the other end
  uint32_t location = 0;               ///< in the plan's locations
};

/// A worker's operations and how far it has come in them.
struct PreparedWorker {
  enum Section : uint8_t { Prologue, Body, Epilogue, Finished };

  const PreparedOp *begin(Section section) const { return bounds[section]; }
  const PreparedOp *end(Section section) const { return bounds[section + 1]; }

  std::vector<PreparedOp> ops;       ///< prologue, body, epilogue
  std::vector<PreparedPlace> places; ///< of all operands
  std::array<const PreparedOp *, 4> bounds{};

  Section section = Prologue;
  const PreparedOp *next = nullptr;
  uint64_t tile = 0;
  bool atBarrier = false; ///< arrived, and waits for `barrierGoal` arrivals
  uint64_t barrierGoal = 0;
};

/// How a variant runs a count of elements of some size, kept from call to call.
struct CallShape {
  uint64_t count = UINT64_MAX;
  size_t elementSize = 0;
  uint64_t tileElements = 0;
  uint64_t tiles = 0;
};

/// One variant's program of this rank.
struct PreparedVariant {
  Transport transport = Transport::Staged;
  std::vector<PreparedWorker> workers;
  /// Chunks of a segment that the program names, and their elements in a segment
  /// for the current shape.
  std::vector<uint32_t> chunks;
  std::vector<ElementRange> bounds;
  CallShape shape;
  /// Barriers that workers have arrived at, over all calls.
  uint64_t barrierArrivals = 0;
};

class PreparedPlan {
public:
  /// `segments` are all ranks' segments as mapped here, laid out as by `layout`.
  /// InvalidPlan for operations that a variant's transport does not have.
  static Result<std::unique_ptr<PreparedPlan>> prepare(Plan plan, const PlanSegmentLayout &layout,
                                                       std::vector<std::byte *> segments,
                                                       uint32_t rank);
  PreparedPlan(const PreparedPlan &) = delete;
  PreparedPlan &operator=(const PreparedPlan &) = delete;

  /// Null if the plan has no such variant.
  PreparedVariant *find(uint32_t root, bool inPlace, Transport transport) {
    size_t at = indexOf(root, inPlace, transport);
    return at < index.size() ? index[at] : nullptr;
  }
  /// Sets `variant.shape` and `variant.bounds`.
  void reshape(PreparedVariant &variant, uint64_t count, size_t elementSize) const;

  /// What this rank's channels do best while it waits: tell senders of freed slots
  /// and get the lines of the next messages. Nobody may wait without it.
  void beforeWait() {
    for (FifoReceiver &receiver : receivers)
      receiver.announce();
    for (const FifoSender &sender : senders)
      sender.prefetch();
  }

  const Plan &plan() const { return source; }
  uint32_t rank() const { return self; }
  size_t tileBytes() const { return layout.tileBytes(); }
  /// Operands of the operation that has most.
  size_t mostOperands() const { return largestOperandCount; }
  /// Operands in this rank's input of the operation that has most.
  size_t mostInputs() const { return largestInputCount; }

private:
  PreparedPlan(Plan plan, const PlanSegmentLayout &layout, std::vector<std::byte *> segments,
               uint32_t rank)
      : source(std::move(plan)), layout(layout), segments(std::move(segments)), self(rank) {}

  static size_t indexOf(uint32_t root, bool inPlace, Transport transport) {
    return size_t{root} * 4 + (inPlace ? 2 : 0) + (transport == Transport::Staged ? 1 : 0);
  }
  void prepareChannels();
  Status prepareVariant(size_t number);
  Status prepareWorker(size_t variantNumber, const PlanWorker &from, PreparedVariant &variant,
                       PreparedWorker &worker);
  PreparedPlace preparePlace(size_t variantNumber, const PlanOperand &operand,
                             PreparedVariant &variant);
  uint32_t internChunk(uint32_t chunk, PreparedVariant &variant);

  Plan source;
  PlanSegmentLayout layout;
  std::vector<std::byte *> segments;
  uint32_t self;

  /// This rank's ends of channels; elements never move.
  std::deque<FifoSender> senders;
  std::deque<FifoReceiver> receivers;
  std::deque<SignalSender> signallers;
  std::deque<SignalReceiver> waiters;
  struct Ends {
    FifoSender *sender = nullptr;
    FifoReceiver *receiver = nullptr;
    SignalSender *signaller = nullptr;
    SignalReceiver *signalled = nullptr;
  };
  std::vector<Ends> ends; ///< by shared channel

  std::deque<PreparedVariant> variants;
  std::vector<PreparedVariant *> index;
  /// Of the variant being prepared: where a chunk stands in its list.
  std::unordered_map<uint32_t, uint32_t> chunkPositions;
  size_t largestOperandCount = 1, largestInputCount = 1;
};

} // namespace coil::cpu

#endif // COIL_RUNTIME_EXECUTOR_CPU_PREPAREDPLAN_H
