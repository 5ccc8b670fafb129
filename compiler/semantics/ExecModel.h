//===- ExecModel.h - A variant as verify-exec sees it -----------*- C++ -*-===//
//
// Numbers over all kinds of ranks for the workers, their steps and the memory of
// a variant, and the words for them in messages.
//
// Where ranks do alike, one of each kind stands for them: all images of a step
// can be taken together, and what holds for a representative, its peers and its
// memory holds for all images.
//
// A call runs each worker's prologue, its body once a tile, and its epilogue.
// The model unrolls two tiles, which stand for any number of them:
//
// - Messages, signals and barriers pair up within one section of one tile
//   (ExecMatching proves the counts), and a credit frees a slot for a later push
//   of the same channel. So every dependence leads from a tile to the same tile
//   or to a later one, and the edges from tile t to t + d are the same for all t.
// - A cycle can thus not leave its section of its tile: any one tile shows it.
// - What orders two steps of one tile lies within that tile.
// - If a step of one tile is ordered before a step of the next, it is ordered
//   before the same step of all later tiles by the program order of the latter's
//   worker. If it is not, the two are a race, whatever credits that reach
//   further order later. So neighbouring tiles suffice, however many slots there
//   are.
// - Prologue and epilogue move no data; the first tile meets the prologue and
//   the last one the epilogue, as in a call of any number of tiles.
//
// Likewise one call stands for any number in a row. Counters go on counting and
// counts match, so that call n + 1 pairs with itself; credits of call n only
// order more. A rank's own workers leave call n before any enters n + 1, and
// other ranks access its memory after it has entered and before it leaves
// (ExecRaces proves it), so no access of call n meets one of call n + 1.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_EXECMODEL_H
#define COIL_COMPILER_SEMANTICS_EXECMODEL_H

#include "compiler/schedule/ExecProgram.h"
#include "compiler/semantics/Collectives.h"

#include <optional>
#include <string>
#include <vector>

namespace coil {

enum class ExecSection : uint8_t { Prologue, Body, Epilogue };
inline constexpr int numExecSections = 3;
const char *nameOf(ExecSection section);

/// What an operation does at its end of a channel.
enum class ExecUse : uint8_t { SendData, ReceiveData, Signal, Wait };
inline constexpr int numExecUses = 4;
/// The use that the i-th of this one pairs with.
ExecUse counterpartOf(ExecUse use);

bool movesData(ExecOpKind kind);
/// True if the operation has a destination in memory.
bool writesMemory(ExecOpKind kind);
/// True if the operation has a list of operands that it combines.
bool combinesOperands(ExecOpKind kind);

/// Calls `visit(use, channel)` for each channel that the operation uses.
template <typename Visit> void forEachUse(const ExecOp &op, Visit visit) {
  switch (op.kind) {
  case ExecOpKind::Send:
  case ExecOpKind::Push:
    return visit(ExecUse::SendData, op.channel);
  case ExecOpKind::Signal:
    return visit(ExecUse::Signal, op.channel);
  case ExecOpKind::Wait:
    return visit(ExecUse::Wait, op.channel);
  default:
    for (const ExecOperand &operand : op.operands)
      if (operand.isHead)
        visit(ExecUse::ReceiveData, operand.channel);
  }
}

/// One execution of an operation: the `position`-th of a worker in a call.
struct ExecStep {
  uint32_t worker = 0;
  uint32_t position = 0;

  auto operator<=>(const ExecStep &) const = default;
};

class ExecModel {
public:
  static constexpr uint32_t tiles = 2;

  struct Worker {
    const ExecWorker *code;
    int64_t rank;
    int64_t indexInRank;
    /// Steps of a call.
    uint32_t steps;
  };

  /// As a call in place runs the variant, or as one out of place does.
  ExecModel(const ExecPlan &plan, const ExecVariant &variant, bool inPlace);

  const ExecPlan &plan;
  const ExecVariant &variant;
  const bool inPlace;
  CollectiveShape shape;
  /// Of the first kind's representative, then of the second's...
  std::vector<Worker> workers;

  const Symmetry &symmetry() const { return variant.symmetry; }
  int64_t kinds() const { return symmetry().kinds(shape.ranks); }

  /// Of a rank's representative.
  uint32_t firstWorkerOf(int64_t rank) const {
    return firstWorker[static_cast<size_t>(symmetry().kindOf(rank))];
  }
  uint32_t workersOf(int64_t rank) const {
    return firstWorker[static_cast<size_t>(symmetry().kindOf(rank)) + 1] - firstWorkerOf(rank);
  }
  uint32_t workerAt(int64_t rank, int64_t indexInRank) const {
    return firstWorkerOf(rank) + static_cast<uint32_t>(indexInRank);
  }
  /// The worker of a representative at the end of a channel where `use` happens.
  uint32_t workerAt(const ExecChannel &channel, ExecUse use) const;
  const ExecChannel &channel(uint32_t index) const { return variant.channels[index]; }

  int64_t rankOf(ExecStep step) const { return workers[step.worker].rank; }
  const ExecOp &op(ExecStep step) const;
  ExecSection sectionOf(ExecStep step) const;
  /// The tile of a step in the body; 0 elsewhere.
  uint32_t tileOf(ExecStep step) const;
  /// The first step of the section of the tile that `step` is in.
  ExecStep sectionBegin(ExecStep step) const;
  const std::vector<ExecOp> &operations(uint32_t worker, ExecSection section) const;

  /// Numbers for all memory of a call: places that share memory have the same, and so
  /// have places that are images of each other.
  size_t locations() const { return locationBase.back(); }
  size_t locationOf(const ExecPlace &place) const;
  /// True if the place is in the input and shares no memory with the output.
  bool isOnlyInput(const ExecPlace &place) const;
  /// False where the caller need not give the buffer: off the root.
  bool exists(const ExecPlace &place) const;

  /// "rank 3", or "rank 3 worker 1" where the rank has several.
  std::string describeWorker(uint32_t worker) const;
  /// "scratch[2] on rank 3".
  static std::string describe(const ExecPlace &place);
  /// "scratch[2]" if the place is on `rank`, else with its rank.
  static std::string describeFrom(const ExecPlace &place, int64_t rank);

private:
  /// In place, the output chunk that is the same memory as an input chunk.
  std::optional<int64_t> sharedOutput(const ExecPlace &place) const;

  std::vector<uint32_t> firstWorker;
  /// Per kind: locations of the kinds below; then of all.
  std::vector<size_t> locationBase;
};

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXECMODEL_H
