//===- BoundText.cpp - A throughput bound as text -------------------------===//

#include "tools/coil-topo/BoundText.h"

#include <fmt/format.h>

namespace coil::topology {

namespace {

/// The numbers below `all` that are not among `some`, which ascend.
std::vector<VertexId> complementOf(const std::vector<VertexId> &some, size_t all) {
  std::vector<VertexId> others;
  auto next = some.begin();
  for (VertexId vertex = 0; vertex < all; ++vertex)
    if (next != some.end() && *next == vertex)
      ++next;
    else
      others.push_back(vertex);
  return others;
}

} // namespace

std::string boundText(const Topology &topology, const ThroughputBound &bound) {
  std::string text = fmt::format("{}: {} devices\n", topology.name, bound.devices);
  if (bound.devices < 2)
    return text + "nothing is sent\n";
  text += fmt::format("each device to all others    {:10.3f} GB/s\n"
                      "all-gather, reduce-scatter   {:10.3f} GB/s\n"
                      "all-reduce, as one of each   {:10.3f} GB/s\n",
                      bound.rate(), bound.allGather(), bound.allReduce());
  // The side with fewer vertices says more.
  Graph flat = topology.flatten();
  size_t all = flat.vertices().size();
  bool showsSource = 2 * bound.cut.size() <= all;
  std::vector<VertexId> side = showsSource ? bound.cut : complementOf(bound.cut, all);
  text += fmt::format("limited by {:.3f} GB/s out of {}, {}:\n", bound.capacity,
                      bound.devicesInCut == 1 ? "1 device"
                                              : fmt::format("{} devices", bound.devicesInCut),
                      showsSource ? "which are, with what lies between" : "into what remains");
  constexpr size_t mostNames = 32, mostColumns = 96;
  std::string line = " ";
  for (size_t i = 0; i < side.size() && i <= mostNames; ++i) {
    std::string name =
        i == mostNames ? fmt::format("and {} more", side.size() - mostNames) : flat[side[i]].name;
    if (line.size() + name.size() >= mostColumns) {
      text += line + "\n";
      line = " ";
    }
    line += " " + name;
  }
  return text + line + "\n";
}

Json boundJson(const Topology &topology, const ThroughputBound &bound) {
  Json json = Json::object();
  json.set("topology", topology.name);
  json.set("devices", bound.devices);
  json.set("rate", bound.rate());
  json.set("all_gather", bound.allGather());
  json.set("reduce_scatter", bound.reduceScatter());
  json.set("all_reduce", bound.allReduce());
  Json cut = Json::object();
  cut.set("capacity", bound.capacity);
  cut.set("devices", bound.devicesInCut);
  Graph flat = topology.flatten();
  Json names = Json::array();
  for (VertexId vertex : bound.cut)
    names.push(flat[vertex].name);
  cut.set("vertices", std::move(names));
  json.set("cut", std::move(cut));
  return json;
}

} // namespace coil::topology
