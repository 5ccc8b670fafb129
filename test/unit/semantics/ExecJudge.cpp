//===- ExecJudge.cpp - Tries a program out --------------------------------===//

#include "test/unit/semantics/ExecJudge.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace coil {

namespace {

/// What an event of a thread does. A barrier is two: all arrive before one passes.
enum class EventKind : uint8_t { Enter, Leave, Operation, Arrive, Pass };

struct Event {
  EventKind kind;
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

/// An input chunk of one tile of one call.
using Source = std::tuple<int64_t, int64_t, int, int>;

struct Held {
  int64_t count = 1;
  int64_t divisions = 0;
  bool operator==(const Held &) const = default;
};

struct Chunk {
  bool isSet = false;
  int64_t length = 0;
  std::map<Source, Held> sources;
};

class Judge {
public:
  Judge(const ExecPlan &plan, bool inPlace, int tiles, int calls)
      : plan(plan), variant(plan.variants.front()), inPlace(inPlace), tiles(tiles), calls(calls),
        ranks(plan.ranks) {
    for (int64_t rank = 0; rank < ranks; ++rank)
      addRank(rank);
  }

  std::optional<std::string> judge() {
    if (!isBalanced())
      return "counts of a channel's or barrier's ends differ";
    bool isThrough = run(nullptr, /*onValues=*/true) == events();
    if (!complaint.empty())
      return complaint;
    if (!isThrough)
      return "gets stuck";
    findOrder();
    if (!complaint.empty())
      return complaint;
    return std::nullopt;
  }

private:
  //===--------------------------------------------------------------------===//
  // What there is
  //===--------------------------------------------------------------------===//

  size_t chunkNumber(int64_t rank, ExecBuffer buffer, int64_t index, int tile) {
    if (buffer == ExecBuffer::Input && inPlace) {
      if (auto output = sharedOutput(rank, index)) {
        buffer = ExecBuffer::Output;
        index = *output;
      }
    }
    if (buffer == ExecBuffer::Scratch)
      tile = 0;
    return numbers.try_emplace({rank, buffer, index, tile}, numbers.size()).first->second;
  }

  std::optional<int64_t> sharedOutput(int64_t rank, int64_t index) const {
    int64_t chunks = plan.chunks;
    switch (plan.collective) {
    case Collective::AllReduce:
      return index;
    case Collective::AllGather:
      return rank * chunks + index;
    case Collective::ReduceScatter:
      return index / chunks == rank ? std::optional(index % chunks) : std::nullopt;
    case Collective::Broadcast:
    case Collective::Reduce:
      return rank == variant.root ? std::optional(index) : std::nullopt;
    case Collective::Gather:
      return rank == variant.root ? std::optional(rank * chunks + index) : std::nullopt;
    case Collective::Scatter:
      return rank == variant.root && index / chunks == rank ? std::optional(index % chunks)
                                                            : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  int64_t inputChunks() const { return segmentCounts(plan.collective, ranks).input * plan.chunks; }
  int64_t outputChunks() const {
    return segmentCounts(plan.collective, ranks).output * plan.chunks;
  }

  /// The input chunks that output chunk `index` of a rank must be made of, as
  /// (rank, chunk); none if nothing is promised.
  std::vector<std::pair<int64_t, int64_t>> promised(int64_t rank, int64_t index) const {
    std::vector<std::pair<int64_t, int64_t>> sources;
    for (int64_t source = 0; source < ranks; ++source) {
      bool fromSegment = index / plan.chunks == source;
      switch (plan.collective) {
      case Collective::AllReduce:
        sources.push_back({source, index});
        break;
      case Collective::Reduce:
        if (rank == variant.root)
          sources.push_back({source, index});
        break;
      case Collective::ReduceScatter:
        sources.push_back({source, rank * plan.chunks + index});
        break;
      case Collective::Gather:
        if (rank != variant.root)
          break;
        [[fallthrough]];
      case Collective::AllGather:
        if (fromSegment)
          sources.push_back({source, index % plan.chunks});
        break;
      case Collective::AllToAll:
        if (fromSegment)
          sources.push_back({source, rank * plan.chunks + index % plan.chunks});
        break;
      case Collective::Broadcast:
        if (source == variant.root)
          sources.push_back({source, index});
        break;
      case Collective::Scatter:
        if (source == variant.root)
          sources.push_back({source, rank * plan.chunks + index});
        break;
      case Collective::SendRecv:
        if ((source + 1) % ranks == rank)
          sources.push_back({source, index});
        break;
      default:
        break;
      }
    }
    return sources;
  }

  void addRank(int64_t rank) {
    gates.push_back(threads.size());
    std::vector<Event> gate;
    for (int call = 0; call < calls; ++call) {
      Event enter{EventKind::Enter, rank, call}, leave{EventKind::Leave, rank, call};
      for (int tile = 0; tile < tiles; ++tile) {
        for (int64_t index = 0; index < inputChunks(); ++index)
          enter.writes.push_back(chunkNumber(rank, ExecBuffer::Input, index, tile));
        for (int64_t index = 0; index < outputChunks(); ++index) {
          enter.writes.push_back(chunkNumber(rank, ExecBuffer::Output, index, tile));
          leave.reads.push_back(chunkNumber(rank, ExecBuffer::Output, index, tile));
        }
      }
      gate.push_back(enter);
      gate.push_back(leave);
    }
    threads.push_back(std::move(gate));
    for (const ExecWorker &worker : variant.programs[static_cast<size_t>(rank)]) {
      std::vector<Event> thread;
      size_t barriers = 0;
      for (int call = 0; call < calls; ++call) {
        addSection(thread, worker.prologue, rank, call, 0, barriers);
        for (int tile = 0; tile < tiles; ++tile)
          addSection(thread, worker.body, rank, call, tile, barriers);
        addSection(thread, worker.epilogue, rank, call, 0, barriers);
      }
      threads.push_back(std::move(thread));
    }
  }

  void addSection(std::vector<Event> &thread, const std::vector<ExecOp> &ops, int64_t rank,
                  int call, int tile, size_t &barriers) {
    for (const ExecOp &op : ops) {
      Event event{EventKind::Operation, rank, call, tile, &op};
      if (op.kind == ExecOpKind::Barrier) {
        event.kind = EventKind::Arrive;
        event.barrier = barriers++;
        thread.push_back(event);
        event.kind = EventKind::Pass;
      }
      auto add = [&](const ExecPlace &place, std::vector<size_t> &to) {
        to.push_back(chunkNumber(place.rank, place.buffer, place.index, tile));
        if (place.rank != rank)
          event.visits.insert(place.rank);
        bool isOffRoot = place.rank != variant.root;
        bool rootSends =
            plan.collective == Collective::Broadcast || plan.collective == Collective::Scatter;
        if (isOffRoot && rootSends && place.buffer == ExecBuffer::Input)
          complaint = "uses an input that is not there";
        bool rootReceives =
            plan.collective == Collective::Reduce || plan.collective == Collective::Gather;
        if (isOffRoot && rootReceives && place.buffer == ExecBuffer::Output)
          complaint = "uses an output that is not there";
      };
      for (const ExecOperand &operand : op.operands)
        if (!operand.isHead)
          add(operand.place, event.reads);
      if (hasDestination(op)) {
        add(op.destination, event.writes);
        if (op.destination.buffer == ExecBuffer::Input)
          complaint = "writes the input";
      }
      thread.push_back(event);
    }
  }

  static bool hasDestination(const ExecOp &op) {
    return !op.operands.empty() && op.kind != ExecOpKind::Send && op.kind != ExecOpKind::Push;
  }

  bool isBalanced() const {
    // Per section and channel: data that comes less data that goes, and signals.
    std::map<std::pair<int, uint32_t>, std::pair<int64_t, int64_t>> balance;
    for (const auto &program : variant.programs) {
      std::set<std::vector<int64_t>> barriers;
      for (const ExecWorker &worker : program) {
        std::vector<int64_t> counts;
        int section = 0;
        for (const auto *ops : {&worker.prologue, &worker.body, &worker.epilogue}) {
          counts.push_back(0);
          for (const ExecOp &op : *ops) {
            counts.back() += op.kind == ExecOpKind::Barrier;
            auto &[data, signals] = balance[{section, op.channel}];
            data += op.kind == ExecOpKind::Send || op.kind == ExecOpKind::Push;
            signals += (op.kind == ExecOpKind::Signal) - (op.kind == ExecOpKind::Wait);
            for (const ExecOperand &operand : op.operands)
              if (operand.isHead)
                --balance[{section, operand.channel}].first;
          }
          ++section;
        }
        barriers.insert(counts);
      }
      if (barriers.size() > 1)
        return false;
    }
    return std::ranges::all_of(balance, [](const auto &entry) {
      return entry.second == std::pair<int64_t, int64_t>(0, 0);
    });
  }

  size_t events() const {
    size_t count = 0;
    for (const auto &thread : threads)
      count += thread.size();
    return count;
  }

  //===--------------------------------------------------------------------===//
  // Running
  //===--------------------------------------------------------------------===//

  struct Counters {
    std::vector<size_t> next;
    std::vector<int64_t> sent, received, signals, waits;
    std::vector<int> entered, left;
    std::map<std::pair<int64_t, size_t>, size_t> arrived;
  };

  bool canRun(const Event &event, const Counters &now) const {
    size_t rank = static_cast<size_t>(event.rank);
    switch (event.kind) {
    case EventKind::Enter:
      return true;
    case EventKind::Leave:
      for (size_t i = 1; i <= variant.programs[rank].size(); ++i) {
        size_t thread = gates[rank] + i;
        if (now.next[thread] < threads[thread].size() &&
            threads[thread][now.next[thread]].call <= event.call)
          return false;
      }
      return true;
    case EventKind::Pass:
      return now.arrived.at({event.rank, event.barrier}) == variant.programs[rank].size();
    case EventKind::Arrive:
    case EventKind::Operation:
      break;
    }
    if (now.entered[rank] <= event.call)
      return false;
    const ExecOp &op = *event.op;
    for (const ExecOperand &operand : op.operands)
      if (operand.isHead && now.sent[operand.channel] == now.received[operand.channel])
        return false;
    size_t channel = op.channel;
    switch (op.kind) {
    case ExecOpKind::Push:
      return now.sent[channel] < now.received[channel] + variant.channels[channel].slots;
    case ExecOpKind::Wait:
      return now.signals[channel] > now.waits[channel];
    case ExecOpKind::Meet:
      return std::ranges::all_of(op.peers, [&](int64_t peer) {
        return now.entered[static_cast<size_t>(peer)] > event.call;
      });
    default:
      return true;
    }
  }

  void count(const Event &event, Counters &now) const {
    size_t rank = static_cast<size_t>(event.rank);
    if (event.kind == EventKind::Enter)
      ++now.entered[rank];
    if (event.kind == EventKind::Leave)
      ++now.left[rank];
    if (event.kind == EventKind::Arrive)
      ++now.arrived[{event.rank, event.barrier}];
    if (event.kind != EventKind::Operation)
      return;
    const ExecOp &op = *event.op;
    for (const ExecOperand &operand : op.operands)
      if (operand.isHead)
        ++now.received[operand.channel];
    if (op.kind == ExecOpKind::Push || op.kind == ExecOpKind::Send)
      ++now.sent[op.channel];
    if (op.kind == ExecOpKind::Signal)
      ++now.signals[op.channel];
    if (op.kind == ExecOpKind::Wait)
      ++now.waits[op.channel];
  }

  /// Runs all but `held` and what waits for it; returns how many events ran, and
  /// leaves how far each thread came in `reached`.
  size_t run(const Event *held, bool onValues) {
    size_t channels = variant.channels.size();
    Counters now;
    now.next.resize(threads.size());
    now.sent.resize(channels);
    now.received = now.signals = now.waits = now.sent;
    now.entered.resize(static_cast<size_t>(ranks));
    now.left = now.entered;
    if (onValues) {
      memory.resize(numbers.size());
      messages.resize(channels);
    }
    size_t ran = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t thread = 0; thread < threads.size(); ++thread)
        while (now.next[thread] < threads[thread].size()) {
          const Event &event = threads[thread][now.next[thread]];
          if (&event == held || !canRun(event, now))
            break;
          if (onValues) {
            execute(event);
            if (!complaint.empty())
              return ran;
          }
          count(event, now);
          ++now.next[thread];
          ++ran;
          moved = true;
        }
    }
    reached = now.next;
    return ran;
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  void execute(const Event &event) {
    if (event.kind == EventKind::Enter)
      prepare(event);
    else if (event.kind == EventKind::Leave)
      inspect(event);
    else if (event.kind == EventKind::Operation && !event.op->operands.empty())
      move(event);
  }

  /// The caller fills the input, and leaves the output undefined.
  void prepare(const Event &event) {
    for (size_t chunk : event.writes)
      memory[chunk] = {};
    bool isEmpty = plan.collective == Collective::Broadcast && event.rank != variant.root;
    for (int tile = 0; tile < tiles && !isEmpty; ++tile)
      for (int64_t index = 0; index < inputChunks(); ++index) {
        Chunk &chunk = memory[chunkNumber(event.rank, ExecBuffer::Input, index, tile)];
        chunk = {true, index % plan.chunks, {}};
        chunk.sources[{event.rank, index, tile, event.call}] = {};
      }
  }

  void inspect(const Event &event) {
    bool divides = combines(plan.collective) && ranks > 1;
    for (int tile = 0; tile < tiles; ++tile)
      for (int64_t index = 0; index < outputChunks(); ++index) {
        std::map<Source, Held> expected;
        for (auto [rank, chunk] : promised(event.rank, index))
          expected[{rank, chunk, tile, event.call}] = {1, divides};
        const Chunk &found = memory[chunkNumber(event.rank, ExecBuffer::Output, index, tile)];
        if (!expected.empty() && (!found.isSet || found.sources != expected))
          complaint = fmt::format("output[{}] on rank {} is wrong in tile {} of call {}", index,
                                  event.rank, tile, event.call);
      }
  }

  void move(const Event &event) {
    const ExecOp &op = *event.op;
    Chunk result{true, op.length, {}};
    size_t nextRead = 0;
    for (const ExecOperand &operand : op.operands) {
      Chunk chunk;
      if (operand.isHead) {
        chunk = messages[operand.channel].front();
        messages[operand.channel].pop_front();
      } else {
        chunk = memory[event.reads[nextRead++]];
      }
      if (!chunk.isSet)
        complaint = "reads what was never set";
      else if (chunk.length != op.length)
        complaint = "mixes lengths";
      for (auto [source, held] : chunk.sources) {
        if (op.operands.size() > 1 && held.divisions)
          complaint = "combines what was divided";
        if (!result.sources.emplace(source, held).second)
          complaint = "combines twice";
      }
    }
    if (op.complete)
      divide(result);
    if (hasDestination(op))
      memory[event.writes.front()] = std::move(result);
    else
      messages[op.channel].push_back(std::move(result));
  }

  void divide(Chunk &chunk) {
    std::set<int64_t> contributors;
    for (auto &[source, held] : chunk.sources) {
      contributors.insert(std::get<0>(source));
      if (held.divisions++)
        complaint = "divides twice";
    }
    if (!combines(plan.collective) || static_cast<int64_t>(contributors.size()) != ranks ||
        static_cast<int64_t>(chunk.sources.size()) != ranks)
      complaint = "divides what is not complete";
  }

  //===--------------------------------------------------------------------===//
  // Order
  //===--------------------------------------------------------------------===//

  void findOrder() {
    // For each event with an access, how far each thread can come without it.
    std::vector<std::vector<std::vector<size_t>>> reachedWithout(threads.size());
    for (size_t thread = 0; thread < threads.size(); ++thread)
      for (const Event &event : threads[thread]) {
        run(&event, /*onValues=*/false);
        reachedWithout[thread].push_back(reached);
      }
    // True if `second` may begin before `first` has ended.
    auto canOvertake = [&](std::pair<size_t, size_t> first, std::pair<size_t, size_t> second) {
      return reachedWithout[first.first][first.second][second.first] > second.second;
    };

    struct Access {
      std::pair<size_t, size_t> event;
      bool isWrite;
    };
    std::vector<std::vector<Access>> accesses(numbers.size());
    for (size_t thread = 0; thread < threads.size(); ++thread)
      for (size_t i = 0; i < threads[thread].size(); ++i) {
        const Event &event = threads[thread][i];
        for (size_t chunk : event.reads)
          accesses[chunk].push_back({{thread, i}, false});
        for (size_t chunk : event.writes)
          accesses[chunk].push_back({{thread, i}, true});
        for (int64_t visited : event.visits) {
          size_t gate = gates[static_cast<size_t>(visited)];
          size_t call = static_cast<size_t>(event.call);
          if (canOvertake({gate, 2 * call}, {thread, i}))
            complaint = "accesses memory of a rank that has not entered";
          if (canOvertake({thread, i}, {gate, 2 * call + 1}))
            complaint = "accesses memory of a rank that has left";
        }
      }
    for (const auto &sharing : accesses)
      for (const Access &a : sharing)
        for (const Access &b : sharing)
          if ((a.isWrite || b.isWrite) && a.event.first < b.event.first &&
              canOvertake(a.event, b.event) && canOvertake(b.event, a.event))
            complaint = "has a race";
  }

  const ExecPlan &plan;
  const ExecVariant &variant;
  bool inPlace;
  int tiles, calls;
  int64_t ranks;
  std::map<std::tuple<int64_t, ExecBuffer, int64_t, int>, size_t> numbers;
  /// Per rank the thread of its enters and leaves, which its workers' follow.
  std::vector<size_t> gates;
  std::vector<std::vector<Event>> threads;
  std::vector<Chunk> memory;
  std::vector<std::deque<Chunk>> messages;
  std::vector<size_t> reached;
  std::string complaint;
};

} // namespace

std::optional<std::string> judgeExec(const ExecPlan &plan, int tiles, int calls) {
  bool inPlace = plan.variants.front().inPlace;
  if (auto wrong = Judge(plan, inPlace, tiles, calls).judge())
    return wrong;
  // With a root, one program serves calls in place too.
  if (hasRoot(plan.collective) && !inPlace)
    return Judge(plan, true, tiles, calls).judge();
  return std::nullopt;
}

} // namespace coil
