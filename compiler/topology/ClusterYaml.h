//===- ClusterYaml.h - Clusters in Coil's YAML ------------------*- C++ -*-===//
//
//   name: training
//   nodes:
//     - type: dgx-h100        # whatever names a machine; files lie beside this one
//       count: 16
//     - type: boxes/odd.xml
//   network:
//     port: 400Gb/s           # of every port, in place of what the machines say
//     oversubscription: 2     # of the switches above the rails
//
// Bandwidths have a unit, since bits and bytes are the field's oldest mistake.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_CLUSTERYAML_H
#define COIL_COMPILER_TOPOLOGY_CLUSTERYAML_H

#include "compiler/topology/Reader.h"

#include <functional>
#include <optional>
#include <string>

namespace coil::topology {

/// GB/s of "400Gb/s", "50 GB/s", "1.6Tb/s", "800Mb/s": a number above 0 and a unit, bits (b) or
/// bytes (B) with a prefix K, M, G or T of 1000. Nothing for anything else, numbers without a unit
/// included.
std::optional<double> bandwidthWithUnit(std::string_view text);

/// Reads a cluster. `open` gives the machine of a name, or nothing after it has reported why.
/// Errors say the line, what was expected and what was found.
std::optional<ReadResult>
readClusterYaml(const SourceFile &file, DiagnosticEngine &diagnostics,
                const std::function<std::optional<ReadResult>(const std::string &)> &open);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_CLUSTERYAML_H
