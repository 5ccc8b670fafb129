//===- SmiReader.h - Topologies from the text of nvidia-smi -----*- C++ -*-===//
//
// `nvidia-smi topo -m` says how far devices are apart, not what lies between. The graph built
// from it has a switch for what is PIX, switches below one another for PXB, a host bridge for
// PHB, a CPU for each NUMA node; where that says other than the matrix, the matrix is stated
// and holds.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_SMIREADER_H
#define COIL_COMPILER_TOPOLOGY_SMIREADER_H

#include "compiler/topology/SmiText.h"

namespace coil::topology {

/// Reads the first matrix of `topo -m` in a text.
std::optional<ReadResult> readSmi(const SourceFile &file, DiagnosticEngine &diagnostics);

/// The graph of a matrix of distances.
Graph graphOfMatrix(const SmiMatrix &matrix, const std::map<std::string, std::string> &nicLegend,
                    Reporter &reporter);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_SMIREADER_H
