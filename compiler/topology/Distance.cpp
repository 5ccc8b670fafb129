//===- Distance.cpp - Path classes between vertices of a machine ----------===//

#include "compiler/topology/Distance.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace coil::topology {

namespace {

/// What a way passes, as one number that orders ways: the network before CPUs, CPUs before host
/// bridges, those before switches. Each count has sixteen bits.
using Way = uint64_t;
constexpr Way passesSwitch = 1, passesBridge = Way(1) << 16, passesCpu = Way(1) << 32,
              passesNetwork = Way(1) << 48;
constexpr Way noWay = ~Way(0);

Way passing(const Vertex &vertex) {
  switch (vertex.kind) {
  case VertexKind::PciSwitch:
    return passesSwitch;
  case VertexKind::HostBridge:
    return passesBridge;
  case VertexKind::Cpu:
    return passesCpu;
  case VertexKind::NetworkSwitch:
    return passesNetwork;
  default:
    return 0;
  }
}

/// What ways lead through; a NIC leads to the network only, by its kinds of links.
bool isPassable(VertexKind kind) {
  return kind == VertexKind::PciSwitch || kind == VertexKind::HostBridge ||
         kind == VertexKind::Cpu || kind == VertexKind::NetworkSwitch || kind == VertexKind::Nic;
}

PathClass classOf(Way way, bool fromCore) {
  auto count = [&](Way one) { return (way / one) & 0xffff; };
  if (way == noWay)
    return PathClass::None;
  if (count(passesNetwork) > 0)
    return PathClass::Net;
  if (count(passesCpu) > 1)
    return PathClass::Sys;
  if (fromCore)
    return PathClass::Node;
  if (count(passesBridge) > 1)
    return PathClass::Node;
  if (count(passesCpu) + count(passesBridge) > 0)
    return PathClass::Phb;
  return count(passesSwitch) > 1 ? PathClass::Pxb : PathClass::Pix;
}

bool isWay(LinkKind kind) { return kind != LinkKind::NvLink && kind != LinkKind::Xgmi; }

/// A switch or device counts as passed only between two others; a CPU or host bridge at the end
/// counts as well, since what lies in its memory is beyond the bridge.
Way passingAtEnd(const Vertex &vertex) {
  return vertex.kind == VertexKind::PciSwitch || vertex.kind == VertexKind::NetworkSwitch
             ? 0
             : passing(vertex);
}

} // namespace

std::vector<PathClass> pathClassesFrom(const Graph &graph, VertexId source) {
  size_t count = graph.vertices().size();
  std::vector<Way> best(count, noWay);
  using Entry = std::pair<Way, VertexId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> pending;
  best[source] = passingAtEnd(graph[source]);
  pending.push({best[source], source});
  while (!pending.empty()) {
    auto [way, vertex] = pending.top();
    pending.pop();
    if (way != best[vertex] || (vertex != source && !isPassable(graph[vertex].kind)))
      continue;
    // A CPU's and a host bridge's own share is in `way` from when it was reached.
    Way onward = way;
    if (vertex != source && passingAtEnd(graph[vertex]) == 0)
      onward += passing(graph[vertex]);
    for (LinkId id : graph.linksAt(vertex)) {
      const Link &link = graph.link(id);
      VertexId next = link.other(vertex);
      Way reached = onward + passingAtEnd(graph[next]);
      if (isWay(link.kind) && reached < best[next]) {
        best[next] = reached;
        pending.push({reached, next});
      }
    }
  }
  std::vector<PathClass> classes(count);
  bool fromCore = graph[source].kind == VertexKind::Core;
  for (VertexId id = 0; id < count; ++id)
    classes[id] = classOf(best[id], fromCore || graph[id].kind == VertexKind::Core);
  // What is stated of this vertex lies apart in the map, as the first or the second of a pair.
  for (VertexId id = 0; id < count; ++id)
    if (!graph.statedPaths().empty())
      if (std::optional<PathClass> stated = graph.statedPath(source, id))
        classes[id] = *stated;
  classes[source] = PathClass::Self;
  return classes;
}

PathClass pathClass(const Graph &graph, VertexId a, VertexId b) {
  if (a == b)
    return PathClass::Self;
  if (std::optional<PathClass> stated = graph.statedPath(a, b))
    return *stated;
  return pathClassesFrom(graph, a)[b];
}

std::vector<NearPort> portsByDistance(const Graph &graph, VertexId device) {
  std::vector<PathClass> classes = pathClassesFrom(graph, device);
  std::vector<NearPort> ports;
  for (VertexId nic : graph.ofKind(VertexKind::Nic))
    for (uint32_t port = 0; port < graph[nic].ports.size(); ++port)
      ports.push_back({nic, port, classes[nic]});
  std::sort(ports.begin(), ports.end(), [](const NearPort &a, const NearPort &b) {
    return std::tie(a.path, a.nic, a.port) < std::tie(b.path, b.nic, b.port);
  });
  return ports;
}

uint32_t peerLinks(const Graph &graph, VertexId a, VertexId b) {
  for (LinkKind kind : {LinkKind::NvLink, LinkKind::Xgmi})
    if (const Link *link = graph.linkBetween(a, b, kind))
      return link->count;
  // What hangs at the switches around each, the switches of a domain of machines included.
  auto switchLinksOf = [&](VertexId gpu) {
    std::map<VertexId, uint32_t> counts;
    for (LinkId id : graph.linksAt(gpu)) {
      const Link &up = graph.link(id);
      VertexId inner = up.other(gpu);
      if (!isPeerLink(up.kind) || graph[inner].kind != VertexKind::NvSwitch)
        continue;
      counts[inner] += up.count;
      for (LinkId next : graph.linksAt(inner))
        if (VertexId outer = graph.link(next).other(inner);
            graph[outer].kind == VertexKind::NvSwitch)
          counts[outer] += up.count;
    }
    return counts;
  };
  std::map<VertexId, uint32_t> ofA = switchLinksOf(a), ofB = switchLinksOf(b);
  uint32_t inner = 0, outer = 0;
  for (auto [middle, count] : ofA)
    if (auto other = ofB.find(middle); other != ofB.end()) {
      uint32_t both = std::min(count, other->second);
      (graph.linkBetween(middle, a) ? inner : outer) += both;
    }
  return inner > 0 ? inner : outer;
}

} // namespace coil::topology
