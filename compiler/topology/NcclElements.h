//===- NcclElements.h - Words of NCCL's topology files ----------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_NCCLELEMENTS_H
#define COIL_COMPILER_TOPOLOGY_NCCLELEMENTS_H

#include "compiler/topology/Json.h"

#include <pugixml.hpp>
#include <string_view>

namespace coil::topology {

/// What a PCI class means, by the beginning of its code.
bool isGpuClass(std::string_view classCode);      ///< 0x03, and AMD's 0x12
bool isNicClass(std::string_view classCode);      ///< 0x02
bool isBridgeClass(std::string_view classCode);   ///< 0x0604
bool isNvSwitchClass(std::string_view classCode); ///< 0x0680, but for the next
bool isNpuClass(std::string_view classCode);      ///< 0x068001: POWER9's link to the CPU

/// <nvlink>, or RCCL's <xgmi>.
bool isGpuLinkElement(std::string_view name);

/// The facts of a topology: what its elements say, in the order of the text.
Json factsOfNcclTopology(pugi::xml_node root);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_NCCLELEMENTS_H
