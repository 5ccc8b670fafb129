//===- PathClass.h - How far apart two devices are --------------*- C++ -*-===//
//
// The words of `nvidia-smi topo -m`. Numbers are never stored: tools disagree on them.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_PATHCLASS_H
#define COIL_COMPILER_TOPOLOGY_PATHCLASS_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace coil::topology {

/// From near to far. NVLink and its kin are apart from these: they are links.
enum class PathClass : uint8_t {
  Self, ///< "X": one device, or one card
  Pix,  ///< over one PCI switch at most
  Pxb,  ///< over several, and no host bridge
  Phb,  ///< over one host bridge
  Node, ///< over host bridges of one NUMA domain
  Sys,  ///< over the links between CPUs
  Net,  ///< over the network
  None, ///< no way
};

/// "X", "PIX", "PXB", "PHB", "NODE", "SYS", "NET", "-".
const char *nameOf(PathClass path);
/// The class of a name; "SOC", the word before 2017, is SYS.
std::optional<PathClass> pathClassNamed(std::string_view name);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_PATHCLASS_H
