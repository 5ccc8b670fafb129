//===- MappingText.cpp - How an algorithm lies on a machine ---------------===//

#include "tools/coilc/MappingText.h"

#include "compiler/explain/InstanceFacts.h"
#include "compiler/topology/mapping/Bound.h"
#include "compiler/topology/mapping/Placement.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace coil {

using namespace topology;

namespace {

constexpr size_t mostNodes = 16;

std::string entry(std::string_view name, std::string_view text) {
  return fmt::format("  {:<20} {}\n", name, text);
}

/// The devices of each node's ranks, once if all nodes are alike.
std::string placesText(const Placer &placer, const Placement &placement, const Topology &topology) {
  std::map<std::string, std::vector<std::string>> nodesOf; // by the devices of their ranks
  std::vector<std::string> order;
  std::vector<Device> devices = topology.devices();
  size_t rank = 0;
  for (uint32_t node = 0; node < topology.nodes.size(); ++node) {
    std::string names;
    for (; rank < devices.size() && devices[rank].node == node; ++rank) {
      const Device &device = devices[placement.deviceOf[rank]];
      names += (names.empty() ? "" : " ") + topology.graphOf(device.node)[device.vertex].name;
    }
    auto [place, isNew] = nodesOf.try_emplace(names);
    if (isNew)
      order.push_back(names);
    place->second.push_back(topology.nodes[node].name);
  }
  if (order.size() == 1)
    return entry(topology.nodes.size() == 1 ? "ranks" : "ranks of each node", order.front());
  std::string text;
  for (size_t i = 0; i < order.size() && i < mostNodes; ++i)
    text += entry(fmt::format("ranks of {}", nodesOf[order[i]].front()), order[i]);
  if (order.size() > mostNodes)
    text += entry("", fmt::format("and {} nodes more", order.size() - mostNodes));
  return text;
}

/// What each kind of links carries in both directions together, and the most that one carries.
std::string kindsText(const Graph &graph, const LinkLoads &loads) {
  struct OfKind {
    double sum = 0, most = 0;
  };
  std::map<LinkKind, OfKind> kinds;
  for (LinkId id = 0; id < graph.links().size(); ++id)
    for (VertexId from : {graph.link(id).from, graph.link(id).to}) {
      double chunks = loads.of({id, from});
      OfKind &kind = kinds[graph.link(id).kind];
      kind.sum += chunks;
      kind.most = std::max(kind.most, chunks);
    }
  std::string text;
  for (const auto &[kind, carried] : kinds)
    if (carried.sum > 0)
      text +=
          entry(nameOf(kind), fmt::format("{:g} chunks over all such links, at most {:g} over one",
                                          carried.sum, carried.most));
  return text;
}

/// What leaves the nodes by each rail.
std::string railsText(const Graph &graph, const LinkLoads &loads, size_t nodes) {
  std::map<int32_t, double> rails;
  double sum = 0;
  for (LinkId id = 0; id < graph.links().size(); ++id) {
    const Link &link = graph.link(id);
    if (link.kind != LinkKind::Network)
      continue;
    VertexId nic = graph[link.from].kind == VertexKind::Nic ? link.from : link.to;
    if (graph[nic].kind != VertexKind::Nic || graph[link.other(nic)].index < 0)
      continue;
    double chunks = loads.of({id, nic});
    rails[graph[link.other(nic)].index] += chunks;
    sum += chunks;
  }
  if (nodes < 2 || sum == 0)
    return "";
  std::string text;
  for (auto [rail, chunks] : rails)
    text += fmt::format("{}{:.1f}", text.empty() ? "" : " ", 100 * chunks / sum);
  return entry("rails", text + " % of what passes between nodes");
}

/// What no schedule can beat, as bytes of the message by time; nothing where that is not known.
std::optional<double> boundOf(Collective collective, const Topology &topology) {
  switch (collective) {
  case Collective::AllReduce:
    return throughputBound(topology).allReduce();
  case Collective::AllGather:
  case Collective::ReduceScatter:
    return throughputBound(topology).allGather();
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<std::string> mappingText(const Instance &instance, const Topology &topology,
                                       std::string &reason) {
  InstanceFacts facts = factsOf(instance);
  std::vector<Transfer> transfers;
  for (const auto &[pair, chunks] : facts.messagesOfPair)
    transfers.push_back({static_cast<uint32_t>(pair.first), static_cast<uint32_t>(pair.second),
                         static_cast<double>(chunks)});
  Placer placer(topology, transfers);
  std::optional<Placement> placement = placer.place(reason);
  if (!placement)
    return std::nullopt;
  const Graph &graph = placer.graph();
  std::string text = fmt::format("{}: {} of {} ranks on {}\n", instance.name,
                                 nameOf(instance.collective), instance.ranks, topology.name);
  text += entry("order", placement->manner) + placesText(placer, *placement, topology);
  if (placement->time == 0)
    return text + entry("links", "nothing is sent");
  LinkLoads loads = placer.loadsOf(*placement);
  text += kindsText(graph, loads) + railsText(graph, loads, topology.nodes.size());
  const Link &link = graph.link(placement->busiest.link);
  VertexId from = placement->busiest.from;
  text +=
      entry("busiest link", fmt::format("{} to {} ({}, {:g} GB/s): {:g} chunks", graph[from].name,
                                        graph[link.other(from)].name, nameOf(link.kind),
                                        link.outOf(from), placement->chunks));
  double reached = static_cast<double>(facts.messageChunks) / placement->time;
  std::optional<double> bound = boundOf(instance.collective, topology);
  std::string of = !bound || *bound == 0
                       ? std::string()
                       : fmt::format(", {:.1f} % of the {:.2f} GB/s that no schedule can beat",
                                     100 * reached / *bound, *bound);
  return text + entry("at most", fmt::format("{:.2f} GB/s of the message{}", reached, of));
}

} // namespace coil
