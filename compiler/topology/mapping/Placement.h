//===- Placement.h - Which rank runs on which device ------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_MAPPING_PLACEMENT_H
#define COIL_COMPILER_TOPOLOGY_MAPPING_PLACEMENT_H

#include "compiler/topology/Topology.h"
#include "compiler/topology/mapping/Routes.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace coil::topology {

/// What one rank sends to another, in chunks.
struct Transfer {
  uint32_t from = 0, to = 0;
  double chunks = 0;
};

struct Placement {
  /// By rank: the number of its device among Topology::devices.
  std::vector<uint32_t> deviceOf;
  /// How it was found: "as the devices are numbered", "along a ring", "by exchanging ranks".
  std::string manner;
  /// Of the link that needs the longest: what it carries, and that by its GB/s. If chunks have s
  /// bytes, all that is sent takes s * time / 10^9 seconds at least.
  Step busiest;
  double chunks = 0;
  double time = 0;
};

/// Places the ranks of one algorithm on a topology, one on each device.
class Placer {
public:
  /// `transfers` are between ranks 0 to devices - 1, each pair once.
  Placer(const Topology &topology, std::span<const Transfer> transfers);

  /// The placement whose busiest link needs the least time, of: as the devices are numbered; along
  /// a ring of planRings in every node; for one node of up to 16 devices, these improved by
  /// exchanging two ranks as long as that helps. Nothing, with the reason, if a rank does not reach
  /// one that it sends to.
  std::optional<Placement> place(std::string &reason);
  /// That of a given order; the same errors.
  std::optional<Placement> evaluate(std::vector<uint32_t> deviceOf, std::string manner,
                                    std::string &reason);

  /// What the links carry under a placement.
  LinkLoads loadsOf(const Placement &placement);
  const Graph &graph() const { return flat; }
  VertexId vertexOf(uint32_t device) const { return vertices[device]; }
  uint32_t devices() const { return static_cast<uint32_t>(vertices.size()); }

private:
  const std::vector<Step> &route(uint32_t from, uint32_t to);

  const Topology &topology;
  std::span<const Transfer> transfers;
  Graph flat;
  std::vector<VertexId> vertices; ///< of the devices, in the flat graph
  std::vector<std::unique_ptr<Routes>> routes;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Step>> known;
};

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_MAPPING_PLACEMENT_H
