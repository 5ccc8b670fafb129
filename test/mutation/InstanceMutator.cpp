//===- InstanceMutator.cpp - Statements broken at random ------------------===//

#include "test/mutation/InstanceMutator.h"

#include <algorithm>
#include <fmt/format.h>

namespace coil {

const char *nameOf(InstanceMutation mutation) {
  switch (mutation) {
  case InstanceMutation::Drop:
    return "drop a statement";
  case InstanceMutation::Duplicate:
    return "duplicate a statement";
  case InstanceMutation::Swap:
    return "swap two statements";
  case InstanceMutation::Move:
    return "move a statement";
  case InstanceMutation::RetargetRank:
    return "change a rank";
  case InstanceMutation::RetargetChunk:
    return "change a chunk";
  case InstanceMutation::ChangeBuffer:
    return "change a buffer";
  case InstanceMutation::ChangeVerb:
    return "change a verb";
  case InstanceMutation::DropOperand:
    return "drop an operand";
  case InstanceMutation::DuplicateOperand:
    return "duplicate an operand";
  case InstanceMutation::ChangeExchange:
    return "change an exchange";
  }
  return "";
}

namespace {

struct Loose {
  StatementKind kind;
  Place destination;
  std::vector<Place> sources;
  uint32_t exchange;
};

class Mutator {
public:
  Mutator(Instance &instance, std::mt19937 &random) : instance(instance), random(random) {
    for (const Statement &statement : instance.statements) {
      auto sources = instance.sourcesOf(statement);
      statements.push_back({statement.kind,
                            statement.destination,
                            {sources.begin(), sources.end()},
                            statement.exchange});
    }
  }

  bool mutate(InstanceMutation mutation) {
    if (statements.empty() || !change(mutation))
      return false;
    store();
    return true;
  }

private:
  size_t below(size_t bound) { return random() % bound; }
  auto at(size_t index) { return statements.begin() + static_cast<ptrdiff_t>(index); }

  bool change(InstanceMutation mutation) {
    size_t index = below(statements.size());
    Loose &statement = statements[index];
    switch (mutation) {
    case InstanceMutation::Drop:
      statements.erase(at(index));
      return true;
    case InstanceMutation::Duplicate:
      insert(statement, below(2) ? index + 1 : below(statements.size() + 1));
      return true;
    case InstanceMutation::Swap: {
      size_t other = below(2) ? (index + 1) % statements.size() : below(statements.size());
      std::swap(statement, statements[other]);
      std::swap(statement.exchange, statements[other].exchange);
      return true;
    }
    case InstanceMutation::Move: {
      Loose moved = statement;
      statements.erase(at(index));
      insert(moved, below(statements.size() + 1));
      return true;
    }
    case InstanceMutation::RetargetRank: {
      auto ranks = static_cast<size_t>(instance.ranks);
      pickPlace(statement).rank = static_cast<int32_t>(below(ranks));
      return true;
    }
    case InstanceMutation::RetargetChunk:
      return retargetChunk(pickPlace(statement));
    case InstanceMutation::ChangeBuffer:
      return changeBuffer(pickPlace(statement));
    case InstanceMutation::ChangeVerb:
      statement.kind = static_cast<StatementKind>(below(4));
      // A move has one operand.
      if (statement.kind == StatementKind::Send || statement.kind == StatementKind::Copy)
        statement.sources.resize(1, statement.destination);
      return true;
    case InstanceMutation::DropOperand:
      if (statement.sources.size() < 2)
        return false;
      statement.sources.erase(statement.sources.begin() +
                              static_cast<ptrdiff_t>(below(statement.sources.size())));
      return true;
    case InstanceMutation::DuplicateOperand:
      if (statement.kind == StatementKind::Send || statement.kind == StatementKind::Copy ||
          statement.sources.empty())
        return false;
      statement.sources.push_back(statement.sources[below(statement.sources.size())]);
      return true;
    case InstanceMutation::ChangeExchange:
      return changeExchange(index);
    }
    return false;
  }

  /// Within an exchange a statement is of it; elsewhere it stands by itself.
  void insert(Loose statement, size_t index) {
    bool isWithin = index > 0 && index < statements.size() && statements[index].exchange &&
                    statements[index - 1].exchange == statements[index].exchange;
    statement.exchange = isWithin ? statements[index].exchange : 0;
    statements.insert(at(index), std::move(statement));
  }

  Place &pickPlace(Loose &statement) {
    size_t index = below(statement.sources.size() + 1);
    return index == statement.sources.size() ? statement.destination : statement.sources[index];
  }

  size_t scratchChunks() const { return static_cast<size_t>(instance.scratchChunks()); }

  /// To a neighbour or any other, also to the one behind the last.
  bool retargetChunk(Place &place) {
    if (place.buffer == InstanceBuffer::Scratch) {
      place.index = static_cast<int64_t>(below(scratchChunks()));
      return true;
    }
    SegmentCounts segments = segmentCounts(instance.collective, instance.ranks);
    int64_t chunks = std::max(segments.input, segments.output) * instance.chunks;
    if (below(2))
      place.index += below(2) ? 1 : -1;
    else
      place.index = static_cast<int64_t>(below(static_cast<size_t>(chunks) + 1));
    return true;
  }

  bool changeBuffer(Place &place) {
    place.buffer = static_cast<InstanceBuffer>(below(4));
    if (place.buffer != InstanceBuffer::Scratch)
      return true;
    if (scratchChunks() == 0)
      return false;
    place.index = static_cast<int64_t>(below(scratchChunks()));
    return true;
  }

  bool changeExchange(size_t index) {
    Loose &statement = statements[index];
    if (statement.exchange) {
      statement.exchange = 0;
      return true;
    }
    if (index + 1 == statements.size())
      return false;
    uint32_t last = 0;
    for (const Loose &each : statements)
      last = std::max(last, each.exchange);
    Loose &next = statements[index + 1];
    statement.exchange = next.exchange ? next.exchange : last + 1;
    next.exchange = statement.exchange;
    return true;
  }

  void store() {
    instance.statements.clear();
    instance.sources.clear();
    uint32_t exchanges = 0, last = 0;
    for (const Loose &loose : statements) {
      Statement statement;
      statement.kind = loose.kind;
      statement.destination = loose.destination;
      statement.firstSource = static_cast<uint32_t>(instance.sources.size());
      statement.sourceCount = static_cast<uint32_t>(loose.sources.size());
      statement.location = static_cast<LocationIndex>(instance.statements.size() + 1);
      // A block that was torn apart is two.
      if (loose.exchange)
        statement.exchange = loose.exchange == last ? exchanges : ++exchanges;
      last = loose.exchange;
      instance.sources.insert(instance.sources.end(), loose.sources.begin(), loose.sources.end());
      instance.statements.push_back(statement);
    }
  }

  Instance &instance;
  std::mt19937 &random;
  std::vector<Loose> statements;
};

} // namespace

bool mutate(Instance &instance, InstanceMutation mutation, std::mt19937 &random) {
  return Mutator(instance, random).mutate(mutation);
}

std::string printInstance(const Instance &instance) {
  std::string text =
      fmt::format("{}: {} ranks {} root {} chunks {}\n", instance.name, nameOf(instance.collective),
                  instance.ranks, instance.root, instance.chunks);
  for (const Statement &statement : instance.statements) {
    static constexpr const char *verbs[] = {"send", "copy", "reduce", "combine"};
    std::string sources;
    for (const Place &source : instance.sourcesOf(statement))
      sources += (sources.empty() ? "" : ", ") + instance.describe(source);
    text += fmt::format("{}: {} {} -> {}", statement.location,
                        verbs[static_cast<size_t>(statement.kind)], sources,
                        instance.describe(statement.destination));
    if (statement.exchange)
      text += fmt::format(" (exchange {})", statement.exchange);
    text += "\n";
  }
  return text;
}

} // namespace coil
