//===- MatrixText.h - Distances in the notation people know -----*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_TOPO_MATRIXTEXT_H
#define COIL_TOOLS_COIL_TOPO_MATRIXTEXT_H

#include "compiler/topology/Graph.h"

#include <string>

namespace coil::topology {

/// What `nvidia-smi topo -m` would print of the machine, with the processors and NUMA nodes that
/// are known and a legend of the cards: coil-topo reads it again.
std::string matrixText(const Graph &graph);

} // namespace coil::topology

#endif // COIL_TOOLS_COIL_TOPO_MATRIXTEXT_H
