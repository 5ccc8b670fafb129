//===- RandomAlgorithms.cpp - Right algorithms at random ------------------===//

#include "test/unit/schedule/RandomAlgorithms.h"

#include <algorithm>
#include <iterator>
#include <random>

namespace coil::test {

namespace {

struct Step {
  StatementKind kind;
  Place destination;
  std::vector<Place> sources;
  uint32_t exchange = 0;
};

class Generator {
public:
  Generator(RandomShape shape, uint64_t seed) : shape(shape), random(seed) {}

  Instance run() {
    instance.name = "random";
    instance.collective = shape.collective;
    instance.ranks = shape.ranks;
    instance.root = hasRoot(shape.collective) ? below(shape.ranks) : 0;
    instance.chunks = shape.chunks;
    // One scratch chunk a chunk for partial sums, one more a chunk to rotate.
    instance.scratch.push_back({"partial", 0, shape.chunks});
    instance.scratch.push_back({"rotating", shape.chunks, shape.chunks});
    std::vector<std::vector<Step>> perChunk;
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
      perChunk.push_back(stepsOf(chunk));
    mix(perChunk);
    return std::move(instance);
  }

private:
  int64_t below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }
  bool coin() { return below(2) == 0; }

  bool hasOutput(int64_t rank) const { return !hasRoot(shape.collective) || rank == instance.root; }
  Place data(int64_t chunk, int64_t rank) const {
    return {InstanceBuffer::Data, static_cast<int32_t>(rank), chunk};
  }
  Place scratch(int64_t index, int64_t rank) const {
    return {InstanceBuffer::Scratch, static_cast<int32_t>(rank), index};
  }

  std::vector<Step> stepsOf(int64_t chunk) {
    std::vector<Step> steps;
    std::vector<int64_t> order(static_cast<size_t>(shape.ranks));
    for (int64_t rank = 0; rank < shape.ranks; ++rank)
      order[static_cast<size_t>(rank)] = rank;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<bool> written(order.size(), false);
    auto valueOf = [&](int64_t rank) {
      bool fresh = !written[static_cast<size_t>(rank)];
      if (fresh && shape.namesBuffers && coin())
        return Place{InstanceBuffer::Input, static_cast<int32_t>(rank), chunk};
      return data(chunk, rank);
    };

    if (shape.exchanges)
      rotate(chunk, steps);
    // Leaves of the tree go last in `order`; several may join in one statement.
    for (size_t end = order.size(); end > 1;) {
      size_t count =
          static_cast<size_t>(1 + below(std::min<int64_t>(3, static_cast<int64_t>(end) - 1)));
      size_t into = static_cast<size_t>(below(static_cast<int64_t>(end - count)));
      int64_t target = order[into];
      Step step{StatementKind::Reduce, data(chunk, target), {}};
      for (size_t i = end - count; i < end; ++i) {
        Place value = valueOf(order[i]);
        if (shape.usesScratch && coin()) {
          Place kept = scratch(chunk, coin() ? order[i] : target);
          // The scratch chunk of a rank is free again once its value was used.
          bool taken = std::any_of(step.sources.begin(), step.sources.end(),
                                   [&](const Place &place) { return place == kept; });
          if (!taken) {
            steps.push_back({StatementKind::Send, kept, {value}});
            value = kept;
          }
        }
        step.sources.push_back(value);
      }
      if (shape.namesBuffers && !written[static_cast<size_t>(target)] && coin()) {
        step.kind = StatementKind::Combine;
        step.sources.insert(step.sources.begin(),
                            {InstanceBuffer::Input, static_cast<int32_t>(target), chunk});
        if (hasOutput(target))
          step.destination.buffer = InstanceBuffer::Output;
      }
      written[static_cast<size_t>(target)] = true;
      steps.push_back(std::move(step));
      end -= count;
    }
    for (size_t i = 1; i < order.size(); ++i) {
      int64_t from = order[static_cast<size_t>(below(static_cast<int64_t>(i)))];
      Place destination = data(chunk, order[i]);
      if (shape.namesBuffers && hasOutput(order[i]) && coin())
        destination.buffer = InstanceBuffer::Output;
      steps.push_back({StatementKind::Send, destination, {data(chunk, from)}});
    }
    return steps;
  }

  /// Values that nobody needs go once round in an exchange.
  void rotate(int64_t chunk, std::vector<Step> &steps) {
    int64_t slot = shape.chunks + chunk;
    int64_t distance = below(shape.ranks);
    for (int64_t rank = 0; rank < shape.ranks; ++rank)
      steps.push_back({StatementKind::Copy,
                       scratch(slot, rank),
                       {Place{InstanceBuffer::Input, static_cast<int32_t>(rank), chunk}}});
    ++exchanges;
    for (int64_t rank = 0; rank < shape.ranks; ++rank)
      steps.push_back({StatementKind::Send,
                       scratch(slot, (rank + distance) % shape.ranks),
                       {scratch(slot, rank)},
                       exchanges});
  }

  void mix(const std::vector<std::vector<Step>> &perChunk) {
    std::vector<size_t> next(perChunk.size(), 0);
    std::vector<size_t> open; // chunks with statements left; one rank has none
    for (size_t i = 0; i < perChunk.size(); ++i)
      if (!perChunk[i].empty())
        open.push_back(i);
    while (!open.empty()) {
      size_t pick = static_cast<size_t>(below(static_cast<int64_t>(open.size())));
      const std::vector<Step> &steps = perChunk[open[pick]];
      size_t &position = next[open[pick]];
      uint32_t block = steps[position].exchange;
      do
        add(steps[position++]);
      while (block && position < steps.size() && steps[position].exchange == block);
      if (position == steps.size())
        open.erase(open.begin() + static_cast<ptrdiff_t>(pick));
    }
  }

  void add(const Step &step) {
    Statement statement;
    statement.kind = step.kind;
    statement.destination = step.destination;
    statement.firstSource = static_cast<uint32_t>(instance.sources.size());
    statement.sourceCount = static_cast<uint32_t>(step.sources.size());
    statement.location = static_cast<LocationIndex>(instance.statements.size());
    statement.exchange = step.exchange;
    instance.sources.insert(instance.sources.end(), step.sources.begin(), step.sources.end());
    instance.statements.push_back(statement);
  }

  RandomShape shape;
  std::mt19937_64 random;
  uint32_t exchanges = 0;
  Instance instance;
};

} // namespace

namespace {

class ContractGenerator {
public:
  ContractGenerator(int64_t ranks, int64_t chunks, uint64_t seed) : random(seed) {
    instance.name = "random";
    instance.collective = Collective::Custom;
    instance.ranks = ranks;
    instance.chunks = chunks;
  }

  Instance run() {
    makeContract();
    for (const OwnContract::Promise &promise : contract.promises)
      for (int64_t chunk = 0; chunk < instance.chunks; ++chunk)
        keep(promise, chunk);
    instance.scratch.push_back({"held", 0, std::max<int64_t>(scratchChunks, 1)});
    instance.contract = std::make_shared<const OwnContract>(std::move(contract));
    return std::move(instance);
  }

private:
  uint32_t below(uint32_t limit) {
    return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random);
  }

  void makeContract() {
    auto ranks = static_cast<uint32_t>(instance.ranks);
    contract.inputSegments = 1 + below(3);
    contract.outputSegments = 1 + below(3);
    std::vector<OwnContract::Source> all;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      for (uint32_t segment = 0; segment < contract.inputSegments; ++segment)
        all.push_back({rank, segment});
    for (uint32_t rank = 0; rank < ranks; ++rank)
      for (uint32_t segment = 0; segment < contract.outputSegments; ++segment) {
        if (below(3) == 0)
          continue;
        uint32_t count = 1 + below(std::min<uint32_t>(4, static_cast<uint32_t>(all.size())));
        auto first = static_cast<uint32_t>(contract.sources.size());
        contract.promises.push_back({rank, segment, first, count});
        std::ranges::sample(all, std::back_inserter(contract.sources), count, random);
      }
  }

  /// Appends what makes one chunk of one promise true.
  void keep(const OwnContract::Promise &promise, int64_t chunk) {
    std::vector<Place> values;
    for (const OwnContract::Source &source : contract.sourcesOf(promise))
      values.push_back({InstanceBuffer::Input, static_cast<int32_t>(source.rank),
                        source.segment * instance.chunks + chunk});
    std::ranges::shuffle(values, random);
    Place output{InstanceBuffer::Output, static_cast<int32_t>(promise.rank),
                 promise.segment * instance.chunks + chunk};
    for (Place &value : values)
      if (below(3) == 0)
        value = move(StatementKind::Send, held(), {value});
    if (values.size() > 2 && below(2) == 0) {
      std::vector<Place> some(values.begin() + 1, values.end());
      values = {values.front(), move(StatementKind::Combine, held(), some)};
    }
    move(values.size() == 1 ? StatementKind::Send : StatementKind::Combine, output, values);
  }

  Place held() {
    auto rank = static_cast<int32_t>(below(static_cast<uint32_t>(instance.ranks)));
    return {InstanceBuffer::Scratch, rank, scratchChunks++};
  }

  Place move(StatementKind kind, Place destination, const std::vector<Place> &sources) {
    Statement statement;
    statement.kind = kind;
    statement.destination = destination;
    statement.firstSource = static_cast<uint32_t>(instance.sources.size());
    statement.sourceCount = static_cast<uint32_t>(sources.size());
    statement.location = static_cast<LocationIndex>(instance.statements.size());
    instance.sources.insert(instance.sources.end(), sources.begin(), sources.end());
    instance.statements.push_back(statement);
    return destination;
  }

  std::mt19937_64 random;
  Instance instance;
  OwnContract contract;
  int64_t scratchChunks = 0;
};

} // namespace

Instance randomContract(int64_t ranks, int64_t chunks, uint64_t seed) {
  return ContractGenerator(ranks, chunks, seed).run();
}

Instance randomReduction(RandomShape shape, uint64_t seed) { return Generator(shape, seed).run(); }

} // namespace coil::test
