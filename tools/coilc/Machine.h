//===- Machine.h - The topology that coilc compiles for ---------*- C++ -*-===//

#ifndef COIL_TOOLS_COILC_MACHINE_H
#define COIL_TOOLS_COILC_MACHINE_H

#include "compiler/topology/Topology.h"
#include "tools/coilc/Arguments.h"

#include <optional>

namespace coil {

/// Reads the topology that --topology names, and takes the number of ranks and of nodes from it.
/// Nothing if it cannot be read, has another number of devices than -n says, or nodes with
/// different numbers of devices; that is printed.
std::optional<topology::Topology> readMachine(CoilcArguments &arguments);

} // namespace coil

#endif // COIL_TOOLS_COILC_MACHINE_H
