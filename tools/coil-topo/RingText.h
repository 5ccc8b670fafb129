//===- RingText.h - Rings as text -------------------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_TOPO_RINGTEXT_H
#define COIL_TOOLS_COIL_TOPO_RINGTEXT_H

#include "compiler/topology/Json.h"
#include "compiler/topology/mapping/Bound.h"
#include "compiler/topology/mapping/RingPlan.h"

#include <string>
#include <vector>

namespace coil::topology {

/// Rings and what they are to be measured by. `names` are the devices' that the rings' orders
/// number; in a cluster those of one node.
struct RingReport {
  std::string topology;
  std::vector<std::string> names;
  uint32_t nodes = 1;
  RingPlan plan;
  ThroughputBound bound;
};

/// For people: equal rings in one line, and what they reach of the bound.
std::string ringText(const RingReport &report);
Json ringJson(const RingReport &report);

} // namespace coil::topology

#endif // COIL_TOOLS_COIL_TOPO_RINGTEXT_H
