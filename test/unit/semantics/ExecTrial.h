//===- ExecTrial.h - A program that is run, not reasoned about --*- C++ -*-===//
//
// The events of several tiles and calls of a plan's first variant, in threads, and a machine
// that executes them one by one, in any order that the program allows, on memory whose chunks say
// which inputs of which tile and call they hold. It shares no idea, and no code, with verifyExec.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_UNIT_SEMANTICS_EXECTRIAL_H
#define COIL_TEST_UNIT_SEMANTICS_EXECTRIAL_H

#include "compiler/schedule/ExecProgram.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace coil {

/// What an event of a thread does. A barrier is two: all arrive before one passes.
enum class TrialEventKind : uint8_t { Enter, Leave, Operation, Arrive, Pass };

struct TrialEvent {
  TrialEventKind kind;
  int64_t rank;
  int call = 0;
  int tile = 0;
  const ExecOp *op = nullptr;
  /// Of Arrive and Pass.
  size_t barrier = 0;
  /// Numbers of chunks of memory.
  std::vector<size_t> reads = {}, writes = {};
  /// Ranks, other than this one, whose memory it accesses.
  std::set<int64_t> visits = {};
};

/// An event by its thread and its place in it.
using EventId = std::pair<size_t, size_t>;

/// Something that went wrong: at an operation, or at an output in the end.
struct TrialFault {
  std::string message;
  const ExecOp *op = nullptr;
  /// Where `op` is null: the output chunk of a rank.
  int64_t rank = 0, output = 0;
};

class ExecTrial {
public:
  /// The plan must outlive the trial.
  ExecTrial(const ExecPlan &plan, bool inPlace, int tiles, int calls);

  const ExecPlan &plan;
  const ExecVariant &variant;
  const bool inPlace;
  const int tiles, calls;

  /// For each rank a thread of its enters and leaves, which its workers' follow.
  std::vector<std::vector<TrialEvent>> threads;
  /// Per rank, the thread of its enters and leaves.
  std::vector<size_t> gates;

  size_t chunks() const { return numbers.size(); }
  size_t events() const;
  const TrialEvent &event(EventId id) const { return threads[id.first][id.second]; }
  /// What is wrong with single operations, whatever runs when.
  const std::optional<std::string> &staticFault() const { return fault; }
  /// In each section, as much comes from a channel's or barrier's one end as the other takes.
  bool isBalanced() const;

private:
  friend class TrialRun;
  /// An input chunk of one tile of one call.
  using Source = std::tuple<int64_t, int64_t, int, int>;

  size_t chunkNumber(int64_t rank, ExecBuffer buffer, int64_t index, int tile);
  std::optional<int64_t> sharedOutput(int64_t rank, int64_t index) const;
  int64_t inputChunks() const;
  int64_t outputChunks() const;
  std::vector<std::pair<int64_t, int64_t>> promised(int64_t rank, int64_t index) const;
  void addRank(int64_t rank);
  void addSection(std::vector<TrialEvent> &thread, const std::vector<ExecOp> &ops, int64_t rank,
                  int call, int tile, size_t &barriers);
  void addAccess(TrialEvent &event, const ExecPlace &place, bool isWrite);

  std::map<std::tuple<int64_t, ExecBuffer, int64_t, int>, size_t> numbers;
  std::optional<std::string> fault;
};

/// One run of a trial, as far as it has come.
class TrialRun {
public:
  /// Without values it only counts, which is much faster.
  TrialRun(const ExecTrial &trial, bool onValues);

  /// True if the thread has an event left that may happen now.
  bool canStep(size_t thread) const;
  /// Lets the thread's next event happen, which may.
  void step(size_t thread);
  /// Goes on as far as it comes without the event; its thread stops before it.
  void runWithout(std::optional<EventId> held);

  bool isThrough() const { return ran == trial.events(); }
  /// How many events of the thread have happened.
  size_t position(size_t thread) const { return next[thread]; }
  bool hasLeft(int64_t rank, int call) const { return left[static_cast<size_t>(rank)] > call; }
  bool hasEntered(int64_t rank, int call) const {
    return entered[static_cast<size_t>(rank)] > call;
  }
  /// What has gone wrong so far; nothing without values.
  const std::vector<TrialFault> &faults() const { return found; }

private:
  struct Held {
    int64_t count = 1;
    int64_t divisions = 0;
    bool operator==(const Held &) const = default;
  };
  struct Chunk {
    bool isSet = false;
    int64_t length = 0;
    std::map<ExecTrial::Source, Held> sources;
  };

  void count(const TrialEvent &event);
  void execute(const TrialEvent &event);
  void prepare(const TrialEvent &event);
  void inspect(const TrialEvent &event);
  void move(const TrialEvent &event);
  void divide(const ExecOp &op, Chunk &chunk);

  const ExecTrial &trial;
  bool onValues;
  size_t ran = 0;
  std::vector<size_t> next;
  std::vector<int64_t> sent, received, signals, waits;
  std::vector<int> entered, left;
  /// Per rank and barrier, how many workers have arrived.
  std::vector<std::vector<size_t>> arrived;
  std::vector<Chunk> memory;
  std::vector<std::deque<Chunk>> messages;
  std::vector<TrialFault> found;
};

} // namespace coil

#endif // COIL_TEST_UNIT_SEMANTICS_EXECTRIAL_H
