//===- Topology.h - Machines, alone or in a cluster -------------*- C++ -*-===//
//
// A cluster is nodes, each a machine of some type, and what joins them. A type is kept
// once however many nodes are of it, so a thousand nodes cost a thousand small records.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_TOPOLOGY_H
#define COIL_COMPILER_TOPOLOGY_TOPOLOGY_H

#include "compiler/topology/Graph.h"

#include <string>
#include <vector>

namespace coil::topology {

/// A machine: what one operating system sees.
struct Machine {
  std::string name; ///< "dgx-h100", or the file that it was read from
  Graph graph;
};

struct Node {
  std::string name;  ///< "node3"
  uint32_t type = 0; ///< into Topology::types
  /// Nodes of one name share an NVLink domain that spans machines; empty if none.
  std::string nvlinkDomain;
};

/// A vertex of a node, or one of Topology::switches.
struct Endpoint {
  static constexpr uint32_t outside = ~uint32_t(0);
  uint32_t node = outside;
  VertexId vertex = 0; ///< of the node's machine, or (outside) into Topology::switches
  uint32_t port = 0;   ///< of a NIC

  bool isSwitch() const { return node == outside; }
  bool operator==(const Endpoint &) const = default;
};

/// A link that leaves a machine: NIC to network switch, GPU to an NVSwitch between machines, or
/// switch to switch.
struct OuterLink {
  Endpoint from, to;
  LinkKind kind = LinkKind::Network;
  uint32_t count = 1;
  double forward = 0, backward = 0; ///< GB/s of all of them together
  double latency = 0;               ///< µs
};

/// A rank's place: device `vertex` of node `node`.
struct Device {
  uint32_t node = 0;
  VertexId vertex = 0;
  bool operator==(const Device &) const = default;
};

struct Topology {
  std::string name;
  std::vector<Machine> types;
  std::vector<Node> nodes;
  /// Network switches, and NVSwitches that join machines.
  std::vector<Vertex> switches;
  std::vector<OuterLink> outerLinks;

  const Machine &machineOf(uint32_t node) const { return types[nodes[node].type]; }
  const Graph &graphOf(uint32_t node) const { return machineOf(node).graph; }
  const Vertex &operator[](const Endpoint &end) const {
    return end.isSwitch() ? switches[end.vertex] : graphOf(end.node)[end.vertex];
  }
  /// All devices, node after node, each node's in the order of Graph::devices. Device i is where
  /// rank i runs if nothing else is said.
  std::vector<Device> devices() const;
  /// One graph of everything: vertices of node 0, of node 1, ..., then the switches, whose `node`
  /// is nodes.size(). Names are preceded by the node's ("node3/gpu0") if there are several.
  Graph flatten() const;
  /// The id in `flatten` of the first vertex of each node, and of the first switch.
  std::vector<VertexId> flatOffsets() const;
};

/// A topology of one machine.
Topology alone(Machine machine);

/// `nodes` machines of one type, joined by rail. Ports without a rail get one by assignRails. A
/// machine without NICs gets no network.
Topology cluster(Machine machine, uint32_t nodes);

/// Joins the ports of several nodes by rail: all ports of rail i hang at one network switch, and
/// the rails' switches at one above them, which lets each pass all that its ports can by
/// `oversubscription`, at least 1.
void joinByRails(Topology &topology, double oversubscription = 1);

/// Adds an NVSwitch for each NVLink domain of several nodes, and links to it from the NVSwitches of
/// those nodes that pass all that their GPUs can.
void joinNvlinkDomains(Topology &topology);

/// Gives the ports of a machine without a rail of their own one each: those near GPUs in the order
/// of those GPUs, so that rail i is local rank i's; of several equally near, in the order of their
/// names. Virtual ports and those near no GPU (beyond its socket, where others are nearer) get
/// none, unless all are so.
void assignRails(Graph &graph);

/// How many rails the ports of a machine name: the greatest plus one.
uint32_t countRails(const Graph &graph);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_TOPOLOGY_H
