//===- DeviceOrder.h - Devices in a short round -----------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_MAPPING_DEVICEORDER_H
#define COIL_COMPILER_TOPOLOGY_MAPPING_DEVICEORDER_H

#include "compiler/topology/mapping/RingPacking.h"

namespace coil::topology {

/// The round through all of `count` devices, from device 0 on, of the least sum of costs; cost[a *
/// count + b] is that of the hop from a to b. Exact up to 14 devices (Held and Karp, "A Dynamic
/// Programming Approach to Sequencing Problems", 1962); for more, the nearest device next,
/// shortened by turning parts around.
RingOrder shortRound(uint32_t count, const std::vector<double> &cost);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_MAPPING_DEVICEORDER_H
