//===- Instance.h - An algorithm's moves for a number of ranks --*- C++ -*-===//
//
// The instance is what a program means for given ranks and root: a flat list of
// statements that take effect as if one after another. Proofs and schedules
// work on it; MLIR holds programs, not move lists.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_INSTANCE_H
#define COIL_COMPILER_SEMANTICS_INSTANCE_H

#include "runtime/base/OwnContract.h"
#include "runtime/base/Symmetry.h"
#include "runtime/base/Types.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coil {

/// Names a place in the source; an index in a table that whoever made the
/// instance keeps.
using LocationIndex = uint32_t;

enum class InstanceBuffer : uint8_t { Input, Output, Data, Scratch };

/// A chunk as the program names it. Scratch chunks are numbered over all the
/// scratch buffers of the program.
struct Place {
  InstanceBuffer buffer = InstanceBuffer::Data;
  int32_t rank = 0;
  int64_t index = 0;

  bool operator==(const Place &) const = default;
};

enum class StatementKind : uint8_t { Send, Copy, Reduce, Combine };

/// One move of one chunk; runs of chunks become one statement a chunk.
struct Statement {
  StatementKind kind = StatementKind::Send;
  Place destination;
  /// Run of the instance's `sources`; the destination of a reduce is not among them.
  uint32_t firstSource = 0;
  uint32_t sourceCount = 0;
  LocationIndex location = 0;
  /// 0, or the number of the exchange block that the statement stands in.
  /// Statements of one block are adjacent.
  uint32_t exchange = 0;
  /// Which of the instance's workers moves the chunk.
  uint32_t worker = 0;
};

struct ScratchBuffer {
  std::string name;
  int64_t first = 0;
  int64_t count = 0;
};

struct Instance {
  std::string name;
  Collective collective = Collective::AllReduce;
  int64_t ranks = 1;
  /// 0 if the collective has no root.
  int64_t root = 0;
  /// Chunks a segment.
  int64_t chunks = 1;
  /// Chunks that each chunk of the program is cut into, for what it applies and for its
  /// schedule.
  int64_t parts = 1;
  /// Workers of a rank, which share out the parts of every chunk: worker w moves each
  /// chunk whose number is w modulo their number, and no other touches it.
  int64_t workers = 1;
  /// Which ranks do alike. The statements are those that write on representatives; each
  /// stands for its images under all shifts, and all of these take effect at once. The
  /// images of a scratch chunk have its number on every rank.
  Symmetry symmetry;
  /// Of `custom`, and of nothing else.
  std::shared_ptr<const OwnContract> contract;
  std::vector<ScratchBuffer> scratch;
  std::vector<Place> sources;
  std::vector<Statement> statements;

  std::span<const Place> sourcesOf(const Statement &statement) const {
    return std::span(sources).subspan(statement.firstSource, statement.sourceCount);
  }
  int64_t scratchChunks() const {
    return scratch.empty() ? 0 : scratch.back().first + scratch.back().count;
  }
  /// The place as a user writes it: "incoming[2] on rank 1".
  std::string describe(const Place &place) const;
};

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_INSTANCE_H
