//===- NcclXml.h - Topologies in NCCL's and RCCL's XML ----------*- C++ -*-===//
//
// What NCCL writes to NCCL_TOPO_DUMP_FILE and vendors ship for NCCL_TOPO_FILE. NCCL completes what
// a file leaves out from the machine that it runs on; here it stays unknown.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_NCCLXML_H
#define COIL_COMPILER_TOPOLOGY_NCCLXML_H

#include "compiler/topology/Reader.h"

namespace coil::topology {

/// Reads a topology whose root is <system>, or a fragment of one: <cpu> or <pci>. Each host of a
/// dump becomes a node. The dump of a graph search is refused.
///
/// - A `cpu` element is a NUMA domain; one of class GPU or with a `gpu` in it is a GPU; one of a
///   network class, or with a `nic` and no `pci` in it, is a NIC, with a port for each `net`;
///   any other `pci` element is a switch. PCI links have the speed that the lower end states.
/// - Elements that repeat a bus id in the same place are one, as in files fused from several ranks.
/// - NVLinks to a switch lead to one NVSwitch; the order of elements does not matter.
std::optional<ReadResult> readNcclXml(const SourceFile &file, DiagnosticEngine &diagnostics);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_NCCLXML_H
