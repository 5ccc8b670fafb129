//===- Graph.h - Devices, switches and the links between --------*- C++ -*-===//
//
// The graph of one machine, or of a whole cluster laid flat. Bandwidth is GB/s, 10^9
// bytes a second, in each direction; latency is microseconds. Bandwidths of links inside
// a machine are what programs get, about four fifths of the wire rate, by the constants
// in Bandwidth.h; a network port's is its nominal rate.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_GRAPH_H
#define COIL_COMPILER_TOPOLOGY_GRAPH_H

#include "compiler/topology/PathClass.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coil::topology {

using VertexId = uint32_t;
using LinkId = uint32_t;
inline constexpr VertexId noVertex = ~VertexId(0);

/// What readers refuse to exceed, so that no input takes unbounded time or memory.
struct Limits {
  static constexpr size_t verticesOfMachine = 16384;
  static constexpr size_t linksOfMachine = 262144;
  static constexpr size_t portsOfNic = 64;
  static constexpr size_t nodes = 16384;
  static constexpr size_t verticesOfTopology = size_t(1) << 19; ///< those of all nodes
  static constexpr uint32_t linksOfPair = 1024;
  static constexpr double bandwidth = 1e6; ///< GB/s of one link
  static constexpr size_t nameBytes = 255;
};

enum class VertexKind : uint8_t {
  Gpu,
  Core,          ///< of a CPU: the device of machines without GPUs
  Cpu,           ///< a NUMA domain with processors; a package, where it has but one
  Nic,           ///< a network card, or one function of it, with its ports
  PciSwitch,     ///< or bridge
  HostBridge,    ///< where a PCI hierarchy meets its CPU; absent if the source does not tell
  NvSwitch,      ///< the NVLink switches that join a set of GPUs, as one vertex
  NetworkSwitch, ///< between nodes
};

enum class LinkKind : uint8_t {
  NvLink,  ///< between GPUs, to an NVSwitch, or (POWER9) to a CPU
  Xgmi,    ///< the same between AMD's GPUs
  C2C,     ///< chip to chip, GPU to CPU
  Pci,     ///< and from a host bridge to its CPU
  Socket,  ///< between CPUs
  Memory,  ///< a core and its CPU
  Network, ///< between a NIC and a switch, or switches
};

/// "gpu", "core", "cpu", "nic", "pci-switch", "host-bridge", "nvswitch", "network-switch".
const char *nameOf(VertexKind kind);
/// "nvlink", "xgmi", "c2c", "pci", "socket", "memory", "network".
const char *nameOf(LinkKind kind);
std::optional<VertexKind> vertexKindNamed(std::string_view name);
std::optional<LinkKind> linkKindNamed(std::string_view name);
/// Whether a link joins GPUs, or a GPU and a switch of such links: NVLink and xGMI.
constexpr bool isPeerLink(LinkKind kind) {
  return kind == LinkKind::NvLink || kind == LinkKind::Xgmi;
}

/// What PCI configuration space and sysfs tell. Empty or 0 is unknown.
struct PciFacts {
  std::string busId;     ///< lower case, "0000:0f:00.0"; domains have 4 to 8 digits
  std::string classCode; ///< "0x030200"
  std::string vendor, device, subsystemVendor, subsystemDevice; ///< "0x10de"
  double speed = 0;    ///< of a lane, GT/s, as the source says
  uint32_t width = 0;  ///< lanes
  double maxSpeed = 0; ///< where the source tells it apart from the current one
  uint32_t maxWidth = 0;
};

/// A port of a NIC, which is what a rail ends at.
struct NicPort {
  std::string name;       ///< "mlx5_0"; unique in a machine
  int32_t index = -1;     ///< the source's number of it
  int32_t number = 1;     ///< on the card
  double bandwidth = 0;   ///< GB/s each way; 0 is unknown
  double latency = 0;     ///< µs; 0 is unknown
  int32_t rail = -1;      ///< by its source or by assignRails; -1 if none
  std::string guid;       ///< equal for ports of one card; empty if unknown
  bool isVirtual = false; ///< a bridge or tunnel made by software
  std::optional<bool> gpuDirect;
  bool offloads = false; ///< the network can reduce ("coll")
};

struct Vertex {
  VertexKind kind = VertexKind::Gpu;
  std::string name;      ///< unique in its graph
  int32_t index = -1;    ///< of GPUs: their number ("dev"); of CPUs, cores, NICs: their order
  int32_t numaNode = -1; ///< -1 is unknown
  PciFacts pci;
  std::string model;    ///< "NVIDIA H100 80GB HBM3"; empty if unknown
  std::string vendor;   ///< of a CPU: "GenuineIntel"
  std::string affinity; ///< processors near it, "0-19,40-59"; empty if unknown

  // GPUs.
  uint32_t computeCapability = 0; ///< 90 for 9.0; 0 is unknown
  std::optional<int32_t> rank;    ///< where the source was recorded from a running job
  std::optional<bool> gpuDirect;
  std::optional<int32_t> memoryNuma; ///< NUMA node that is the GPU's own memory
  std::string numaAffinity;          ///< NUMA nodes near it as a source lists them, "0,3-9"
  std::string architecture;          ///< AMD's, "gfx908"

  // CPUs.
  std::string arch; ///< "x86_64"
  uint32_t family = 0, modelNumber = 0;
  std::string host; ///< what tells the hosts of one dump apart

  // NICs.
  std::vector<NicPort> ports;
  /// Equal for NICs that are functions of one card and share its bandwidth; may be empty.
  std::string card;

  uint32_t node = 0;       ///< of a flat graph: which machine it is of
  uint32_t sourceLine = 0; ///< where the file that it was read from speaks of it; 0 is unknown
};

/// Parallel links between two vertices, in both directions.
struct Link {
  VertexId from = 0, to = 0;
  LinkKind kind = LinkKind::Pci;
  uint32_t count = 1; ///< links of this kind between the two
  /// GB/s of all of them together, from `from` to `to` and back; they differ only where the
  /// source says so.
  double forward = 0, backward = 0;
  double latency = 0; ///< µs

  VertexId other(VertexId end) const { return end == from ? to : from; }
  /// GB/s out of `end`, which is one of the two.
  double outOf(VertexId end) const { return end == from ? forward : backward; }
  /// GB/s of one of the links in the better direction.
  double perLink() const { return (forward > backward ? forward : backward) / count; }
};

class Graph {
public:
  /// The id is the number of vertices before.
  VertexId add(Vertex vertex);
  /// Adds links between different vertices; of the same kind between the same two, they are
  /// added to those there.
  LinkId connect(Link link);
  /// The usual case: as fast in both directions. `bandwidth` is GB/s of one link.
  LinkId connect(VertexId a, VertexId b, LinkKind kind, double bandwidth, uint32_t count = 1,
                 double latency = 0);
  /// Takes the links of a kind between two vertices away.
  void disconnect(VertexId a, VertexId b, LinkKind kind);

  std::span<const Vertex> vertices() const { return allVertices; }
  std::span<const Link> links() const { return allLinks; }
  const Vertex &operator[](VertexId id) const { return allVertices[id]; }
  Vertex &operator[](VertexId id) { return allVertices[id]; }
  Link &link(LinkId id) { return allLinks[id]; }
  const Link &link(LinkId id) const { return allLinks[id]; }
  /// The links that end at a vertex, in the order in which they were added.
  std::span<const LinkId> linksAt(VertexId id) const { return incident[id]; }
  /// The links of a kind between two vertices; null if there are none.
  const Link *linkBetween(VertexId a, VertexId b, LinkKind kind) const;
  const Link *linkBetween(VertexId a, VertexId b) const; ///< the fastest of any kind

  /// All of a kind: GPUs in the order of their numbers, others as they were added.
  std::vector<VertexId> ofKind(VertexKind kind) const;
  /// What ranks run on: GPUs; where there are none, cores; where there are none, CPUs.
  std::vector<VertexId> devices() const;
  VertexId find(std::string_view name) const; ///< noVertex if there is none

  /// Says what the source stated of two vertices where the links alone do not tell it.
  void statePath(VertexId a, VertexId b, PathClass path);
  std::optional<PathClass> statedPath(VertexId a, VertexId b) const;
  const std::map<std::pair<VertexId, VertexId>, PathClass> &statedPaths() const { return stated; }

  /// Two devices that cannot read and write each other's memory, whatever the links are;
  /// `why` is the source's word: "CNS", "disabled".
  void denyPeerAccess(VertexId a, VertexId b, std::string why);
  /// Null if nothing denies it.
  const std::string *peerAccessDenied(VertexId a, VertexId b) const;
  const std::map<std::pair<VertexId, VertexId>, std::string> &deniedPeers() const { return denied; }

private:
  std::vector<Vertex> allVertices;
  std::vector<Link> allLinks;
  std::vector<std::vector<LinkId>> incident;
  std::unordered_map<uint64_t, LinkId> linkOfPair;
  std::map<std::pair<VertexId, VertexId>, PathClass> stated;
  std::map<std::pair<VertexId, VertexId>, std::string> denied;
};

/// GB/s out of a device over NVLink or xGMI, to peers and switches.
double peerBandwidth(const Graph &graph, VertexId device);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_GRAPH_H
