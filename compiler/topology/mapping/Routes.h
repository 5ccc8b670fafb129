//===- Routes.h - The links between two devices -----------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_MAPPING_ROUTES_H
#define COIL_COMPILER_TOPOLOGY_MAPPING_ROUTES_H

#include "compiler/topology/Graph.h"

#include <span>
#include <vector>

namespace coil::topology {

/// A link in the direction in which it is passed.
struct Step {
  LinkId link = 0;
  VertexId from = 0;
};

/// The ways out of one vertex.
class Routes {
public:
  /// Over NVLink where a link or a switch joins two devices; else over PCI and CPUs, by the
  /// fewest links between CPUs and then the fewest links. Devices and NICs are not passed
  /// through.
  Routes(const Graph &graph, VertexId source);

  /// The way to a vertex, in order; empty if there is none, or if it is the source.
  std::vector<Step> to(VertexId destination) const;
  bool reaches(VertexId destination) const { return cost[destination] != unreached; }

private:
  static constexpr uint64_t unreached = ~uint64_t(0);

  const Graph &graph;
  VertexId source;
  std::vector<uint64_t> cost;
  std::vector<LinkId> last; ///< the link that a vertex is reached by
};

/// How much of what runs at once each link carries, by direction.
class LinkLoads {
public:
  explicit LinkLoads(const Graph &graph) : graph(graph), loads(graph.links().size(), {0, 0}) {}

  void add(std::span<const Step> route, double amount = 1);
  double of(Step step) const;
  /// GB/s that one unit of load gets where the route is busiest; 0 for an empty route.
  double bandwidthOf(std::span<const Step> route) const;

private:
  const Graph &graph;
  std::vector<std::pair<double, double>> loads; ///< forward, backward
};

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_MAPPING_ROUTES_H
