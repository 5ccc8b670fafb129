//===- Sysfs.h - The machine that Linux describes ---------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_SYSFS_H
#define COIL_COMPILER_TOPOLOGY_SYSFS_H

#include "compiler/topology/Reader.h"

#include <string>

namespace coil::topology {

/// Reads a machine from Linux's /sys, or from a copy of it at `root`, beside which a copy of /proc
/// may lie: NUMA domains with processors; GPUs and network cards with the PCI switches and host
/// bridges above them, their NUMA nodes, and the speeds and widths of their links; ports of
/// InfiniBand, and network interfaces of cards without; cores, where there are no GPUs. NVLinks are
/// not in /sys. What is missing is unknown. Error: no such folder, or no processors in it.
std::optional<ReadResult> readSysfs(const std::string &root, DiagnosticEngine &diagnostics);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_SYSFS_H
