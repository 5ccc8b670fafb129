//===- Presets.h - Machines that people know by name ------------*- C++ -*-===//
//
// Machines as their vendors describe them, for planning without a file. A machine at
// hand may differ; what was read from it is to be preferred.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_PRESETS_H
#define COIL_COMPILER_TOPOLOGY_PRESETS_H

#include "compiler/topology/Reader.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coil::topology {

struct PresetFacts {
  std::string_view name;    ///< "dgx-h100"; "cpu-N" stands for any number of cores
  std::string_view summary; ///< "8 H100, NVSwitch, 8 NICs of 400 Gb/s"
};

/// All presets, in the order of the documentation.
std::vector<PresetFacts> allPresets();

/// Whether a text has the form of a preset, "NAME" or "NAME x COUNT", and the name of one.
bool isPreset(std::string_view text);

/// The topology of "NAME", or of "NAME x COUNT", which is `cluster` of so many. A preset of several
/// machines (gb200-nvl72 is 18 that share their NVLinks) is counted as a whole. Errors: a name that
/// there is not, a count that is not 1 to Limits::nodes, a cluster that is too large.
std::optional<ReadResult> presetTopology(std::string_view text, DiagnosticEngine &diagnostics);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_PRESETS_H
