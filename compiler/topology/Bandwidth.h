//===- Bandwidth.h - What links carry, by generation ------------*- C++ -*-===//
//
// What programs get of links, in GB/s each way: about four fifths of the wire rate. The
// numbers are those of NCCL 2.27 to 2.30 (graph/topo.h), so that a topology read from its
// files says what it would compute with.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_BANDWIDTH_H
#define COIL_COMPILER_TOPOLOGY_BANDWIDTH_H

#include "compiler/topology/Graph.h"

#include <optional>
#include <string_view>

namespace coil::topology {

/// Inside a device, which nothing should be limited by.
inline constexpr double localBandwidth = 5000;
/// Of a port whose speed no source tells: 10 Gb/s.
inline constexpr double unknownPortBandwidth = 1.25;
/// Between a core and its CPU's memory, a core's share of it.
inline constexpr double coreBandwidth = 10;

/// One NVLink by the GPU's compute capability (90 is 9.0; 0 is unknown: 20 GB/s).
double nvlinkBandwidth(uint32_t computeCapability);
/// NVLinks that a GPU of this compute capability can have; 0 if unknown.
uint32_t mostNvlinks(uint32_t computeCapability);
/// One NVLink by the rate that `nvidia-smi nvlink -s` prints, GB/s of raw signalling.
double nvlinkBandwidthOfRate(double rawRate);
/// One xGMI link by the name of AMD's architecture, such as "gfx90a" or "910".
double xgmiBandwidth(std::string_view architecture);

/// A PCI link of `width` lanes of `speed` GT/s. An unknown speed counts as 8 GT/s, an unknown width
/// as 16 lanes, so this is never 0.
double pciBandwidth(double speed, uint32_t width);
/// GT/s of a lane from a text such as "16.0 GT/s PCIe" or "8 GT/s"; whatever follows is ignored. A
/// bare number, as hwloc writes it, is GB/s of all `width` lanes: "15.753846" with 16 is 8. Nothing
/// if the text says neither.
std::optional<double> pciSpeed(std::string_view text, uint32_t width);

/// Between two CPUs of one machine, by what the first of them is; 10 if that is unknown.
double socketBandwidth(const Vertex &cpu);

/// Of an InfiniBand port: "40 Gb/sec (4X QDR)" is 5. Nothing if the text begins with no rate.
std::optional<double> portRate(std::string_view text);

/// GB/s of a port: its own; if that is unknown, that of the NIC's PCI link; or
/// unknownPortBandwidth.
double portBandwidth(const Graph &graph, VertexId nic, uint32_t port);

/// Typical latency of one hop, µs.
double latencyOf(LinkKind kind);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_BANDWIDTH_H
