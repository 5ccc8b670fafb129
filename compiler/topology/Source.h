//===- Source.h - A topology by any name ------------------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_SOURCE_H
#define COIL_COMPILER_TOPOLOGY_SOURCE_H

#include "compiler/topology/Reader.h"

#include <string>

namespace coil::topology {

/// Reads a topology from a file's text, whose beginning tells its format: NCCL's XML, what
/// nvidia-smi topo -m prints, or JSON as LinkListJson.h describes it.
std::optional<ReadResult> readTopology(const SourceFile &file, DiagnosticEngine &diagnostics);

/// What a user names: a file (Coil's YAML by its name's end, .yaml or .yml), a folder that is a
/// copy of Linux's /sys, "-" for standard input, "host" for this machine (Sysfs.h), or a preset
/// (Presets.h), such as "dgx-h100 x 16". A file of such a name comes first.
std::optional<ReadResult> openTopology(const std::string &name, SourceManager &sources,
                                       DiagnosticEngine &diagnostics);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_SOURCE_H
