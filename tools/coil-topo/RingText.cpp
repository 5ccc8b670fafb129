//===- RingText.cpp - Rings as text ---------------------------------------===//

#include "tools/coil-topo/RingText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace coil::topology {

namespace {

std::vector<std::string> namesOf(const RingReport &report, const Ring &ring) {
  std::vector<std::string> names;
  for (uint32_t device : ring.order)
    names.push_back(report.names[device]);
  return names;
}

double fractionOf(const RingReport &report) {
  return report.bound.allGather() == 0 ? 0 : report.plan.allGather() / report.bound.allGather();
}

} // namespace

std::string ringText(const RingReport &report) {
  const RingPlan &plan = report.plan;
  std::string text = fmt::format("{}: {} devices, {} ring{}", report.topology, plan.devices,
                                 plan.rings.size(), plan.rings.size() == 1 ? "" : "s");
  if (plan.rings.empty())
    return text + "\n";
  bool areOnRails = plan.rings.front().rail >= 0;
  text += fmt::format(" by {}{}\n", nameOf(plan.kind), areOnRails ? ", one a rail" : "");
  for (size_t i = 0; i < plan.rings.size();) {
    const Ring &ring = plan.rings[i];
    size_t end = i + 1;
    while (end < plan.rings.size() && plan.rings[end].order == ring.order &&
           plan.rings[end].rail == ring.rail)
      ++end;
    text += fmt::format("  {} x {:.3f} GB/s  ", end - i, ring.bandwidth);
    if (ring.rail >= 0)
      text += fmt::format("rail {}, ", ring.rail);
    if (report.nodes > 1)
      text += "in each node: ";
    text += fmt::format("{}\n", fmt::join(namesOf(report, ring), " "));
    i = end;
  }
  return text + fmt::format("together {:.3f} GB/s; all-gather {:.3f} GB/s, {:.1f} % of what no "
                            "schedule can beat\n",
                            plan.bandwidth(), plan.allGather(), 100 * fractionOf(report));
}

Json ringJson(const RingReport &report) {
  Json json = Json::object();
  json.set("topology", report.topology);
  json.set("devices", report.plan.devices);
  json.set("nodes", report.nodes);
  json.set("kind", nameOf(report.plan.kind));
  json.set("bandwidth", report.plan.bandwidth());
  json.set("all_gather", report.plan.allGather());
  json.set("fraction_of_bound", fractionOf(report));
  Json rings = Json::array();
  for (const Ring &ring : report.plan.rings) {
    Json entry = Json::object();
    entry.set("bandwidth", ring.bandwidth);
    if (ring.rail >= 0)
      entry.set("rail", ring.rail);
    Json order = Json::array();
    for (std::string &name : namesOf(report, ring))
      order.push(std::move(name));
    entry.set("order", std::move(order));
    rings.push(std::move(entry));
  }
  json.set("rings", std::move(rings));
  return json;
}

} // namespace coil::topology
