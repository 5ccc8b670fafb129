//===- MappingText.h - How an algorithm lies on a machine -------*- C++ -*-===//

#ifndef COIL_TOOLS_COILC_MAPPINGTEXT_H
#define COIL_TOOLS_COILC_MAPPINGTEXT_H

#include "compiler/semantics/Instance.h"
#include "compiler/topology/Topology.h"

#include <optional>
#include <string>

namespace coil {

/// Places the ranks of an algorithm on a topology with as many devices, and describes the
/// placement: the device of each rank, what each kind of links and each rail carries, the busiest
/// link, and what that leaves of the bound. Nothing, with the reason, if the topology cannot carry
/// the algorithm.
std::optional<std::string> mappingText(const Instance &instance, const topology::Topology &topology,
                                       std::string &reason);

} // namespace coil

#endif // COIL_TOOLS_COILC_MAPPINGTEXT_H
