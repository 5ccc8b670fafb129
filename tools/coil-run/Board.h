//===- Board.h - Memory that the tool's processes share ---------*- C++ -*-===//
//
// An anonymous shared mapping made before the first fork, in which ranks meet,
// and leave their results for the parent. It uses nothing of the runtime, so it
// works however badly a collective fails.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TOOLS_COIL_RUN_BOARD_H
#define COIL_TOOLS_COIL_RUN_BOARD_H

#include "runtime/base/Status.h"
#include "runtime/base/UniqueFd.h"
#include "runtime/include/coil/coil.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace coil::run {

/// What one rank found for one row and placement.
struct Outcome {
  /// Mean of a call, over `iterations` calls.
  double seconds;
  uint64_t iterations;
  uint64_t wrong;
};

class Board {
public:
  /// For `ranks` ranks and `rows` rows, two outcomes each.
  static Result<std::unique_ptr<Board>> create(int ranks, size_t rows);
  Board(const Board &) = delete;
  Board &operator=(const Board &) = delete;
  ~Board();

  /// Rank 0 writes it before the first meeting.
  coilUniqueId &id();

  /// A number that rank 0 writes before a meeting, and the others read after it and
  /// before the next one.
  uint64_t &agreedNumber();

  /// Waits until every rank has come as often as `rank`. Ends early, with
  /// Aborted, once the run has failed; with Timeout, naming a rank that has
  /// not come, after `timeoutMs` (0: never).
  Status meet(int rank, uint64_t timeoutMs);

  /// Tells every rank that waits, or will wait, that the run has failed.
  void fail();
  bool hasFailed() const;

  /// True for the first `limit` calls of all ranks together.
  bool mayReport(uint32_t limit);

  /// Written by `rank` before it finishes `row`; read after all have.
  Outcome &outcome(size_t row, size_t placement, int rank);
  /// The last rank to finish a row wakes the parent.
  void finishRow(size_t row);
  bool isFinished(size_t row) const;
  /// Becomes readable when a row is finished; for the parent's poll.
  int rowEvent() const { return event.get(); }
  /// Makes it unreadable again.
  void clearRowEvent();

private:
  struct Header;
  struct Arrival;
  Board() = default;
  Header &header() const;
  Arrival &arrival(int rank) const;
  std::atomic<uint32_t> &finishedRanks(size_t row) const;

  std::byte *base = nullptr;
  size_t bytes = 0, finishedOffset = 0, outcomeOffset = 0;
  int ranks = 0;
  UniqueFd event;
};

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_BOARD_H
