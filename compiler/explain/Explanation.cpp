//===- Explanation.cpp - What the compiler tells of a program -------------===//

#include "compiler/explain/Explanation.h"

#include "compiler/semantics/ExecSlots.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace coil {

static VariantFacts factsOf(const ExecPlan &plan, const ExecVariant &variant) {
  VariantFacts facts;
  facts.name = variant.name;
  facts.inPlace = variant.inPlace;
  facts.transport = variant.transport;
  for (const std::vector<ExecWorker> &workers : variant.programs)
    facts.workers = std::max(facts.workers, static_cast<int64_t>(workers.size()));
  for (int64_t chunks : variant.scratch)
    facts.scratchChunks = std::max(facts.scratchChunks, chunks);
  // Out of a rank of each kind.
  std::vector<int64_t> channels(variant.programs.size()), slots(variant.programs.size());
  auto sourceOf = [&](const ExecChannel &channel) {
    return static_cast<size_t>(variant.symmetry.kindOf(channel.sourceRank));
  };
  for (const ExecChannel &channel : variant.channels) {
    facts.channels = std::max(facts.channels, ++channels[sourceOf(channel)]);
    facts.slots = std::max(facts.slots, slots[sourceOf(channel)] += channel.slots);
  }
  if (variant.transport != ExecTransport::Staged)
    return facts;
  std::ranges::fill(slots, 0);
  if (auto fewest = fewestSlots(ExecModel(plan, variant, variant.inPlace)))
    for (size_t i = 0; i < fewest->size(); ++i) {
      const ExecChannel &channel = variant.channels[i];
      int64_t needed = (*fewest)[i];
      facts.fewestSlots = std::max(facts.fewestSlots, slots[sourceOf(channel)] += needed);
      if (needed > 1)
        facts.channelsInNeed.emplace_back(channel.name, needed);
    }
  return facts;
}

Explanation explain(const Instance &instance, int64_t nodes, const ExecPlan &plan) {
  Explanation explanation;
  explanation.algorithm = instance.name;
  explanation.collective = instance.collective;
  explanation.ranks = instance.ranks;
  explanation.nodes = nodes;
  explanation.root = instance.root;
  explanation.chunks = instance.chunks;
  explanation.facts = factsOf(instance, nodes);
  explanation.contract = instance.contract;
  explanation.bounds = instance.contract ? lowerBounds(*instance.contract)
                                         : lowerBounds(instance.collective, instance.ranks);
  explanation.order = combinationOrder(plan, instance.root);
  for (const ExecVariant &variant : plan.variants)
    if (variant.root == instance.root)
      explanation.variants.push_back(factsOf(plan, variant));
  return explanation;
}

namespace {

/// The least, the most and the sum over ranks, or nodes, of one side of their traffic.
struct Spread {
  int64_t least = 0, most = 0, total = 0;
};

Spread spreadOf(const std::vector<Traffic> &traffic, int64_t Traffic::*side) {
  Spread spread{INT64_MAX, 0, 0};
  for (const Traffic &each : traffic) {
    spread.least = std::min(spread.least, each.*side);
    spread.most = std::max(spread.most, each.*side);
    spread.total += each.*side;
  }
  return spread;
}

std::string toString(Fraction fraction) {
  Fraction reduced = fraction.reduced();
  if (reduced.denominator == 1)
    return fmt::format("{}", reduced.numerator);
  return fmt::format("{}/{}", reduced.numerator, reduced.denominator);
}

std::string count(int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string describeTraffic(const Spread &spread, int64_t messageChunks, std::string_view sender) {
  std::string most = toString({spread.most, messageChunks});
  if (spread.least == spread.most)
    return fmt::format("{} of the message by each {}", most, sender);
  return fmt::format("{} to {} of the message by a {}", toString({spread.least, messageChunks}),
                     most, sender);
}

/// "output[0] is 0 + 1 on rank 0, and 1 + 2 on rank 1": what tells the two apart is said.
std::string describeDifference(const OrderDifference &difference) {
  auto side = [&](const OrderDifference::Side &each, bool isFirst) {
    std::string text = isFirst || each.chunk != difference.first.chunk
                           ? fmt::format("output[{}] is {}", each.chunk, each.order)
                           : each.order;
    bool isOneRank = difference.first.rank == difference.second.rank;
    if (!isOneRank || isFirst)
      text += fmt::format(" on rank {}", each.rank);
    if (difference.first.variant != difference.second.variant)
      text += fmt::format(" in {}", each.variant);
    return text;
  };
  return fmt::format("{}, and {}", side(difference.first, true), side(difference.second, false));
}

/// Calls `row(name, value)` for each line about which bits the results have.
template <typename Row> void describeResult(const Explanation &explanation, Row row) {
  const CombinationOrder &order = explanation.order;
  if (!order.combines) {
    row("result", "copies of inputs: nothing is rounded");
    return;
  }
  bool isForAll = explanation.collective == Collective::AllReduce && !order.betweenRanks;
  std::string bits =
      isForAll ? "the same bits on all ranks, in every run" : "the same bits in every run";
  if (order.betweenRanks) {
    row("result", bits + "; ranks combine in different orders, so that");
    row("", "floating-point results may differ between ranks:");
    row("", describeDifference(*order.betweenRanks));
  } else {
    row("result", bits);
  }
  if (order.betweenChunks) {
    row("", "other bits for other lengths of the message, since chunks differ in order:");
    row("", describeDifference(*order.betweenChunks));
  }
  if (order.betweenVariants) {
    row("", "other bits in other variants, which the length of the message decides on:");
    row("", describeDifference(*order.betweenVariants));
  }
  if (order.isSameForAnyLength())
    row("", "the same bits for every length of the message");
}

std::string differenceToJson(const OrderDifference &difference) {
  auto side = [](const OrderDifference::Side &each) {
    return fmt::format(R"({{"variant": "{}", "rank": {}, "output": {}, "order": "{}"}})",
                       each.variant, each.rank, each.chunk, each.order);
  };
  return fmt::format("[{}, {}]", side(difference.first), side(difference.second));
}

/// An object that says on what the bits of results depend; what differs has an example.
std::string orderToJson(const Explanation &explanation) {
  const CombinationOrder &order = explanation.order;
  std::string text = R"({"same_in_every_run": true)";
  if (explanation.collective == Collective::AllReduce)
    text += fmt::format(R"(, "same_on_all_ranks": {})", !order.betweenRanks);
  text += fmt::format(R"(, "same_for_any_length": {})", order.isSameForAnyLength());
  for (auto [name, difference] : {std::pair("between_ranks", &order.betweenRanks),
                                  {"between_chunks", &order.betweenChunks},
                                  {"between_variants", &order.betweenVariants}})
    if (*difference)
      text += fmt::format(R"(, "{}": {})", name, differenceToJson(**difference));
  return text + "}";
}

} // namespace

std::string toText(const Explanation &explanation) {
  const InstanceFacts &facts = explanation.facts;
  const LowerBounds &bounds = explanation.bounds;
  std::string text;
  auto row = [&](std::string_view name, const std::string &value) {
    text += fmt::format("  {:<21}{}\n", name, value);
  };

  text += fmt::format("{}: {}", explanation.algorithm, nameOf(explanation.collective));
  if (hasRoot(explanation.collective))
    text += fmt::format("(root {})", explanation.root);
  text += fmt::format(" on {}", count(explanation.ranks, "rank"));
  if (explanation.nodes > 1)
    text += fmt::format(" of {}", count(explanation.nodes, "node"));
  text += fmt::format(", {} a segment\n", count(explanation.chunks, "chunk"));

  if (const OwnContract *contract = explanation.contract.get())
    row("contract", fmt::format("{} of input and {} of output a rank; {} promised",
                                count(contract->inputSegments, "segment"), contract->outputSegments,
                                contract->promises.size()));
  row("steps", fmt::format("{} on the longest chain; no algorithm takes fewer than {}",
                           count(facts.steps, "message"), bounds.steps));
  row("", "where a rank sends and receives one message at a time");
  row("moves",
      fmt::format("{}, {} of them between ranks", count(facts.moves, "chunk"), facts.messages));
  row("peers", fmt::format("{} that a rank sends to", count(facts.mostPeers, "rank")));
  Spread sent = spreadOf(facts.traffic, &Traffic::sent);
  Spread received = spreadOf(facts.traffic, &Traffic::received);
  row("sent", describeTraffic(sent, facts.messageChunks, "rank"));
  row("received", describeTraffic(received, facts.messageChunks, "rank"));
  if (explanation.nodes > 1)
    row("between nodes",
        describeTraffic(spreadOf(facts.nodeTraffic, &Traffic::sent), facts.messageChunks, "node"));
  row("least", fmt::format("{} of the message, sent or received by the busiest rank",
                           toString(bounds.traffic)));
  describeResult(explanation, row);
  for (const VariantFacts &variant : explanation.variants)
    row(fmt::format("{}, {}", variant.inPlace ? "in place" : "out of place",
                    nameOf(variant.transport)),
        fmt::format("{} a rank, {} of scratch, {} out of a rank{}",
                    count(variant.workers, "worker"), count(variant.scratchChunks, "chunk"),
                    count(variant.channels, "channel"),
                    variant.slots ? fmt::format(" with {}, of which {} {} needed",
                                                count(variant.slots, "slot"), variant.fewestSlots,
                                                variant.fewestSlots == 1 ? "is" : "are")
                                  : ""));
  return text;
}

std::string toJson(const Explanation &explanation) {
  const InstanceFacts &facts = explanation.facts;
  auto side = [](const std::vector<Traffic> &traffic, std::string_view of,
                 int64_t Traffic::*member) {
    Spread spread = spreadOf(traffic, member);
    std::vector<int64_t> chunks;
    for (const Traffic &each : traffic)
      chunks.push_back(each.*member);
    return fmt::format(R"({{"min": {}, "max": {}, "total": {}, "{}": [{}]}})", spread.least,
                       spread.most, spread.total, of, fmt::join(chunks, ", "));
  };
  std::vector<std::string> variants;
  for (const VariantFacts &variant : explanation.variants) {
    std::vector<std::string> inNeed;
    for (const auto &[channel, slots] : variant.channelsInNeed)
      inNeed.push_back(fmt::format(R"("{}": {})", channel, slots));
    variants.push_back(fmt::format(
        R"({{"name": "{}", "in_place": {}, "transport": "{}", "workers": {}, "scratch_chunks": {}, )"
        R"("channels": {}, "slots": {}, "fewest_slots": {}, "channels_in_need": {{{}}}}})",
        variant.name, variant.inPlace, nameOf(variant.transport), variant.workers,
        variant.scratchChunks, variant.channels, variant.slots, variant.fewestSlots,
        fmt::join(inNeed, ", ")));
  }
  Spread sent = spreadOf(facts.traffic, &Traffic::sent);
  std::string text = "{\n";
  auto field = [&](std::string_view name, const std::string &value, bool isLast = false) {
    text += fmt::format("  \"{}\": {}{}\n", name, value, isLast ? "" : ",");
  };
  auto number = [&](std::string_view name, int64_t value) { field(name, std::to_string(value)); };
  field("algorithm", fmt::format("\"{}\"", explanation.algorithm));
  field("collective", fmt::format("\"{}\"", nameOf(explanation.collective)));
  number("ranks", explanation.ranks);
  number("nodes", explanation.nodes);
  if (hasRoot(explanation.collective))
    number("root", explanation.root);
  number("chunks", explanation.chunks);
  if (const OwnContract *contract = explanation.contract.get())
    field("contract",
          fmt::format(R"({{"input_segments": {}, "output_segments": {}, "promised": {}}})",
                      contract->inputSegments, contract->outputSegments,
                      contract->promises.size()));
  number("message_chunks", facts.messageChunks);
  number("steps", facts.steps);
  number("moves", facts.moves);
  number("messages", facts.messages);
  number("combined_chunks", facts.combined);
  number("most_peers", facts.mostPeers);
  field("sent_chunks", side(facts.traffic, "ranks", &Traffic::sent));
  field("received_chunks", side(facts.traffic, "ranks", &Traffic::received));
  field("sent_between_nodes", side(facts.nodeTraffic, "nodes", &Traffic::sent));
  field("bytes_sent_fraction", fmt::format("\"{}\"", toString({sent.most, facts.messageChunks})));
  field("bits", orderToJson(explanation));
  field("bounds", fmt::format(R"({{"steps": {}, "traffic_fraction": "{}"}})",
                              explanation.bounds.steps, toString(explanation.bounds.traffic)));
  field("variants", fmt::format("[{}]", fmt::join(variants, ", ")), /*isLast=*/true);
  return text + "}\n";
}

} // namespace coil
