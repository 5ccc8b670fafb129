//===- InstanceFacts.cpp - What an instance costs -------------------------===//

#include "compiler/explain/InstanceFacts.h"

#include "compiler/semantics/Cells.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace coil {

Fraction Fraction::reduced() const {
  int64_t divisor = std::gcd(numerator, denominator);
  return divisor == 0 ? *this : Fraction{numerator / divisor, denominator / divisor};
}

namespace {

class Follower {
public:
  Follower(const Instance &instance, int64_t nodes)
      : instance(instance), ranksPerNode(instance.ranks / nodes), cells(instance),
        steps(cells.size()) {
    facts.traffic.resize(static_cast<size_t>(instance.ranks));
    facts.nodeTraffic.resize(static_cast<size_t>(nodes));
    const CollectiveShape &shape = cells.collective();
    facts.messageChunks =
        std::max<int64_t>({shape.inputChunks(), shape.outputChunks(), int64_t(1)});
  }

  InstanceFacts run() {
    const std::vector<Statement> &statements = instance.statements;
    std::vector<std::pair<size_t, int64_t>> writes;
    for (size_t i = 0; i < statements.size();) {
      // Statements of one exchange all see the state before it.
      uint32_t exchange = statements[i].exchange;
      writes.clear();
      do
        writes.emplace_back(cells.of(statements[i].destination), follow(statements[i]));
      while (++i < statements.size() && exchange != 0 && statements[i].exchange == exchange);
      for (const auto &[cell, value] : writes)
        steps[cell] = value;
    }
    for (const std::set<int32_t> &reached : peers())
      facts.mostPeers = std::max(facts.mostPeers, static_cast<int64_t>(reached.size()));
    return std::move(facts);
  }

private:
  /// Messages on the longest chain that led to what a place holds.
  int64_t stepsTo(const Place &place) const {
    return place.buffer == InstanceBuffer::Input ? 0 : steps[cells.of(place)];
  }

  /// The same for what the statement writes.
  int64_t follow(const Statement &statement) {
    const Place &destination = statement.destination;
    int64_t longest = 0, operands = 0;
    if (statement.kind == StatementKind::Reduce) {
      longest = stepsTo(destination);
      ++operands;
    }
    for (const Place &source : instance.sourcesOf(statement)) {
      bool isMessage = source.rank != destination.rank;
      if (isMessage)
        countMessage(source.rank, destination.rank);
      longest = std::max(longest, stepsTo(source) + isMessage);
      ++operands;
    }
    ++facts.moves;
    if (operands > 1)
      facts.combined += operands;
    facts.steps = std::max(facts.steps, longest);
    return longest;
  }

  void countMessage(int32_t from, int32_t to) {
    ++facts.messages;
    ++facts.traffic[static_cast<size_t>(from)].sent;
    ++facts.traffic[static_cast<size_t>(to)].received;
    auto fromNode = static_cast<size_t>(from / ranksPerNode);
    auto toNode = static_cast<size_t>(to / ranksPerNode);
    facts.nodeTraffic[fromNode].sent += fromNode != toNode;
    facts.nodeTraffic[toNode].received += fromNode != toNode;
    ++facts.messagesOfPair[{from, to}];
  }

  std::vector<std::set<int32_t>> peers() const {
    std::vector<std::set<int32_t>> reached(static_cast<size_t>(instance.ranks));
    for (const auto &[pair, messages] : facts.messagesOfPair)
      reached[static_cast<size_t>(pair.first)].insert(pair.second);
    return reached;
  }

  const Instance &instance;
  int64_t ranksPerNode;
  Cells cells;
  std::vector<int64_t> steps;
  InstanceFacts facts;
};

} // namespace

InstanceFacts factsOf(const Instance &instance, int64_t nodes) {
  return Follower(instance, nodes).run();
}

LowerBounds lowerBounds(Collective collective, int64_t ranks) {
  if (ranks <= 1)
    return {};
  LowerBounds bounds;
  // Every rank's data can reach twice as many ranks with each step.
  bounds.steps = std::bit_width(static_cast<uint64_t>(ranks - 1));
  switch (collective) {
  case Collective::AllReduce:
    // Patarasuk and Yuan, 2009: each chunk must be combined ranks - 1 times and
    // reach ranks - 1 others.
    bounds.traffic = {2 * (ranks - 1), ranks};
    break;
  case Collective::AllGather:
  case Collective::ReduceScatter:
  case Collective::Gather:
  case Collective::Scatter:
  case Collective::AllToAll:
    // All segments but its own come to, or leave, some rank.
    bounds.traffic = {ranks - 1, ranks};
    break;
  case Collective::Broadcast:
  case Collective::Reduce:
    bounds.traffic = {1, 1};
    break;
  case Collective::SendRecv:
    bounds = {1, {1, 1}};
    break;
  case Collective::Barrier:
  case Collective::Custom:
    break;
  }
  bounds.traffic = bounds.traffic.reduced();
  return bounds;
}

LowerBounds lowerBounds(const OwnContract &contract) {
  // Of each rank: what must come and what must leave whole, since it is copied, and
  // whether anything is.
  struct Needs {
    std::set<OwnContract::Source> received, sent;
    bool receives = false, sends = false;
    std::set<uint32_t> readers;
  };
  std::map<uint32_t, Needs> needs;
  size_t mostTogether = 1;
  for (const OwnContract::Promise &promise : contract.promises) {
    std::set<uint32_t> together{promise.rank};
    for (const OwnContract::Source &source : contract.sourcesOf(promise)) {
      together.insert(source.rank);
      if (source.rank == promise.rank)
        continue;
      Needs &reader = needs[promise.rank], &owner = needs[source.rank];
      reader.receives = owner.sends = true;
      owner.readers.insert(promise.rank);
      if (promise.sourceCount == 1) {
        reader.received.insert(source);
        owner.sent.insert(source);
      }
    }
    mostTogether = std::max(mostTogether, together.size());
  }
  size_t most = 0;
  for (const auto &[rank, each] : needs) {
    most = std::max(
        {most, each.received.size(), each.sent.size(), size_t{each.receives || each.sends}});
    mostTogether = std::max(mostTogether, each.readers.size() + 1);
  }
  LowerBounds bounds;
  // With each step twice as many ranks' data can come together, and reach as many.
  bounds.steps = std::bit_width(static_cast<uint64_t>(mostTogether - 1));
  bounds.traffic = Fraction{static_cast<int64_t>(most),
                            std::max(contract.inputSegments, contract.outputSegments)}
                       .reduced();
  return bounds;
}

} // namespace coil
