//===- MaxFlow.h - Maximum flows and minimum cuts ---------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_MAPPING_MAXFLOW_H
#define COIL_COMPILER_TOPOLOGY_MAPPING_MAXFLOW_H

#include <cstdint>
#include <span>
#include <vector>

namespace coil::topology {

/// A directed network with whole capacities. Flows by blocking flows in layers (Dinic, 1970).
class FlowNetwork {
public:
  explicit FlowNetwork(uint32_t vertices) : vertices(vertices) {}

  /// Returns the arc's number.
  uint32_t addArc(uint32_t from, uint32_t to, int64_t capacity);
  void setCapacity(uint32_t arc, int64_t capacity) { capacities[arc] = capacity; }

  /// The largest flow from `source` to `sink` that is at most `limit`. Every call begins anew. The
  /// sum of the capacities out of `source` fits in 63 bits.
  int64_t run(uint32_t source, uint32_t sink, int64_t limit);

  /// After a run that ended below its limit: whether a vertex is on the source's side of the
  /// smallest cut with the fewest vertices on that side.
  bool isOnSourceSide(uint32_t vertex) const { return level[vertex] >= 0; }

private:
  struct Arc {
    uint32_t from, to;
  };
  struct HalfArc {
    uint32_t to;
    uint32_t reverse; ///< its number
    int64_t rest;
  };

  void index();
  bool findLevels(uint32_t source, uint32_t sink);
  int64_t augment(uint32_t source, uint32_t sink, int64_t limit);

  uint32_t vertices;
  std::vector<Arc> arcs;
  std::vector<int64_t> capacities;
  // Each arc in both directions, those out of one vertex together.
  std::vector<HalfArc> halves;
  std::vector<uint32_t> firstHalf, halfOfArc;
  std::vector<int32_t> level;
  std::vector<uint32_t> next, queue, path;
};

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_MAPPING_MAXFLOW_H
