//===- Bound.cpp - What no schedule can beat ------------------------------===//

#include "compiler/topology/mapping/Bound.h"

#include "compiler/topology/mapping/MaxFlow.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace coil::topology {

namespace {

struct Arc {
  uint32_t from, to;
  int64_t capacity; ///< in units
};

class BoundSearch {
public:
  BoundSearch(const Graph &graph, std::span<const VertexId> devices,
              const std::function<bool(const Link &)> &isUsed)
      : vertices(static_cast<uint32_t>(graph.vertices().size())), devices(devices),
        isDevice(vertices, false), network(vertices + 1) {
    for (VertexId device : devices)
      isDevice[device] = true;
    double total = 0;
    for (const Link &link : graph.links())
      if (!isUsed || isUsed(link))
        total += link.forward + link.backward;
    // Flows are below the number of devices times the sum of all capacities.
    for (unit = 1e6; unit > 1 && total * unit * double(devices.size()) > 2e18;)
      unit /= 10;
    for (const Link &link : graph.links())
      if (!isUsed || isUsed(link)) {
        arcs.push_back({link.from, link.to, std::llround(link.forward * unit)});
        arcs.push_back({link.to, link.from, std::llround(link.backward * unit)});
      }
    for (const Arc &arc : arcs)
      network.addArc(arc.from, arc.to, arc.capacity);
    for (VertexId device : devices)
      network.addArc(vertices, device, 0);
  }

  ThroughputBound run(std::span<const VertexId> sinks) {
    // Cuts around one device, as a first guess.
    std::vector<bool> side(vertices, false);
    for (VertexId device : sinks) {
      side.assign(vertices, true);
      side[device] = false;
      consider(side);
      side.assign(vertices, false);
      side[device] = true;
      consider(side);
    }
    // A rate that does for a sink does for it when it falls, so one pass is enough.
    int64_t all = static_cast<int64_t>(devices.size());
    for (VertexId sink : sinks)
      for (;;) {
        apply();
        if (network.run(vertices, sink, all * numerator) == all * numerator)
          break;
        for (uint32_t vertex = 0; vertex < vertices; ++vertex)
          side[vertex] = network.isOnSourceSide(vertex);
        consider(side);
      }
    ThroughputBound bound;
    bound.devices = static_cast<uint32_t>(devices.size());
    bound.capacity = double(capacity) / unit;
    bound.devicesInCut = inCut;
    bound.cut = std::move(cut);
    return bound;
  }

private:
  /// Takes the cut if its quotient is less.
  void consider(const std::vector<bool> &side) {
    int64_t out = 0;
    for (const Arc &arc : arcs)
      if (side[arc.from] && !side[arc.to])
        out += arc.capacity;
    uint32_t inside = 0;
    for (VertexId device : devices)
      inside += side[device];
    if (inCut != 0 && out * inCut >= capacity * inside)
      return;
    capacity = out;
    inCut = inside;
    cut.clear();
    for (uint32_t vertex = 0; vertex < vertices; ++vertex)
      if (side[vertex])
        cut.push_back(vertex);
    int64_t divisor = std::gcd(out, int64_t(inside));
    numerator = out / divisor;
    denominator = inside / divisor;
  }

  /// All capacities times the rate's denominator; of each device, its numerator.
  void apply() {
    uint32_t number = 0;
    for (const Arc &arc : arcs)
      network.setCapacity(number++, arc.capacity * denominator);
    for (size_t i = 0; i < devices.size(); ++i)
      network.setCapacity(number++, numerator);
  }

  uint32_t vertices;
  std::span<const VertexId> devices;
  std::vector<bool> isDevice;
  double unit = 1; ///< units of capacity a GB/s
  std::vector<Arc> arcs;
  FlowNetwork network; ///< the last vertex is the source of all devices
  int64_t capacity = 0, numerator = 0, denominator = 1;
  uint32_t inCut = 0; ///< 0: there is no cut yet
  std::vector<VertexId> cut;
};

} // namespace

ThroughputBound throughputBound(const Graph &graph, std::span<const VertexId> devices,
                                const std::function<bool(const Link &)> &isUsed,
                                std::span<const VertexId> sinks) {
  return BoundSearch(graph, devices, isUsed).run(sinks.empty() ? devices : sinks);
}

ThroughputBound throughputBound(const Topology &topology) {
  // What joins a node: vertex, switch, links, both bandwidths.
  using Joint = std::tuple<VertexId, uint32_t, VertexId, int, uint32_t, double, double>;
  std::vector<std::vector<Joint>> joints(topology.nodes.size());
  for (const OuterLink &link : topology.outerLinks) {
    auto add = [&](const Endpoint &end, const Endpoint &other, double out, double in) {
      if (!end.isSwitch())
        joints[end.node].push_back(
            {end.vertex, other.node, other.vertex, int(link.kind), link.count, out, in});
    };
    add(link.from, link.to, link.forward, link.backward);
    add(link.to, link.from, link.backward, link.forward);
  }
  Graph flat = topology.flatten();
  std::vector<VertexId> offsets = topology.flatOffsets(), devices, sinks;
  std::map<std::pair<uint32_t, std::vector<Joint>>, uint32_t> known;
  for (uint32_t node = 0; node < topology.nodes.size(); ++node) {
    std::sort(joints[node].begin(), joints[node].end());
    bool isNew = known.try_emplace({topology.nodes[node].type, joints[node]}, node).second;
    for (VertexId vertex : topology.graphOf(node).devices()) {
      devices.push_back(offsets[node] + vertex);
      if (isNew)
        sinks.push_back(devices.back());
    }
  }
  return throughputBound(flat, devices, {}, sinks);
}

} // namespace coil::topology
