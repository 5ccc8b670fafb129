//===- Bandwidth.cpp - What links carry, by generation --------------------===//

#include "compiler/topology/Bandwidth.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace coil::topology {

double nvlinkBandwidth(uint32_t computeCapability) {
  if (computeCapability >= 100)
    return 40.1;
  if (computeCapability >= 90)
    return 20.6;
  if (computeCapability == 86)
    return 12;
  if (computeCapability >= 60 && computeCapability < 70)
    return 18;
  return 20;
}

uint32_t mostNvlinks(uint32_t computeCapability) {
  if (computeCapability == 0)
    return 0;
  if (computeCapability >= 90)
    return 18;
  if (computeCapability >= 80)
    return 12;
  return computeCapability >= 70 ? 6 : 4;
}

double nvlinkBandwidthOfRate(double rawRate) {
  if (rawRate < 22)
    return nvlinkBandwidth(60);
  if (rawRate < 26)
    return nvlinkBandwidth(80);
  return rawRate < 40 ? nvlinkBandwidth(90) : nvlinkBandwidth(100);
}

double xgmiBandwidth(std::string_view architecture) {
  if (architecture.starts_with("gfx"))
    architecture.remove_prefix(3);
  if (architecture.starts_with("94") || architecture.starts_with("95"))
    return 48;
  // RCCL's older files write 910 for what is now called gfx90a.
  return architecture.starts_with("90a") || architecture == "910" ? 36 : 24;
}

namespace {

/// A generation of PCI: its lane's rate, what programs get of a lane, and what is on the wire after
/// its coding, both in GB/s.
struct Generation {
  double speed, usable, wire;
};
constexpr std::array<Generation, 6> generations = {{{2.5, 0.1875, 0.25},
                                                    {5, 0.375, 0.5},
                                                    {8, 0.75, 0.9846},
                                                    {16, 1.5, 1.9692},
                                                    {32, 3, 3.9385},
                                                    {64, 6, 7.5625}}};

/// The number that a text begins with, and what follows it.
std::optional<std::pair<double, std::string_view>> leadingNumber(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  double number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0)
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  return std::pair(number, text);
}

} // namespace

double pciBandwidth(double speed, uint32_t width) {
  if (width == 0)
    width = 16;
  // A rate between two generations' is the lower one's; none is the third's.
  const Generation *found = &generations[2];
  if (speed > 0) {
    found = &generations[0];
    for (const Generation &generation : generations)
      if (speed >= generation.speed * 0.99)
        found = &generation;
  }
  return std::min(width, 64u) * found->usable;
}

std::optional<double> pciSpeed(std::string_view text, uint32_t width) {
  auto number = leadingNumber(text);
  if (!number || number->first == 0)
    return std::nullopt;
  auto [value, unit] = *number;
  if (!unit.empty())
    return unit.starts_with("GT/s") ? std::optional(value) : std::nullopt;
  for (const Generation &generation : generations)
    if (std::abs(value / std::max(width, 1u) / generation.wire - 1) < 0.05)
      return generation.speed;
  return std::nullopt;
}

double socketBandwidth(const Vertex &cpu) {
  if (cpu.arch == "ppc64")
    return 32;
  if (cpu.arch == "arm64")
    return 6;
  if (cpu.vendor == "AuthenticAMD")
    return 16;
  if (cpu.vendor == "CentaurHauls" || cpu.vendor == "  Shanghai  ")
    return cpu.modelNumber >= 0x5b ? 9 : 6;
  if (cpu.vendor == "GenuineIntel" && cpu.family == 6) {
    if (cpu.modelNumber >= 0xcf)
      return 40;
    if (cpu.modelNumber >= 0x8f)
      return 22;
    return cpu.modelNumber >= 0x55 ? 10 : 6;
  }
  // Nothing known: what most servers of the last years can do.
  return 10;
}

std::optional<double> portRate(std::string_view text) {
  auto number = leadingNumber(text);
  if (!number || !number->second.starts_with("Gb/sec"))
    return std::nullopt;
  return number->first / 8;
}

double portBandwidth(const Graph &graph, VertexId nic, uint32_t port) {
  const Vertex &vertex = graph[nic];
  if (port < vertex.ports.size() && vertex.ports[port].bandwidth > 0)
    return vertex.ports[port].bandwidth;
  for (LinkId id : graph.linksAt(nic))
    if (graph.link(id).kind == LinkKind::Pci && !vertex.pci.busId.empty())
      return graph.link(id).outOf(nic);
  return unknownPortBandwidth;
}

double latencyOf(LinkKind kind) {
  switch (kind) {
  case LinkKind::NvLink:
  case LinkKind::Xgmi:
  case LinkKind::C2C:
    return 0.6;
  case LinkKind::Pci:
    return 0.5;
  case LinkKind::Socket:
    return 0.2;
  case LinkKind::Memory:
    return 0.1;
  case LinkKind::Network:
    return 1.5;
  }
  return 0;
}

} // namespace coil::topology
