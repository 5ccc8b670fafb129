//===- RingPlan.cpp - Rings through a machine or a cluster ----------------===//

#include "compiler/topology/mapping/RingPlan.h"

#include "compiler/topology/Bandwidth.h"
#include "compiler/topology/Distance.h"
#include "compiler/topology/mapping/DeviceOrder.h"
#include "compiler/topology/mapping/Routes.h"

#include <algorithm>
#include <fmt/format.h>

namespace coil::topology {

namespace {

/// The links of each device to a switch that all have links to; empty if there is none.
std::vector<const Link *> linksToCommonSwitch(const Graph &graph,
                                              std::span<const VertexId> devices) {
  for (VertexId middle : graph.ofKind(VertexKind::NvSwitch)) {
    std::vector<const Link *> links;
    for (VertexId device : devices)
      if (const Link *link = graph.linkBetween(device, middle, LinkKind::NvLink))
        links.push_back(link);
    if (links.size() == devices.size())
      return links;
  }
  return {};
}

Mesh meshOf(const Graph &graph, std::span<const VertexId> devices) {
  Mesh mesh(static_cast<uint32_t>(devices.size()));
  for (uint32_t a = 0; a < devices.size(); ++a)
    for (LinkId id : graph.linksAt(devices[a])) {
      const Link &link = graph.link(id);
      auto other = std::find(devices.begin(), devices.end(), link.other(devices[a]));
      if (isPeerLink(link.kind) && other != devices.end() && link.outOf(devices[a]) > 0)
        mesh(a, static_cast<uint32_t>(other - devices.begin())) += std::max(link.count, 1u);
    }
  return mesh;
}

/// What a hop should cost, so that the dearest kind is avoided first.
double costOf(const Graph &graph, std::span<const Step> route) {
  double cost = 0;
  for (Step step : route) {
    const Link &link = graph.link(step.link);
    cost += isPeerLink(link.kind) ? 1 : link.kind == LinkKind::Socket ? 1e6 : 1e3;
  }
  return cost;
}

class MachineRings {
public:
  MachineRings(const Graph &graph, std::span<const VertexId> devices)
      : graph(graph), devices(devices), count(static_cast<uint32_t>(devices.size())) {
    plan.devices = count;
  }

  RingPlan run() {
    if (count < 2 || !findOrder())
      return plan;
    if (std::vector<const Link *> links = linksToCommonSwitch(graph, devices); !links.empty())
      addSwitched(links);
    else if (std::vector<RingOrder> rings = packRings(meshOf(graph, devices)); !rings.empty())
      addDirect(std::move(rings));
    else
      addMixed();
    return plan;
  }

private:
  bool findOrder() {
    std::vector<double> cost(size_t(count) * count, 0);
    for (uint32_t a = 0; a < count; ++a) {
      routes.emplace_back(graph, devices[a]);
      for (uint32_t b = 0; b < count; ++b) {
        if (!routes[a].reaches(devices[b]))
          return false;
        cost[size_t(a) * count + b] = costOf(graph, routes[a].to(devices[b]));
      }
    }
    order = shortRound(count, cost);
    return true;
  }

  void addSwitched(const std::vector<const Link *> &links) {
    plan.kind = RingKind::Switched;
    uint32_t rings = ~0u;
    double bandwidth = 0;
    for (const Link *link : links)
      rings = std::min(rings, std::max(link->count, 1u));
    for (const Link *link : links) {
      double share = std::min(link->forward, link->backward) / rings;
      bandwidth = bandwidth == 0 ? share : std::min(bandwidth, share);
    }
    plan.rings.assign(rings, {order, bandwidth});
  }

  void addDirect(std::vector<RingOrder> rings) {
    plan.kind = RingKind::Direct;
    for (RingOrder &ring : rings) {
      double bandwidth = 0;
      for (uint32_t i = 0; i < count; ++i) {
        VertexId from = devices[ring[i]], to = devices[ring[(i + 1) % count]];
        double ofHop = 0;
        for (LinkKind kind : {LinkKind::NvLink, LinkKind::Xgmi})
          if (const Link *link = graph.linkBetween(from, to, kind))
            ofHop = std::max(ofHop, link->outOf(from) / std::max(link->count, 1u));
        bandwidth = i == 0 ? ofHop : std::min(bandwidth, ofHop);
      }
      plan.rings.push_back({std::move(ring), bandwidth});
    }
  }

  void addMixed() {
    plan.kind = RingKind::Mixed;
    plan.rings.push_back({order});
    if (count > 2) {
      std::reverse(order.begin() + 1, order.end());
      plan.rings.push_back({order});
    }
    LinkLoads loads(graph);
    std::vector<std::vector<Step>> hops;
    for (const Ring &ring : plan.rings)
      for (uint32_t i = 0; i < count; ++i) {
        hops.push_back(routes[ring.order[i]].to(devices[ring.order[(i + 1) % count]]));
        loads.add(hops.back());
      }
    for (size_t i = 0; i < hops.size(); ++i) {
      Ring &ring = plan.rings[i / count];
      double ofHop = loads.bandwidthOf(hops[i]);
      ring.bandwidth = i % count == 0 ? ofHop : std::min(ring.bandwidth, ofHop);
    }
  }

  const Graph &graph;
  std::span<const VertexId> devices;
  uint32_t count;
  std::vector<Routes> routes;
  RingOrder order;
  RingPlan plan;
};

/// The port of a rail, and the device nearest to it.
struct RailEnd {
  VertexId nic = noVertex;
  uint32_t port = 0;
  uint32_t device = 0;
};

std::optional<RailEnd> endOf(const Graph &graph, const std::vector<VertexId> &devices,
                             int32_t rail) {
  std::optional<RailEnd> best;
  PathClass nearest = PathClass::None;
  for (uint32_t device = 0; device < devices.size(); ++device)
    for (const NearPort &port : portsByDistance(graph, devices[device]))
      if (graph[port.nic].ports[port.port].rail == rail && (!best || port.path < nearest)) {
        best = {port.nic, port.port, device};
        nearest = port.path;
      }
  return best;
}

/// Hops of one ring inside of a node, and from its last device to the rail's port and from there to
/// its first.
std::vector<std::vector<Step>> hopsInNode(const std::vector<Routes> &routes,
                                          const std::vector<VertexId> &devices,
                                          const RingOrder &order, const RailEnd &end,
                                          const Routes &fromNic, bool overDevice) {
  std::vector<std::vector<Step>> hops;
  for (size_t i = 0; i + 1 < order.size(); ++i)
    hops.push_back(routes[order[i]].to(devices[order[i + 1]]));
  if (overDevice) {
    hops.push_back(routes[order.back()].to(devices[end.device]));
    hops.push_back(routes[end.device].to(end.nic));
  } else {
    hops.push_back(routes[order.back()].to(end.nic));
  }
  hops.push_back(fromNic.to(devices[end.device]));
  return hops;
}

} // namespace

const char *nameOf(RingKind kind) {
  return kind == RingKind::Switched ? "nvswitch" : kind == RingKind::Direct ? "nvlink" : "mixed";
}

double RingPlan::bandwidth() const {
  double sum = 0;
  for (const Ring &ring : rings)
    sum += ring.bandwidth;
  return sum;
}

double RingPlan::allGather() const {
  return devices < 2 ? 0 : bandwidth() * devices / (devices - 1);
}

RingPlan planRings(const Graph &graph, std::span<const VertexId> devices) {
  return MachineRings(graph, devices).run();
}

std::optional<RingPlan> planRings(const Topology &topology, std::string &reason) {
  const Graph &graph = topology.graphOf(0);
  std::vector<VertexId> devices = graph.devices();
  RingPlan plan = planRings(graph, devices);
  if (topology.nodes.size() == 1) {
    if (plan.rings.empty() && devices.size() > 1)
      reason = "some devices do not reach others";
    return plan.rings.empty() && devices.size() > 1 ? std::nullopt : std::optional(plan);
  }
  bool isOneDomain = !topology.nodes[0].nvlinkDomain.empty();
  for (const Node &node : topology.nodes) {
    isOneDomain &= node.nvlinkDomain == topology.nodes[0].nvlinkDomain;
    if (node.type != topology.nodes[0].type) {
      reason = fmt::format("{} and {} are machines of different types", topology.nodes[0].name,
                           node.name);
      return std::nullopt;
    }
  }
  plan.devices = static_cast<uint32_t>(devices.size() * topology.nodes.size());
  // Switches that join machines let all pass that their devices can send.
  if (isOneDomain && plan.kind == RingKind::Switched && !plan.rings.empty())
    return plan;
  uint32_t rails = countRails(graph);
  if (rails == 0 || topology.outerLinks.empty()) {
    reason = "no rail joins the nodes";
    return std::nullopt;
  }
  RingOrder order = plan.rings.empty() ? RingOrder{0} : plan.rings.front().order;
  std::vector<Routes> routes;
  for (VertexId device : devices)
    routes.emplace_back(graph, device);

  // What one node carries; all carry the same.
  LinkLoads loads(graph);
  std::vector<std::vector<std::vector<Step>>> hopsOfRing;
  std::vector<double> ofPort;
  plan.rings.clear();
  for (uint32_t rail = 0; rail < rails; ++rail) {
    std::optional<RailEnd> end = endOf(graph, devices, int32_t(rail));
    if (!end) {
      reason = fmt::format("no port of {} is of rail {}", topology.machineOf(0).name, rail);
      return std::nullopt;
    }
    Ring &ring = plan.rings.emplace_back();
    ring.rail = int32_t(rail);
    ring.order = order;
    std::rotate(ring.order.begin(), std::find(ring.order.begin(), ring.order.end(), end->device),
                ring.order.end());
    std::vector<Step> toEntry = routes[ring.order.back()].to(devices[end->device]);
    bool overDevice =
        !toEntry.empty() && std::all_of(toEntry.begin(), toEntry.end(), [&](Step step) {
          return isPeerLink(graph.link(step.link).kind);
        });
    hopsOfRing.push_back(
        hopsInNode(routes, devices, ring.order, *end, Routes(graph, end->nic), overDevice));
    for (const std::vector<Step> &hop : hopsOfRing.back())
      loads.add(hop);
    ofPort.push_back(portBandwidth(graph, end->nic, end->port));
  }
  for (size_t i = 0; i < plan.rings.size(); ++i) {
    double &bandwidth = plan.rings[i].bandwidth;
    bandwidth = ofPort[i];
    for (const std::vector<Step> &hop : hopsOfRing[i])
      if (!hop.empty())
        bandwidth = std::min(bandwidth, loads.bandwidthOf(hop));
  }
  return plan;
}

} // namespace coil::topology
