//===- RingPlan.h - Rings through a machine or a cluster --------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_MAPPING_RINGPLAN_H
#define COIL_COMPILER_TOPOLOGY_MAPPING_RINGPLAN_H

#include "compiler/topology/Topology.h"
#include "compiler/topology/mapping/RingPacking.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace coil::topology {

/// How the hops of rings are made.
enum class RingKind : uint8_t {
  Switched, ///< by NVLinks to a common switch
  Direct,   ///< by NVLinks between devices, none of which serves two rings
  Mixed,    ///< by whatever there is between two devices
};
/// "nvswitch", "nvlink", "mixed".
const char *nameOf(RingKind kind);

struct Ring {
  /// Devices of a machine, as numbers into the devices that the rings are planned for; in a
  /// cluster the ring visits those of the first node, then those of the next, and so on around.
  RingOrder order;
  double bandwidth = 0; ///< GB/s of every hop while all rings run
  /// The rail that leads from node to node; -1 in a single machine.
  int32_t rail = -1;
};

struct RingPlan {
  RingKind kind = RingKind::Mixed;
  std::vector<Ring> rings;
  uint32_t devices = 0; ///< that each ring visits, of all nodes

  double bandwidth() const;
  /// What an all-gather by these rings reaches, GB/s as ThroughputBound counts it.
  double allGather() const;
};

/// Rings of a machine through `devices`, which differ. With NVLinks to a common switch there are
/// as many as the device with the fewest has links; with NVLinks between devices, as many as
/// packRings finds; else a ring and its reverse, in the order that passes the fewest links between
/// CPUs. None if there are fewer than two devices, or some do not reach others.
RingPlan planRings(const Graph &graph, std::span<const VertexId> devices);

/// Rings through all devices of a topology. Over several nodes there is one a rail, which enters
/// each node at the device nearest to the rail's port and leaves it by that port, over NVLink to
/// that device where there is one; so each rail carries an equal share of what passes between
/// nodes. Nothing, with the reason, if nodes differ in their devices or have no port of a rail, or
/// are joined by no rail.
std::optional<RingPlan> planRings(const Topology &topology, std::string &reason);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_MAPPING_RINGPLAN_H
