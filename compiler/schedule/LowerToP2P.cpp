//===- LowerToP2P.cpp - Matched programs over peer memory -----------------===//

#include "compiler/schedule/LowerProtocol.h"
#include "compiler/schedule/MatchedGraph.h"
#include "compiler/schedule/MemoryLocations.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

namespace coil {

namespace {

constexpr uint32_t none = MatchedGraph::none;

/// A point in a worker's new body: after the operation with this number.
struct Point {
  uint32_t worker = none;
  uint32_t position = none;
};

/// How far, counted in operations of each worker, others' work is known to be done.
using Clock = std::vector<uint32_t>;

class P2PLowering {
public:
  P2PLowering(const ExecPlan &plan, const ExecVariant &matched, const MatchedGraph &graph)
      : matched(matched), graph(graph),
        locations({plan.collective, plan.ranks, matched.root, plan.chunks}, matched.inPlace,
                  matched.scratch),
        nodes(graph.nodes().size()), workers(graph.workerCount()) {
    for (Worker &worker : workers)
      worker.clock.assign(graph.workerCount(), 0);
    variant = matched;
    variant.transport = ExecTransport::P2P;
    variant.channels.clear();
  }

  ExecVariant run() {
    keepLocalChannels();
    chooseSources();
    for (uint32_t node : graph.order())
      lower(node);
    closeTile();
    closeCall();
    assemble();
    return std::move(variant);
  }

private:
  struct NodeState {
    /// Sends: the copy's place if the value is copied before it is read.
    std::optional<ExecPlace> snapshot;
    /// Sends: the write (or the copy) that the reader must see; none for an input.
    Point written;
    /// The clock that followers of the operation inherit.
    Clock clock;
  };

  struct Worker {
    std::vector<ExecOp> body;
    /// Clocks after each operation of `body`.
    std::vector<Clock> clocks;
    /// Channels to signal after, and wait for before, the operation of that number;
    /// a wait at the end has the number of operations.
    std::multimap<uint32_t, uint32_t> signals, waits;
    std::vector<ExecOp> epilogueSignals, epilogueWaits;
    Clock clock;
    /// Ranks whose memory the worker reads.
    std::set<int64_t> peers;
  };

  //===--------------------------------------------------------------------===//
  // Where receivers read
  //===--------------------------------------------------------------------===//

  /// Signals between workers of one rank, if the programs have any, stay.
  void keepLocalChannels() {
    for (const MatchedGraph::Node &node : graph.nodes())
      if (node.op->kind == ExecOpKind::Signal || node.op->kind == ExecOpKind::Wait)
        keptChannel.try_emplace(node.op->channel, none);
    for (auto &[channel, kept] : keptChannel) {
      kept = static_cast<uint32_t>(variant.channels.size());
      variant.channels.push_back(matched.channels[channel]);
    }
  }

  /// Decides for every send whether its receiver reads the place itself. It may
  /// unless the sender overwrites the place at a level not above the read's: then
  /// nothing could order the read before. Levels only rise along the edges added
  /// for this, so that together they close no cycle.
  void chooseSources() {
    std::vector<uint32_t> receiver(nodes.size(), none);
    for (uint32_t i = 0; i < nodes.size(); ++i)
      for (uint32_t send : graph.nodes()[i].sends)
        if (send != none)
          receiver[send] = i;

    std::unordered_map<size_t, std::vector<uint32_t>> writers; // by location
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (writes(*graph.nodes()[i].op))
        writers[locations.of(graph.nodes()[i].op->destination)].push_back(i);

    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const MatchedGraph::Node &send = graph.nodes()[i];
      if (send.op->kind != ExecOpKind::Send || receiver[i] == none)
        continue;
      for (uint32_t writer : writers[locations.of(send.op->operands[0].place)]) {
        const MatchedGraph::Node &overwriting = graph.nodes()[writer];
        if (overwriting.worker == send.worker && writer < i)
          continue; // wrote what is sent
        if (overwriting.level <= graph.nodes()[receiver[i]].level) {
          int32_t rank = graph.rankOf(send.worker);
          int64_t &scratch = variant.scratch[static_cast<size_t>(rank)];
          nodes[i].snapshot = ExecPlace{ExecBuffer::Scratch, rank, scratch++};
          break;
        }
      }
    }
  }

  static bool writes(const ExecOp &op) {
    switch (op.kind) {
    case ExecOpKind::Copy:
    case ExecOpKind::Reduce:
    case ExecOpKind::Recv:
    case ExecOpKind::RecvReduce:
      return true;
    default:
      return false;
    }
  }

  //===--------------------------------------------------------------------===//
  // The body
  //===--------------------------------------------------------------------===//

  static void merge(Clock &into, const Clock &other) {
    for (size_t i = 0; i < into.size(); ++i)
      into[i] = std::max(into[i], other[i]);
  }

  /// Makes sure that `point` is done before the next operation of `worker`.
  void require(uint32_t worker, Point point) {
    Worker &waiter = workers[worker];
    if (point.worker == none || point.worker == worker ||
        waiter.clock[point.worker] > point.position)
      return;
    uint32_t channel = syncChannel(point.worker, worker);
    workers[point.worker].signals.emplace(point.position, channel);
    waiter.waits.emplace(static_cast<uint32_t>(waiter.body.size()), channel);
    merge(waiter.clock, workers[point.worker].clocks[point.position]);
  }

  Point emit(uint32_t worker, ExecOp op) {
    Worker &target = workers[worker];
    Point point{worker, static_cast<uint32_t>(target.body.size())};
    target.body.push_back(std::move(op));
    target.clock[worker] = point.position + 1;
    target.clocks.push_back(target.clock);
    return point;
  }

  void lower(uint32_t index) {
    const MatchedGraph::Node &node = graph.nodes()[index];
    NodeState &state = nodes[index];
    for (uint32_t predecessor : node.predecessors)
      // Order by signals, barriers and the worker itself stays as it was.
      if (node.op->kind == ExecOpKind::Wait || node.op->kind == ExecOpKind::Barrier)
        merge(workers[node.worker].clock, nodes[predecessor].clock);
    if (node.op->kind == ExecOpKind::Send)
      lowerSend(index);
    else
      lowerOther(index);
    state.clock = workers[node.worker].clock;
  }

  void lowerSend(uint32_t index) {
    const MatchedGraph::Node &node = graph.nodes()[index];
    NodeState &state = nodes[index];
    ExecPlace source = node.op->operands[0].place;
    if (state.snapshot) {
      ExecOp copy;
      copy.kind = ExecOpKind::Copy;
      copy.length = node.op->length;
      copy.operands = {ExecOperand::ofPlace(source)};
      copy.destination = *state.snapshot;
      copy.location = node.op->location;
      state.written = emit(node.worker, std::move(copy));
      return;
    }
    auto it = lastWrite.find(locations.of(source));
    if (it == lastWrite.end())
      return;
    state.written = it->second;
    // Another worker of the rank wrote it and is ordered before this send.
    size_t emitted = workers[node.worker].body.size();
    if (state.written.worker != node.worker && emitted > 0)
      state.written = {node.worker, static_cast<uint32_t>(emitted - 1)};
  }

  void lowerOther(uint32_t index) {
    const MatchedGraph::Node &node = graph.nodes()[index];
    ExecOp op = *node.op;
    struct PeerRead {
      bool snapshot;
      ExecPlace place;
    };
    std::vector<PeerRead> reads;
    auto send = node.sends.begin();
    for (ExecOperand &operand : op.operands) {
      if (!operand.isHead)
        continue;
      uint32_t sender = *send++;
      if (sender == none)
        continue; // unmatched; verify-exec reports it
      require(node.worker, nodes[sender].written);
      bool snapshot = nodes[sender].snapshot.has_value();
      operand = ExecOperand::ofPlace(snapshot ? *nodes[sender].snapshot
                                              : graph.nodes()[sender].op->operands[0].place);
      reads.push_back({snapshot, operand.place});
      workers[node.worker].peers.insert(operand.place.rank);
    }
    if (writes(op)) {
      auto it = readers.find(locations.of(op.destination));
      if (it != readers.end()) {
        for (Point reader : it->second)
          require(node.worker, reader);
        readers.erase(it);
      }
    }
    if (op.kind == ExecOpKind::Recv)
      op.kind = ExecOpKind::Get;
    else if (op.kind == ExecOpKind::RecvReduce)
      op.kind = ExecOpKind::GetReduce;
    else if (op.kind == ExecOpKind::Signal || op.kind == ExecOpKind::Wait)
      op.channel = keptChannel.at(op.channel);

    Point point = emit(node.worker, std::move(op));
    if (writes(*node.op))
      lastWrite[locations.of(node.op->destination)] = point;
    for (const PeerRead &read : reads) {
      if (!read.snapshot)
        readers[locations.of(read.place)].push_back(point);
      lastRead[{read.place.rank, node.worker}] = point;
      if (read.place.buffer == ExecBuffer::Scratch)
        lastScratchRead[{read.place.rank, node.worker}] = point;
    }
  }

  //===--------------------------------------------------------------------===//
  // The ends of tiles and of the call
  //===--------------------------------------------------------------------===//

  /// The next tile reuses scratch: its owner waits for the last reads.
  void closeTile() {
    for (auto &[key, point] : lastScratchRead)
      for (size_t worker = 0; worker < matched.programs[static_cast<size_t>(key.first)].size();
           ++worker)
        require(graph.workerOf(key.first, static_cast<int64_t>(worker)), point);
  }

  /// A rank leaves the call after the last access to its memory.
  void closeCall() {
    for (auto &[key, point] : lastRead) {
      auto [owner, reader] = key;
      uint32_t waiter = graph.workerOf(owner, 0);
      size_t workerCount = matched.programs[static_cast<size_t>(owner)].size();
      bool known = false;
      for (size_t worker = 0; worker < workerCount; ++worker)
        known |= workers[waiter + worker].clock[reader] > point.position;
      if (known)
        continue;
      ExecOp op;
      op.channel = syncChannel(reader, waiter);
      op.location = workers[reader].body[point.position].location;
      op.kind = ExecOpKind::Signal;
      workers[reader].epilogueSignals.push_back(op);
      op.kind = ExecOpKind::Wait;
      workers[waiter].epilogueWaits.push_back(op);
    }
  }

  uint32_t syncChannel(uint32_t from, uint32_t to) {
    auto [it, inserted] =
        syncChannels.try_emplace({from, to}, static_cast<uint32_t>(variant.channels.size()));
    if (inserted) {
      ExecChannel channel;
      channel.sourceRank = graph.rankOf(from);
      channel.destinationRank = graph.rankOf(to);
      channel.sourceWorker = from - graph.workerOf(channel.sourceRank, 0);
      channel.destinationWorker = to - graph.workerOf(channel.destinationRank, 0);
      channel.name = channel.sourceWorker || channel.destinationWorker
                         ? fmt::format("sync{}w{}to{}w{}", channel.sourceRank, channel.sourceWorker,
                                       channel.destinationRank, channel.destinationWorker)
                         : fmt::format("sync{}to{}", channel.sourceRank, channel.destinationRank);
      variant.channels.push_back(std::move(channel));
    }
    return it->second;
  }

  /// Sorts signals, or waits, in which any order will do, by how far the other end is:
  /// so ranks that do alike do it in one order.
  void sortByDistance(int64_t rank, std::span<ExecOp> ops) const {
    auto key = [&](const ExecOp &op) {
      const ExecChannel &channel = variant.channels[op.channel];
      bool isSignal = op.kind == ExecOpKind::Signal;
      int64_t other = isSignal ? channel.destinationRank : channel.sourceRank;
      int64_t worker = isSignal ? channel.destinationWorker : channel.sourceWorker;
      return std::tuple(variant.distance(rank, other), worker);
    };
    std::sort(ops.begin(), ops.end(),
              [&](const ExecOp &a, const ExecOp &b) { return key(a) < key(b); });
  }

  void assemble() {
    for (uint32_t index = 0; index < workers.size(); ++index) {
      Worker &worker = workers[index];
      int64_t owner = graph.rankOf(index);
      auto rank = static_cast<size_t>(owner);
      ExecWorker &target =
          variant.programs[rank][index - graph.workerOf(static_cast<int64_t>(rank), 0)];
      LocationIndex last = 0;
      target.body.clear();
      auto addSync = [&](ExecOpKind kind, const std::multimap<uint32_t, uint32_t> &at,
                         uint32_t position, LocationIndex location) {
        auto [begin, end] = at.equal_range(position);
        size_t first = target.body.size();
        for (auto it = begin; it != end; ++it) {
          ExecOp op;
          op.kind = kind;
          op.channel = it->second;
          op.location = location;
          target.body.push_back(std::move(op));
        }
        sortByDistance(owner, std::span(target.body).subspan(first));
      };
      for (uint32_t i = 0; i < worker.body.size(); ++i) {
        last = worker.body[i].location;
        addSync(ExecOpKind::Wait, worker.waits, i, last);
        target.body.push_back(std::move(worker.body[i]));
        addSync(ExecOpKind::Signal, worker.signals, i, last);
      }
      addSync(ExecOpKind::Wait, worker.waits, static_cast<uint32_t>(worker.body.size()), last);
      if (!worker.peers.empty()) {
        ExecOp meet;
        meet.kind = ExecOpKind::Meet;
        meet.peers.assign(worker.peers.begin(), worker.peers.end());
        std::sort(meet.peers.begin(), meet.peers.end(), [&](int64_t a, int64_t b) {
          return variant.distance(owner, a) < variant.distance(owner, b);
        });
        meet.location = variant.location;
        target.prologue.push_back(std::move(meet));
      }
      // All signals first: nobody waits for a rank that waits itself.
      for (std::vector<ExecOp> *ops : {&worker.epilogueSignals, &worker.epilogueWaits}) {
        sortByDistance(owner, *ops);
        target.epilogue.insert(target.epilogue.end(), ops->begin(), ops->end());
      }
    }
  }

  const ExecVariant &matched;
  const MatchedGraph &graph;
  MemoryLocations locations;
  std::vector<NodeState> nodes;
  std::vector<Worker> workers;
  ExecVariant variant;
  std::map<uint32_t, uint32_t> keptChannel;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> syncChannels;
  std::unordered_map<size_t, Point> lastWrite;
  /// Reads by peers since the last write, by location.
  std::unordered_map<size_t, std::vector<Point>> readers;
  /// The last reads of a rank's memory, and of its scratch, by each worker of others.
  std::map<std::pair<int64_t, uint32_t>, Point> lastRead, lastScratchRead;
};

} // namespace

std::optional<ExecVariant> lowerToP2P(const ExecPlan &plan, const ExecVariant &matched,
                                      Finding &deadlock) {
  MatchedGraph graph(matched);
  if (graph.order().size() < graph.nodes().size()) {
    for (const MatchedGraph::Node &node : graph.nodes())
      if (node.level == none) {
        deadlock = {node.op->location,
                    fmt::format("{} on rank {} waits for itself: the programs deadlock",
                                nameOf(node.op->kind), graph.rankOf(node.worker)),
                    {}};
        break;
      }
    return std::nullopt;
  }
  return P2PLowering(plan, matched, graph).run();
}

} // namespace coil
