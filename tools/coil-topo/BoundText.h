//===- BoundText.h - A throughput bound as text -----------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_TOPO_BOUNDTEXT_H
#define COIL_TOOLS_COIL_TOPO_BOUNDTEXT_H

#include "compiler/topology/Json.h"
#include "compiler/topology/mapping/Bound.h"

#include <string>

namespace coil::topology {

/// For people: the rates in GB/s, and the bottleneck cut by the names of its vertices.
std::string boundText(const Topology &topology, const ThroughputBound &bound);
Json boundJson(const Topology &topology, const ThroughputBound &bound);

} // namespace coil::topology

#endif // COIL_TOOLS_COIL_TOPO_BOUNDTEXT_H
