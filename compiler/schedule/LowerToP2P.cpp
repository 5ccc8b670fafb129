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

using Image = MatchedGraph::Image;

/// A point in a new body: after the operation with this number of the worker's image.
struct Point {
  uint32_t worker = none;
  uint32_t position = none;
  int64_t shift = 0;
};

/// How far, counted in operations of each worker and each of its images, others' work is
/// known to be done: one entry a worker and shift.
using Clock = std::vector<uint32_t>;

class P2PLowering {
public:
  P2PLowering(const ExecPlan &plan, const ExecVariant &matched, const MatchedGraph &graph)
      : matched(matched), graph(graph),
        shape{plan.collective, plan.ranks, matched.root, plan.chunks, plan.contract},
        symmetry(matched.symmetry), locations(shape, symmetry, matched.inPlace, matched.scratch),
        nodes(graph.nodes().size()), workers(graph.workerCount()) {
    for (Worker &worker : workers)
      worker.clock.assign(graph.workerCount() * static_cast<size_t>(symmetry.shifts()), 0);
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
      for (Image send : graph.nodes()[i].sends)
        if (send.node != none)
          receiver[send.node] = i;

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
          int64_t &scratch = variant.scratch[static_cast<size_t>(graph.kindOf(send.worker))];
          nodes[i].snapshot = ExecPlace{ExecBuffer::Scratch,
                                        static_cast<int32_t>(graph.rankOf(send.worker)), scratch++};
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

  uint32_t &entry(Clock &clock, uint32_t worker, int64_t shift) const {
    return clock[worker * static_cast<size_t>(symmetry.shifts()) + static_cast<size_t>(shift)];
  }

  /// Merges the clock of an image, which the shift leads to.
  void merge(Clock &into, const Clock &other, int64_t shift) const {
    auto shifts = static_cast<size_t>(symmetry.shifts());
    for (size_t to, from = 0; from < shifts; ++from) {
      to = static_cast<size_t>(symmetry.sum(static_cast<int64_t>(from), shift));
      for (size_t worker = 0; worker < into.size(); worker += shifts)
        into[worker + to] = std::max(into[worker + to], other[worker + from]);
    }
  }

  /// Makes sure that `point` is done before the next operation of `worker`.
  void require(uint32_t worker, Point point) {
    Worker &waiter = workers[worker];
    if (point.worker == none || (point.worker == worker && point.shift == 0) ||
        entry(waiter.clock, point.worker, point.shift) > point.position)
      return;
    uint32_t channel = syncChannel(point.worker, worker, symmetry.inverse(point.shift));
    workers[point.worker].signals.emplace(point.position, channel);
    waiter.waits.emplace(static_cast<uint32_t>(waiter.body.size()), channel);
    merge(waiter.clock, workers[point.worker].clocks[point.position], point.shift);
  }

  Point emit(uint32_t worker, ExecOp op) {
    Worker &target = workers[worker];
    Point point{worker, static_cast<uint32_t>(target.body.size()), 0};
    target.body.push_back(std::move(op));
    entry(target.clock, worker, 0) = point.position + 1;
    target.clocks.push_back(target.clock);
    return point;
  }

  void lower(uint32_t index) {
    const MatchedGraph::Node &node = graph.nodes()[index];
    NodeState &state = nodes[index];
    for (Image predecessor : node.predecessors)
      // Order by signals, barriers and the worker itself stays as it was.
      if (node.op->kind == ExecOpKind::Wait || node.op->kind == ExecOpKind::Barrier)
        merge(workers[node.worker].clock, nodes[predecessor.node].clock, predecessor.shift);
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
      state.written = {node.worker, static_cast<uint32_t>(emitted - 1), 0};
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
      Image sender = *send++;
      if (sender.node == none)
        continue; // unmatched; verify-exec reports it
      const NodeState &sent = nodes[sender.node];
      Point written = sent.written;
      written.shift = sender.shift; // it is on the rank of the send
      require(node.worker, written);
      ExecPlace source =
          sent.snapshot ? *sent.snapshot : graph.nodes()[sender.node].op->operands[0].place;
      operand = ExecOperand::ofPlace(shiftPlace(shape, symmetry, source, sender.shift));
      reads.push_back({sent.snapshot.has_value(), operand.place});
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
      // As the representative of the memory's owner sees the reader.
      int64_t owner = symmetry.kindOf(read.place.rank);
      point.shift = symmetry.inverse(symmetry.shiftOf(read.place.rank));
      if (!read.snapshot)
        readers[locations.of(read.place)].push_back(point);
      lastRead[{owner, node.worker, point.shift}] = point;
      if (read.place.buffer == ExecBuffer::Scratch)
        lastScratchRead[{owner, node.worker, point.shift}] = point;
    }
  }

  //===--------------------------------------------------------------------===//
  // The ends of tiles and of the call
  //===--------------------------------------------------------------------===//

  /// The next tile reuses scratch: its owner waits for the last reads.
  void closeTile() {
    for (auto &[key, point] : lastScratchRead) {
      int64_t owner = std::get<0>(key);
      for (size_t worker = 0; worker < matched.programs[static_cast<size_t>(owner)].size();
           ++worker)
        require(graph.workerOf(owner, static_cast<int64_t>(worker)), point);
    }
  }

  /// A rank leaves the call after the last access to its memory.
  void closeCall() {
    for (auto &[key, point] : lastRead) {
      auto [owner, reader, shift] = key;
      uint32_t waiter = graph.workerOf(owner, 0);
      size_t workerCount = matched.programs[static_cast<size_t>(owner)].size();
      bool known = false;
      for (size_t worker = 0; worker < workerCount; ++worker)
        known |= entry(workers[waiter + worker].clock, reader, shift) > point.position;
      if (known)
        continue;
      ExecOp op;
      op.channel = syncChannel(reader, waiter, symmetry.inverse(shift));
      op.location = workers[reader].body[point.position].location;
      op.kind = ExecOpKind::Signal;
      workers[reader].epilogueSignals.push_back(op);
      op.kind = ExecOpKind::Wait;
      workers[waiter].epilogueWaits.push_back(op);
    }
  }

  /// The channel from a worker to another's image, which the shift leads to.
  uint32_t syncChannel(uint32_t from, uint32_t to, int64_t shift) {
    auto [it, inserted] =
        syncChannels.try_emplace({from, to, shift}, static_cast<uint32_t>(variant.channels.size()));
    if (inserted) {
      ExecChannel channel;
      channel.sourceRank = graph.rankOf(from);
      channel.destinationRank = symmetry.shiftRank(graph.rankOf(to), shift);
      channel.sourceWorker = from - graph.workerOf(graph.kindOf(from), 0);
      channel.destinationWorker = to - graph.workerOf(graph.kindOf(to), 0);
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
      int64_t other = isSignal ? channel.destinationRank : variant.sourceSeenFromEnd(channel);
      int64_t worker = isSignal ? channel.destinationWorker : channel.sourceWorker;
      return std::tuple(variant.distance(rank, other), worker);
    };
    std::sort(ops.begin(), ops.end(),
              [&](const ExecOp &a, const ExecOp &b) { return key(a) < key(b); });
  }

  void assemble() {
    for (uint32_t index = 0; index < workers.size(); ++index) {
      Worker &worker = workers[index];
      int64_t owner = graph.rankOf(index), kind = graph.kindOf(index);
      ExecWorker &target =
          variant.programs[static_cast<size_t>(kind)][index - graph.workerOf(kind, 0)];
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
  CollectiveShape shape;
  const Symmetry &symmetry;
  MemoryLocations locations;
  std::vector<NodeState> nodes;
  std::vector<Worker> workers;
  ExecVariant variant;
  std::map<uint32_t, uint32_t> keptChannel;
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, uint32_t> syncChannels;
  std::unordered_map<size_t, Point> lastWrite;
  /// Reads by peers since the last write, by location.
  std::unordered_map<size_t, std::vector<Point>> readers;
  /// The last reads of a kind's memory, and of its scratch, by each image of a worker.
  std::map<std::tuple<int64_t, uint32_t, int64_t>, Point> lastRead, lastScratchRead;
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
