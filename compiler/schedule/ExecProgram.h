//===- ExecProgram.h - Rank programs as flat structures ---------*- C++ -*-===//
//
// The exec dialect without MLIR: what schedules build, what the protocol
// lowering rewrites and what verify-exec proves. dialect/Exec/ExecOps.td says
// what each operation means; both sides use the same names.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SCHEDULE_EXECPROGRAM_H
#define COIL_COMPILER_SCHEDULE_EXECPROGRAM_H

#include "compiler/semantics/Instance.h"
#include "runtime/base/MessageProtocol.h"
#include "runtime/base/Types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coil {

enum class ExecTransport : uint8_t { Matched, P2P, Staged };
enum class ExecBuffer : uint8_t { Input, Output, Scratch };

/// A chunk in memory; `rank` is always its owner, the executing rank included.
struct ExecPlace {
  ExecBuffer buffer = ExecBuffer::Input;
  int32_t rank = 0;
  int64_t index = 0;

  bool operator==(const ExecPlace &) const = default;
};

/// A source of an operation: a place, or the oldest message of a channel.
struct ExecOperand {
  bool isHead = false;
  uint32_t channel = 0; ///< if a head
  ExecPlace place;      ///< if not

  static ExecOperand ofPlace(ExecPlace place) { return {false, 0, place}; }
  static ExecOperand ofHead(uint32_t channel) { return {true, channel, {}}; }
};

enum class ExecOpKind : uint8_t {
  Copy,       ///< destination := operands[0], a place of this rank
  Reduce,     ///< destination := operands combined, places of this rank
  Send,       ///< channel := operands[0]
  Recv,       ///< destination := operands[0], a head
  RecvReduce, ///< as Reduce, heads allowed
  Put,        ///< destination on a peer := operands[0]
  Get,        ///< destination := operands[0] on a peer
  GetReduce,  ///< as Reduce, places on peers allowed
  Push,       ///< channel := operands[0], when a slot is free
  Pop,        ///< destination := operands[0], a head, whose slot is then freed
  PopReduce,  ///< as Reduce, heads allowed, whose slots are then freed
  Signal,     ///< channel
  Wait,       ///< channel
  Meet,       ///< peers
  Barrier
};

struct ExecOp {
  ExecOpKind kind = ExecOpKind::Copy;
  /// The statement that completes the collective's value.
  bool complete = false;
  /// The chunk of a segment that gives the length.
  int64_t length = 0;
  ExecPlace destination;
  std::vector<ExecOperand> operands;
  /// Send, Push, Signal, Wait.
  uint32_t channel = 0;
  /// Meet.
  std::vector<int64_t> peers;
  LocationIndex location = 0;
};

/// `prologue` and `epilogue` run once a call, `body` once a tile.
struct ExecWorker {
  std::vector<ExecOp> prologue, body, epilogue;
};

/// Its source is on a representative; it stands for its images under all shifts.
struct ExecChannel {
  std::string name;
  int64_t sourceRank = 0, sourceWorker = 0;
  int64_t destinationRank = 0, destinationWorker = 0;
  /// Of a staged channel; 0 otherwise.
  int64_t slots = 0;
  LocationIndex location = 0;
};

struct ExecVariant {
  std::string name;
  int64_t root = 0;
  bool inPlace = false;
  ExecTransport transport = ExecTransport::Matched;
  /// Which ranks do alike.
  Symmetry symmetry;
  /// Chunks of scratch on a rank of each kind.
  std::vector<int64_t> scratch;
  std::vector<ExecChannel> channels;
  /// programs[kind][worker]: what the kind's representative runs. Another rank runs the
  /// image: places and channels moved by the shift that leads to it, scratch chunks, which
  /// have the same number on all ranks of a kind, with their rank only.
  std::vector<std::vector<ExecWorker>> programs;
  LocationIndex location = 0;

  int64_t ranks() const { return static_cast<int64_t>(programs.size()) * symmetry.shifts(); }

  /// From a rank up to another, around all of them: the same for ranks that do alike,
  /// so that they can have one order.
  int64_t distance(int64_t from, int64_t to) const { return (to - from + ranks()) % ranks(); }

  /// The shift that moves a channel to its image that ends at a representative.
  int64_t shiftToEnd(const ExecChannel &channel) const {
    return symmetry.inverse(symmetry.shiftOf(channel.destinationRank));
  }
  /// Where the image of a channel begins that ends at a representative.
  int64_t sourceSeenFromEnd(const ExecChannel &channel) const {
    return symmetry.shiftRank(channel.sourceRank, shiftToEnd(channel));
  }
};

struct ExecPlan {
  std::string name;
  Collective collective = Collective::AllReduce;
  int64_t ranks = 1;
  int64_t chunks = 1;
  /// Of `custom`, and of nothing else.
  std::shared_ptr<const OwnContract> contract;
  /// The only one that matched variants are to have.
  std::optional<ExecTransport> transport;
  /// Of staged variants on GPUs; none: the runtime chooses.
  std::optional<MessageProtocol> protocol;
  std::vector<ExecVariant> variants;
  LocationIndex location = 0;
};

/// As the dialect writes it: "recv_reduce".
const char *nameOf(ExecOpKind kind);
const char *nameOf(ExecTransport transport);
const char *nameOf(ExecBuffer buffer);

} // namespace coil

#endif // COIL_COMPILER_SCHEDULE_EXECPROGRAM_H
