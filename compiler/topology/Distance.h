//===- Distance.h - Path classes between vertices of a machine --*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_DISTANCE_H
#define COIL_COMPILER_TOPOLOGY_DISTANCE_H

#include "compiler/topology/Graph.h"

namespace coil::topology {

/// The class of the way from `source` to every vertex over PCI and the links between CPUs, NVLink
/// left aside. What the graph states of a pair comes before what its links say. Time grows with
/// the graph's links.
std::vector<PathClass> pathClassesFrom(const Graph &graph, VertexId source);
PathClass pathClass(const Graph &graph, VertexId a, VertexId b);

/// A NIC's port as seen from a device.
struct NearPort {
  VertexId nic = 0;
  uint32_t port = 0;
  PathClass path = PathClass::None;
};

/// All ports of a machine, nearest first; equally near ones in the order of their NICs and numbers.
std::vector<NearPort> portsByDistance(const Graph &graph, VertexId device);

/// How many NVLinks (or xGMI links) serve a pair of GPUs: those between them, or else the fewer of
/// their links to switches that lead to each other; 0 if they are joined by neither.
uint32_t peerLinks(const Graph &graph, VertexId a, VertexId b);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_DISTANCE_H
