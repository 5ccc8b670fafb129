//===- Routes.cpp - The links between two devices -------------------------===//

#include "compiler/topology/mapping/Routes.h"

#include <algorithm>
#include <queue>

namespace coil::topology {

namespace {

/// What passing a link costs. No way by NVLink has as many links as one CPU link costs, and none
/// by PCI as many as a way by NVLink is worth.
uint64_t costOf(LinkKind kind) {
  switch (kind) {
  case LinkKind::NvLink:
  case LinkKind::Xgmi:
    return 1;
  case LinkKind::Pci:
  case LinkKind::C2C:
  case LinkKind::Memory:
    return 1000;
  case LinkKind::Socket:
    return 1'000'000;
  case LinkKind::Network:
    return 1'000'000'000;
  }
  return 0;
}

/// What a way may pass through.
bool isPassable(VertexKind kind) { return kind != VertexKind::Gpu && kind != VertexKind::Core; }

} // namespace

Routes::Routes(const Graph &graph, VertexId source)
    : graph(graph), source(source), cost(graph.vertices().size(), unreached),
      last(graph.vertices().size(), 0) {
  using Entry = std::pair<uint64_t, VertexId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> pending;
  cost[source] = 0;
  pending.push({0, source});
  while (!pending.empty()) {
    auto [reached, vertex] = pending.top();
    pending.pop();
    if (reached != cost[vertex] || (vertex != source && !isPassable(graph[vertex].kind)))
      continue;
    for (LinkId id : graph.linksAt(vertex)) {
      const Link &link = graph.link(id);
      VertexId next = link.other(vertex);
      uint64_t onward = reached + costOf(link.kind);
      // A NIC is passed only by what goes over the network.
      bool isNicInside = graph[vertex].kind == VertexKind::Nic && vertex != source &&
                         link.kind != LinkKind::Network &&
                         graph.link(last[vertex]).kind != LinkKind::Network;
      if (link.outOf(vertex) <= 0 || isNicInside || onward >= cost[next])
        continue;
      cost[next] = onward;
      last[next] = id;
      pending.push({onward, next});
    }
  }
}

std::vector<Step> Routes::to(VertexId destination) const {
  std::vector<Step> steps;
  if (!reaches(destination))
    return steps;
  for (VertexId vertex = destination; vertex != source;) {
    VertexId before = graph.link(last[vertex]).other(vertex);
    steps.push_back({last[vertex], before});
    vertex = before;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

void LinkLoads::add(std::span<const Step> route, double amount) {
  for (Step step : route) {
    auto &[forward, backward] = loads[step.link];
    (graph.link(step.link).from == step.from ? forward : backward) += amount;
  }
}

double LinkLoads::of(Step step) const {
  const auto &[forward, backward] = loads[step.link];
  return graph.link(step.link).from == step.from ? forward : backward;
}

double LinkLoads::bandwidthOf(std::span<const Step> route) const {
  double least = 0;
  for (Step step : route) {
    double share = graph.link(step.link).outOf(step.from) / std::max(of(step), 1e-9);
    least = least == 0 ? share : std::min(least, share);
  }
  return least;
}

} // namespace coil::topology
