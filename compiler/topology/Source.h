//===- Source.h - A topology by any name ------------------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_SOURCE_H
#define COIL_COMPILER_TOPOLOGY_SOURCE_H

#include "compiler/topology/Reader.h"

#include <string>

namespace coil::topology {

/// What a text is, by its beginning.
enum class Format : uint8_t { NcclXml, HwlocXml, SmiMatrix, SmiNvlink, Yaml };

/// "NCCL XML", "hwloc XML", "nvidia-smi topo", "nvidia-smi nvlink", "YAML".
const char *nameOf(Format format);

/// Guesses; what is nothing else is YAML.
Format formatOf(std::string_view text);

/// Reads a topology from a file's text, whatever its format is.
std::optional<ReadResult> readTopology(const SourceFile &file, SourceManager &sources,
                                       DiagnosticEngine &diagnostics);

/// Reads what a user names: a file, "-" for standard input, or a preset such as "dgx-h100 x 16".
std::optional<ReadResult> openTopology(const std::string &name, SourceManager &sources,
                                       DiagnosticEngine &diagnostics);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_SOURCE_H
