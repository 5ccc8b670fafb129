//===- Concerns.h - What in a machine slows collectives ---------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_CONCERNS_H
#define COIL_COMPILER_TOPOLOGY_CONCERNS_H

#include "compiler/topology/Graph.h"

#include <string>
#include <vector>

namespace coil::topology {

/// Something in a graph that costs speed, or that its source got wrong.
struct Concern {
  std::string what; ///< a word for scripts: "nvlinks", "far-nic", "narrow-pci", "slow-bridge",
                    ///< "affinity", "bus-id", "peer-access", "numa"
  std::string text; ///< a sentence that names the vertices and says what was found
};

/// In the order of the list above, and of the vertices:
/// - a GPU with fewer NVLinks than the others, or a pair with fewer than the other joined pairs
///   behind switches;
/// - a GPU whose nearest network port is beyond its socket while others have one on theirs;
/// - a GPU or NIC whose PCI link has fewer lanes than it could, or than others of its model;
/// - a PCI switch whose way up is slower than each of its devices';
/// - CPUs that claim the same processors, GPUs whose processors are not their CPU's;
/// - a bus id that two devices have;
/// - pairs of GPUs that cannot read each other's memory;
/// - devices whose NUMA node is unknown where there are several.
std::vector<Concern> concernsOf(const Graph &graph);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_CONCERNS_H
