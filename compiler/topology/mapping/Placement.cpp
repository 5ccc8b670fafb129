//===- Placement.cpp - Which rank runs on which device --------------------===//

#include "compiler/topology/mapping/Placement.h"

#include "compiler/topology/mapping/RingPlan.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace coil::topology {

namespace {
/// Of ranks of a single machine that are exchanged with each other.
constexpr uint32_t mostExchanged = 16;
constexpr int mostRounds = 8;
} // namespace

Placer::Placer(const Topology &topology, std::span<const Transfer> transfers)
    : topology(topology), transfers(transfers), flat(topology.flatten()) {
  std::vector<VertexId> offsets = topology.flatOffsets();
  for (const Device &device : topology.devices())
    vertices.push_back(offsets[device.node] + device.vertex);
  routes.resize(vertices.size());
}

const std::vector<Step> &Placer::route(uint32_t from, uint32_t to) {
  auto [place, isNew] = known.try_emplace({from, to});
  if (isNew) {
    if (!routes[from])
      routes[from] = std::make_unique<Routes>(flat, vertices[from]);
    place->second = routes[from]->to(vertices[to]);
  }
  return place->second;
}

LinkLoads Placer::loadsOf(const Placement &placement) {
  LinkLoads loads(flat);
  for (const Transfer &transfer : transfers)
    loads.add(route(placement.deviceOf[transfer.from], placement.deviceOf[transfer.to]),
              transfer.chunks);
  return loads;
}

std::optional<Placement> Placer::evaluate(std::vector<uint32_t> deviceOf, std::string manner,
                                          std::string &reason) {
  Placement placement;
  placement.deviceOf = std::move(deviceOf);
  placement.manner = std::move(manner);
  LinkLoads loads = loadsOf(placement);
  for (const Transfer &transfer : transfers) {
    uint32_t from = placement.deviceOf[transfer.from], to = placement.deviceOf[transfer.to];
    const std::vector<Step> &steps = route(from, to);
    if (steps.empty() && from != to) {
      reason =
          fmt::format("rank {} sends to rank {}, but no link leads from {} to {}", transfer.from,
                      transfer.to, flat[vertices[from]].name, flat[vertices[to]].name);
      return std::nullopt;
    }
    for (Step step : steps) {
      double carried = loads.of(step), time = carried / flat.link(step.link).outOf(step.from);
      if (time > placement.time) {
        placement.time = time;
        placement.chunks = carried;
        placement.busiest = step;
      }
    }
  }
  return placement;
}

std::optional<Placement> Placer::place(std::string &reason) {
  std::vector<uint32_t> order(vertices.size());
  std::iota(order.begin(), order.end(), 0u);
  std::optional<Placement> best = evaluate(order, "as the devices are numbered", reason);
  if (!best)
    return std::nullopt;
  auto consider = [&](std::vector<uint32_t> deviceOf, const char *manner) {
    std::optional<Placement> other = evaluate(std::move(deviceOf), manner, reason);
    // Less by more than what summing in another order makes.
    bool isBetter = other && other->time < best->time * (1 - 1e-9);
    if (isBetter)
      best = std::move(other);
    return isBetter;
  };
  const Graph &machine = topology.graphOf(0);
  uint32_t perNode = static_cast<uint32_t>(machine.devices().size());
  bool areAlike = std::all_of(topology.nodes.begin(), topology.nodes.end(), [&](const Node &node) {
    return node.type == topology.nodes[0].type;
  });
  if (RingPlan rings; areAlike && perNode > 2) {
    rings = planRings(machine, machine.devices());
    if (!rings.rings.empty()) {
      for (uint32_t rank = 0; rank < order.size(); ++rank)
        order[rank] = rank / perNode * perNode + rings.rings.front().order[rank % perNode];
      consider(order, "along a ring");
    }
  }
  if (topology.nodes.size() > 1 || vertices.size() > mostExchanged)
    return best;
  bool hasChanged = true;
  for (int round = 0; round < mostRounds && hasChanged; ++round) {
    hasChanged = false;
    for (uint32_t a = 0; a < vertices.size(); ++a)
      for (uint32_t b = a + 1; b < vertices.size(); ++b) {
        order = best->deviceOf;
        std::swap(order[a], order[b]);
        hasChanged |= consider(order, "by exchanging ranks");
      }
  }
  return best;
}

} // namespace coil::topology
