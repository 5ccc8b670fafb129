//===- Topology.cpp - Machines, alone or in a cluster ---------------------===//

#include "compiler/topology/Topology.h"

#include "compiler/topology/Bandwidth.h"
#include "compiler/topology/Distance.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace coil::topology {

std::vector<Device> Topology::devices() const {
  std::vector<std::vector<VertexId>> ofType;
  for (const Machine &type : types)
    ofType.push_back(type.graph.devices());
  std::vector<Device> all;
  for (uint32_t node = 0; node < nodes.size(); ++node)
    for (VertexId vertex : ofType[nodes[node].type])
      all.push_back({node, vertex});
  return all;
}

std::vector<VertexId> Topology::flatOffsets() const {
  std::vector<VertexId> offsets = {0};
  for (const Node &node : nodes)
    offsets.push_back(offsets.back() + VertexId(types[node.type].graph.vertices().size()));
  return offsets;
}

Graph Topology::flatten() const {
  Graph flat;
  std::vector<VertexId> offsets = flatOffsets();
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    const Graph &graph = graphOf(node);
    VertexId first = offsets[node];
    for (Vertex vertex : graph.vertices()) {
      vertex.node = node;
      if (nodes.size() > 1)
        vertex.name = nodes[node].name + "/" + vertex.name;
      flat.add(std::move(vertex));
    }
    for (Link link : graph.links()) {
      link.from += first;
      link.to += first;
      flat.connect(link);
    }
    for (const auto &[pair, path] : graph.statedPaths())
      flat.statePath(pair.first + first, pair.second + first, path);
    for (const auto &[pair, why] : graph.deniedPeers())
      flat.denyPeerAccess(pair.first + first, pair.second + first, why);
  }
  for (Vertex vertex : switches) {
    vertex.node = uint32_t(nodes.size());
    flat.add(std::move(vertex));
  }
  auto idOf = [&](const Endpoint &end) {
    return (end.isSwitch() ? offsets.back() : offsets[end.node]) + end.vertex;
  };
  for (const OuterLink &link : outerLinks)
    flat.connect({idOf(link.from), idOf(link.to), link.kind, link.count, link.forward,
                  link.backward, link.latency});
  return flat;
}

Topology alone(Machine machine) {
  Topology topology;
  topology.name = machine.name;
  topology.nodes.push_back({machine.name, 0, ""});
  topology.types.push_back(std::move(machine));
  return topology;
}

Topology cluster(Machine machine, uint32_t nodes) {
  Topology topology;
  topology.name = nodes == 1 ? machine.name : fmt::format("{} x {}", machine.name, nodes);
  assignRails(machine.graph);
  topology.types.push_back(std::move(machine));
  for (uint32_t node = 0; node < nodes; ++node)
    topology.nodes.push_back({fmt::format("node{}", node), 0, ""});
  joinByRails(topology);
  return topology;
}

void joinByRails(Topology &topology, double oversubscription) {
  uint32_t rails = 0;
  for (const Machine &type : topology.types)
    rails = std::max(rails, countRails(type.graph));
  if (topology.nodes.size() < 2 || rails == 0)
    return;
  VertexId first = VertexId(topology.switches.size());
  for (uint32_t rail = 0; rail < rails; ++rail) {
    Vertex &leaf = topology.switches.emplace_back();
    leaf.kind = VertexKind::NetworkSwitch;
    leaf.name = fmt::format("rail{}", rail);
    leaf.index = int32_t(rail);
  }
  std::vector<double> ofRail(rails, 0);
  for (uint32_t node = 0; node < topology.nodes.size(); ++node) {
    const Graph &graph = topology.graphOf(node);
    for (VertexId nic : graph.ofKind(VertexKind::Nic))
      for (uint32_t port = 0; port < graph[nic].ports.size(); ++port) {
        int32_t rail = graph[nic].ports[port].rail;
        if (rail < 0)
          continue;
        double bandwidth = portBandwidth(graph, nic, port);
        ofRail[size_t(rail)] += bandwidth;
        topology.outerLinks.push_back({{node, nic, port},
                                       {Endpoint::outside, first + VertexId(rail), 0},
                                       LinkKind::Network,
                                       1,
                                       bandwidth,
                                       bandwidth,
                                       latencyOf(LinkKind::Network)});
      }
  }
  if (rails == 1)
    return;
  VertexId spine = VertexId(topology.switches.size());
  Vertex &above = topology.switches.emplace_back();
  above.kind = VertexKind::NetworkSwitch;
  above.name = "spine";
  for (uint32_t rail = 0; rail < rails; ++rail)
    topology.outerLinks.push_back({{Endpoint::outside, first + rail, 0},
                                   {Endpoint::outside, spine, 0},
                                   LinkKind::Network,
                                   1,
                                   ofRail[rail] / oversubscription,
                                   ofRail[rail] / oversubscription,
                                   latencyOf(LinkKind::Network)});
}

void joinNvlinkDomains(Topology &topology) {
  std::map<std::string, std::vector<uint32_t>> nodesOf;
  for (uint32_t node = 0; node < topology.nodes.size(); ++node)
    if (!topology.nodes[node].nvlinkDomain.empty())
      nodesOf[topology.nodes[node].nvlinkDomain].push_back(node);
  for (const auto &[domain, nodes] : nodesOf) {
    if (nodes.size() < 2)
      continue;
    VertexId middle = VertexId(topology.switches.size());
    Vertex &vertex = topology.switches.emplace_back();
    vertex.kind = VertexKind::NvSwitch;
    vertex.name = domain;
    for (uint32_t node : nodes) {
      const Graph &graph = topology.graphOf(node);
      for (VertexId inner : graph.ofKind(VertexKind::NvSwitch)) {
        OuterLink up{{node, inner, 0}, {Endpoint::outside, middle, 0}, LinkKind::NvLink, 0};
        for (LinkId id : graph.linksAt(inner)) {
          const Link &link = graph.link(id);
          up.count += link.count;
          up.forward += link.outOf(link.other(inner));
          up.backward += link.outOf(inner);
        }
        if (up.count > 0)
          topology.outerLinks.push_back(up);
      }
    }
  }
}

namespace {

/// How near is near enough to have a rail: without a host bridge, within a CPU's memory, beyond.
int groupOf(PathClass path) {
  if (path <= PathClass::Pxb)
    return 0;
  return path <= PathClass::Node ? 1 : 2;
}

struct Candidate {
  VertexId nic = 0;
  uint32_t port = 0;
  PathClass nearest = PathClass::None; ///< of its ways to devices
  bool isAssigned = false;
};

} // namespace

void assignRails(Graph &graph) {
  std::vector<VertexId> devices = graph.devices();
  std::vector<std::vector<PathClass>> classes;
  for (VertexId device : devices)
    classes.push_back(pathClassesFrom(graph, device));

  std::vector<Candidate> candidates;
  std::set<int32_t> taken;
  bool allVirtual = true;
  for (VertexId nic : graph.ofKind(VertexKind::Nic))
    for (const NicPort &port : graph[nic].ports)
      allVirtual &= port.isVirtual;
  for (VertexId nic : graph.ofKind(VertexKind::Nic))
    for (uint32_t i = 0; i < graph[nic].ports.size(); ++i) {
      const NicPort &port = graph[nic].ports[i];
      if (port.rail >= 0)
        taken.insert(port.rail);
      else if (allVirtual || !port.isVirtual)
        candidates.push_back({nic, i});
    }
  int nearestGroup = 2;
  for (Candidate &candidate : candidates) {
    for (const std::vector<PathClass> &ofDevice : classes)
      candidate.nearest = std::min(candidate.nearest, ofDevice[candidate.nic]);
    nearestGroup = std::min(nearestGroup, groupOf(candidate.nearest));
  }
  std::erase_if(candidates, [&](const Candidate &candidate) {
    return groupOf(candidate.nearest) > nearestGroup;
  });
  // A slow port beside fast ones serves other purposes.
  double fastest = 0;
  for (const Candidate &candidate : candidates)
    fastest = std::max(fastest, graph[candidate.nic].ports[candidate.port].bandwidth);
  std::erase_if(candidates, [&](const Candidate &candidate) {
    double bandwidth = graph[candidate.nic].ports[candidate.port].bandwidth;
    return bandwidth > 0 && bandwidth < fastest / 2;
  });

  int32_t next = 0;
  auto assign = [&](Candidate &candidate) {
    while (taken.contains(next))
      ++next;
    graph[candidate.nic].ports[candidate.port].rail = next++;
    candidate.isAssigned = true;
  };
  // Devices take turns, so that each has its first port before any has its second.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (size_t device = 0; device < devices.size(); ++device)
      for (Candidate &candidate : candidates)
        if (!candidate.isAssigned && classes[device][candidate.nic] == candidate.nearest) {
          assign(candidate);
          isChanged = true;
          break;
        }
  }
  for (Candidate &candidate : candidates)
    if (!candidate.isAssigned)
      assign(candidate);
}

uint32_t countRails(const Graph &graph) {
  int32_t greatest = -1;
  for (const Vertex &vertex : graph.vertices())
    for (const NicPort &port : vertex.ports)
      greatest = std::max(greatest, port.rail);
  return uint32_t(greatest + 1);
}

} // namespace coil::topology
