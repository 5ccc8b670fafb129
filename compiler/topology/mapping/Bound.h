//===- Bound.h - What no schedule can beat ----------------------*- C++ -*-===//
//
// If every device sends to all others at rate x at once, then out of any set of vertices
// that lacks a device must go x for each device in it. So x is at most the capacity out of
// the set by its devices, and the least of these quotients over all sets, the bottleneck
// cut, can be reached (Zhao et al., "ForestColl: Throughput-Optimal Collective
// Communications on Heterogeneous Network Fabrics", 2024).
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_MAPPING_BOUND_H
#define COIL_COMPILER_TOPOLOGY_MAPPING_BOUND_H

#include "compiler/topology/Topology.h"

#include <functional>
#include <span>
#include <vector>

namespace coil::topology {

struct ThroughputBound {
  uint32_t devices = 0;
  /// The bottleneck cut: capacity out of it, GB/s, its devices, and its vertices, ascending.
  double capacity = 0;
  uint32_t devicesInCut = 0;
  std::vector<VertexId> cut;

  /// GB/s at which each device can send to all others at once; 0 if some do not reach others.
  double rate() const { return devicesInCut == 0 ? 0 : capacity / devicesInCut; }
  /// Bytes gathered (reduced and scattered) by the time it takes, GB/s: the field's "algbw".
  double allGather() const { return rate() * devices; }
  double reduceScatter() const { return allGather(); }
  /// Of an all-reduce as a reduce-scatter and an all-gather, one after the other.
  double allReduce() const { return allGather() / 2; }
};

/// The bound of `devices`, two or more vertices of the graph, exact but for the rounding of
/// bandwidths to whole multiples of 10^-6 GB/s (of coarser ones where the sum of all would not fit
/// in 63 bits). `isUsed` may leave links out. `sinks` are the devices to be looked at, all if it is
/// empty: of several that look alike one is enough.
ThroughputBound throughputBound(const Graph &graph, std::span<const VertexId> devices,
                                const std::function<bool(const Link &)> &isUsed = {},
                                std::span<const VertexId> sinks = {});

/// The bound of all devices of a topology; of nodes that are joined alike, one is looked at. The
/// cut's vertices are those of Topology::flatten.
ThroughputBound throughputBound(const Topology &topology);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_MAPPING_BOUND_H
