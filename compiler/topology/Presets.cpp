//===- Presets.cpp - Machines that people know by name --------------------===//

#include "compiler/topology/Presets.h"

#include "compiler/frontend/Suggest.h"
#include "compiler/topology/Bandwidth.h"

#include <array>
#include <fmt/format.h>
#include <span>

namespace coil::topology {

namespace {

struct Mesh {
  uint8_t from, to, links;
};

/// The hybrid cube mesh: two fully joined fours and the way across.
constexpr std::array<Mesh, 16> meshOfV100{{{0, 3, 2},
                                           {0, 4, 2},
                                           {1, 2, 2},
                                           {1, 5, 2},
                                           {2, 3, 2},
                                           {4, 7, 2},
                                           {5, 6, 2},
                                           {6, 7, 2},
                                           {0, 1, 1},
                                           {0, 2, 1},
                                           {1, 3, 1},
                                           {2, 6, 1},
                                           {3, 7, 1},
                                           {4, 5, 1},
                                           {4, 6, 1},
                                           {5, 7, 1}}};
constexpr std::array<Mesh, 16> meshOfP100{{{0, 1, 1},
                                           {0, 2, 1},
                                           {0, 3, 1},
                                           {1, 2, 1},
                                           {1, 3, 1},
                                           {2, 3, 1},
                                           {4, 5, 1},
                                           {4, 6, 1},
                                           {4, 7, 1},
                                           {5, 6, 1},
                                           {5, 7, 1},
                                           {6, 7, 1},
                                           {0, 4, 1},
                                           {1, 5, 1},
                                           {2, 6, 1},
                                           {3, 7, 1}}};

/// What a CPU is, as far as it decides how fast the way to the next one is.
struct Processor {
  std::string_view arch, vendor;
  uint32_t family, model;
};
constexpr Processor broadwell{"x86_64", "GenuineIntel", 6, 0x4f},
    skylake{"x86_64", "GenuineIntel", 6, 0x55}, sapphireRapids{"x86_64", "GenuineIntel", 6, 0x8f},
    emeraldRapids{"x86_64", "GenuineIntel", 6, 0xcf}, rome{"x86_64", "AuthenticAMD", 23, 0x31},
    grace{"arm64", "ARM", 0, 0};

/// GPUs and NICs hang in equal shares at PCI switches, and these at CPUs.
struct Box {
  std::string_view name, summary, model;
  uint32_t capability;
  uint32_t gpus;
  double pciSpeed; ///< GT/s of a lane
  Processor processor;
  uint32_t cpus, pciSwitches; ///< no PCI switch: devices hang at their CPU
  uint32_t nics;              ///< the first of them at the first switches, if they are fewer
  double nicBandwidth;        ///< GB/s
  std::span<const Mesh> mesh;
  uint32_t switchLinks = 0; ///< NVLinks of each GPU to the NVSwitches
  double chipToChip = 0;    ///< GB/s between a GPU and its CPU
  uint32_t nodes = 1;       ///< that are one NVLink domain
};

constexpr double gigabits = 1.0 / 8;

const std::array<Box, 16> boxes{{
    {"dgx-1p", "8 P100 in a cube mesh of NVLinks, 4 NICs of 100 Gb/s", "Tesla P100-SXM2-16GB", 60,
     8, 8, broadwell, 2, 4, 4, 100 * gigabits, meshOfP100},
    {"dgx-1v", "8 V100 in a hybrid cube mesh of NVLinks, 4 NICs of 100 Gb/s",
     "Tesla V100-SXM2-32GB", 70, 8, 8, broadwell, 2, 4, 4, 100 * gigabits, meshOfV100},
    {"dgx-2",
     "16 V100 at NVSwitches, 8 NICs of 100 Gb/s",
     "Tesla V100-SXM3-32GB",
     70,
     16,
     8,
     skylake,
     2,
     8,
     8,
     100 * gigabits,
     {},
     6},
    {"dgx-a100",
     "8 A100 at NVSwitches, 8 NICs of 200 Gb/s",
     "NVIDIA A100-SXM4-80GB",
     80,
     8,
     16,
     rome,
     2,
     4,
     8,
     200 * gigabits,
     {},
     12},
    {"dgx-h100",
     "8 H100 at NVSwitches, 8 NICs of 400 Gb/s",
     "NVIDIA H100 80GB HBM3",
     90,
     8,
     32,
     sapphireRapids,
     2,
     8,
     8,
     400 * gigabits,
     {},
     18},
    {"hgx-b200",
     "8 B200 at NVSwitches, 8 NICs of 400 Gb/s",
     "NVIDIA B200",
     100,
     8,
     32,
     emeraldRapids,
     2,
     8,
     8,
     400 * gigabits,
     {},
     18},
    {"gb200-nvl72",
     "72 GB200 in 18 machines of one NVLink domain, each with 4 NICs of 400 Gb/s",
     "NVIDIA GB200",
     100,
     4,
     32,
     grace,
     2,
     0,
     4,
     400 * gigabits,
     {},
     18,
     450,
     18},
    {"p3dn", "AWS p3dn.24xlarge: 8 V100 in a hybrid cube mesh, 1 NIC of 100 Gb/s",
     "Tesla V100-SXM2-32GB", 70, 8, 8, skylake, 2, 4, 1, 100 * gigabits, meshOfV100},
    {"p4d",
     "AWS p4d.24xlarge: 8 A100 at NVSwitches, 4 NICs of 100 Gb/s",
     "NVIDIA A100-SXM4-40GB",
     80,
     8,
     16,
     skylake,
     2,
     4,
     4,
     100 * gigabits,
     {},
     12},
    {"p5",
     "AWS p5.48xlarge: 8 H100 at NVSwitches, 32 NICs of 100 Gb/s",
     "NVIDIA H100 80GB HBM3",
     90,
     8,
     32,
     rome,
     2,
     8,
     32,
     100 * gigabits,
     {},
     18},
    {"ndv2", "Azure ND40rs_v2: 8 V100 in a hybrid cube mesh, 1 NIC of 100 Gb/s",
     "Tesla V100-SXM2-32GB", 70, 8, 8, skylake, 2, 4, 1, 100 * gigabits, meshOfV100},
    {"ndv4",
     "Azure ND96asr_v4: 8 A100 at NVSwitches, 8 NICs of 200 Gb/s",
     "NVIDIA A100-SXM4-40GB",
     80,
     8,
     16,
     rome,
     2,
     4,
     8,
     200 * gigabits,
     {},
     12},
    {"ndv5",
     "Azure ND96isr_H100_v5: 8 H100 at NVSwitches, 8 NICs of 400 Gb/s",
     "NVIDIA H100 80GB HBM3",
     90,
     8,
     32,
     sapphireRapids,
     2,
     8,
     8,
     400 * gigabits,
     {},
     18},
    {"pcie-4",
     "4 GPUs at 2 PCI switches of one CPU, 1 NIC of 100 Gb/s",
     "",
     80,
     4,
     16,
     rome,
     1,
     2,
     1,
     100 * gigabits,
     {}},
    {"pcie-8",
     "8 GPUs at 4 PCI switches of two CPUs, 2 NICs of 100 Gb/s",
     "",
     80,
     8,
     16,
     rome,
     2,
     4,
     2,
     100 * gigabits,
     {}},
    {"l40s-8",
     "8 L40S at 4 PCI switches of two CPUs, 4 NICs of 200 Gb/s",
     "NVIDIA L40S",
     89,
     8,
     16,
     emeraldRapids,
     2,
     4,
     4,
     200 * gigabits,
     {}},
}};

constexpr std::string_view coresPrefix = "cpu-";
constexpr uint32_t mostCores = 1024;
constexpr double hostNicBandwidth = 100 * gigabits;

Vertex vertexOf(VertexKind kind, std::string name, int32_t index, int32_t numaNode = -1) {
  Vertex vertex;
  vertex.kind = kind;
  vertex.name = std::move(name);
  vertex.index = index;
  vertex.numaNode = numaNode;
  return vertex;
}

std::vector<VertexId> addCpus(Graph &graph, uint32_t count, const Processor &processor) {
  std::vector<VertexId> cpus;
  for (uint32_t i = 0; i < count; ++i) {
    Vertex cpu = vertexOf(VertexKind::Cpu, fmt::format("cpu{}", i), int32_t(i), int32_t(i));
    cpu.arch = processor.arch;
    cpu.vendor = processor.vendor;
    cpu.family = processor.family;
    cpu.modelNumber = processor.model;
    cpus.push_back(graph.add(std::move(cpu)));
  }
  connectSockets(graph);
  return cpus;
}

void addNic(Graph &graph, uint32_t number, int32_t numaNode, VertexId parent, double bandwidth,
            double pciLink) {
  Vertex nic = vertexOf(VertexKind::Nic, fmt::format("nic{}", number), int32_t(number), numaNode);
  NicPort &port = nic.ports.emplace_back();
  port.name = nic.name;
  port.index = int32_t(number);
  port.bandwidth = bandwidth;
  graph.connect(parent, graph.add(std::move(nic)), LinkKind::Pci, pciLink, 1,
                latencyOf(LinkKind::Pci));
}

Machine machineOf(const Box &box) {
  Machine machine;
  machine.name = box.name;
  Graph &graph = machine.graph;
  std::vector<VertexId> cpus = addCpus(graph, box.cpus, box.processor);
  double pciLink = pciBandwidth(box.pciSpeed, 16), pciLatency = latencyOf(LinkKind::Pci);

  // What GPUs and NICs hang at, and the CPU of each.
  std::vector<VertexId> parents;
  for (uint32_t i = 0; i < box.pciSwitches; ++i) {
    uint32_t cpu = i * box.cpus / box.pciSwitches;
    VertexId parent = graph.add(
        vertexOf(VertexKind::PciSwitch, fmt::format("pci-switch{}", i), int32_t(i), int32_t(cpu)));
    graph.connect(cpus[cpu], parent, LinkKind::Pci, pciLink, 1, pciLatency);
    parents.push_back(parent);
  }
  if (parents.empty())
    parents = cpus;
  uint32_t places = uint32_t(parents.size());
  std::vector<VertexId> gpus;
  for (uint32_t i = 0; i < box.gpus; ++i) {
    VertexId parent = parents[i * places / box.gpus];
    int32_t numaNode = graph[parent].numaNode;
    Vertex gpu = vertexOf(VertexKind::Gpu, fmt::format("gpu{}", i), int32_t(i), numaNode);
    gpu.model = box.model;
    gpu.computeCapability = box.capability;
    VertexId id = graph.add(std::move(gpu));
    gpus.push_back(id);
    if (box.chipToChip > 0)
      graph.connect(parent, id, LinkKind::C2C, box.chipToChip, 1, latencyOf(LinkKind::C2C));
    else
      graph.connect(parent, id, LinkKind::Pci, pciLink, 1, pciLatency);
  }
  for (uint32_t i = 0; i < box.nics; ++i) {
    VertexId parent = parents[uint64_t(i) * places / box.nics];
    addNic(graph, i, graph[parent].numaNode, parent, box.nicBandwidth, pciLink);
  }

  double link = nvlinkBandwidth(box.capability), latency = latencyOf(LinkKind::NvLink);
  for (const Mesh &pair : box.mesh)
    graph.connect(gpus[pair.from], gpus[pair.to], LinkKind::NvLink, link, pair.links, latency);
  if (box.switchLinks > 0) {
    VertexId middle = graph.add(vertexOf(VertexKind::NvSwitch, "nvswitch", 0));
    for (VertexId gpu : gpus)
      graph.connect(gpu, middle, LinkKind::NvLink, link, box.switchLinks, latency);
  }
  return machine;
}

/// A host whose ranks run on cores of one CPU.
Machine hostOf(uint32_t cores) {
  Machine machine;
  machine.name = fmt::format("{}{}", coresPrefix, cores);
  VertexId cpu = addCpus(machine.graph, 1, skylake).front();
  for (uint32_t i = 0; i < cores; ++i)
    machine.graph.connect(
        cpu, machine.graph.add(vertexOf(VertexKind::Core, fmt::format("core{}", i), int32_t(i), 0)),
        LinkKind::Memory, coreBandwidth, 1, latencyOf(LinkKind::Memory));
  addNic(machine.graph, 0, 0, cpu, hostNicBandwidth, pciBandwidth(8, 16));
  return machine;
}

struct Words {
  std::string_view name, count; ///< no count if it is empty
};

/// The parts of "NAME" and "NAME x COUNT"; the blanks may be left out behind a digit.
Words wordsOf(std::string_view text) {
  text = trimmed(text);
  size_t cross = text.rfind('x');
  if (cross == std::string_view::npos || cross == 0)
    return {text, {}};
  std::string_view name = text.substr(0, cross), count = trimmed(text.substr(cross + 1));
  bool isCount = !count.empty() && count.find_first_not_of("-0123456789") == count.npos;
  if (!isCount || (name.back() != ' ' && !(name.back() >= '0' && name.back() <= '9')))
    return {text, {}};
  return {trimmed(name), count};
}

const Box *findBox(std::string_view name) {
  for (const Box &box : boxes)
    if (box.name == name)
      return &box;
  return nullptr;
}

/// Cores of "cpu-N"; nothing if the name is none, 0 if the number is out of range.
std::optional<uint32_t> coresOf(std::string_view name) {
  if (!name.starts_with(coresPrefix))
    return std::nullopt;
  std::string_view number = name.substr(coresPrefix.size());
  if (number.empty() || number.find_first_not_of("0123456789") != number.npos)
    return std::nullopt;
  return uint32_t(wholeNumber(number, 1, mostCores).value_or(0));
}

Json factsOf(std::string_view name, const Topology &topology) {
  const Graph &graph = topology.graphOf(0);
  Json facts = Json::object();
  facts.set("kind", "preset");
  facts.set("name", name);
  facts.set("nodes", topology.nodes.size());
  for (auto [member, kind] :
       {std::pair("gpus", VertexKind::Gpu), std::pair("cores", VertexKind::Core),
        std::pair("cpus", VertexKind::Cpu), std::pair("nics", VertexKind::Nic)})
    facts.set(member, graph.ofKind(kind).size());
  return facts;
}

} // namespace

std::vector<PresetFacts> allPresets() {
  std::vector<PresetFacts> all;
  for (const Box &box : boxes)
    all.push_back({box.name, box.summary});
  all.push_back({"cpu-N", "N cores of one CPU, 1 NIC of 100 Gb/s"});
  return all;
}

bool isPreset(std::string_view text) {
  std::string_view name = wordsOf(text).name;
  return findBox(name) || coresOf(name);
}

std::optional<ReadResult> presetTopology(std::string_view text, DiagnosticEngine &diagnostics) {
  auto [name, countText] = wordsOf(text);
  const Box *box = findBox(name);
  std::optional<uint32_t> cores = coresOf(name);
  if (!box && !cores) {
    Suggestion nearest(name);
    std::string names;
    for (const PresetFacts &preset : allPresets()) {
      nearest.consider(preset.name);
      names += fmt::format("{}{}", names.empty() ? "" : ", ", preset.name);
    }
    diagnostics.error({}, "there is no preset '{}'{}; there are {}", shown(name), nearest.text(),
                      names);
    return std::nullopt;
  }
  if (cores && *cores == 0) {
    diagnostics.error({}, "expected 1 to {} cores in a preset, found '{}'", mostCores, shown(name));
    return std::nullopt;
  }
  Machine machine = box ? machineOf(*box) : hostOf(*cores);
  uint64_t most = Limits::verticesOfTopology / machine.graph.vertices().size();
  uint32_t ofOne = box ? box->nodes : 1;
  most = std::min<uint64_t>(most, Limits::nodes) / ofOne;
  std::optional<int64_t> count = countText.empty() ? 1 : wholeNumber(countText, 1, int64_t(most));
  if (!count) {
    diagnostics.error({}, "expected 1 to {} of {}, found '{}'", most, name, shown(countText));
    return std::nullopt;
  }
  ReadResult result;
  result.topology = cluster(std::move(machine), uint32_t(*count) * ofOne);
  result.topology.name = *count == 1 ? std::string(name) : fmt::format("{} x {}", name, *count);
  if (ofOne > 1) {
    for (uint32_t node = 0; node < result.topology.nodes.size(); ++node)
      result.topology.nodes[node].nvlinkDomain = fmt::format("domain{}", node / ofOne);
    joinNvlinkDomains(result.topology);
  }
  result.facts = factsOf(name, result.topology);
  return result;
}

} // namespace coil::topology
