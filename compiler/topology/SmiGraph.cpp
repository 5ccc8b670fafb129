//===- SmiGraph.cpp - The graph behind nvidia-smi's matrix ----------------===//

#include "compiler/topology/SmiReader.h"

#include "compiler/topology/Bandwidth.h"
#include "compiler/topology/Distance.h"

#include <algorithm>
#include <numeric>

namespace coil::topology {

namespace {

/// Sets of devices that are joined step by step.
class Groups {
public:
  explicit Groups(size_t count) : parents(count) {
    std::iota(parents.begin(), parents.end(), size_t(0));
  }
  size_t of(size_t device) {
    while (parents[device] != device)
      device = parents[device] = parents[parents[device]];
    return device;
  }
  void join(size_t a, size_t b) {
    auto [low, high] = std::minmax({of(a), of(b)});
    parents[high] = low;
  }
  bool areJoined(size_t a, size_t b) { return of(a) == of(b); }

private:
  std::vector<size_t> parents;
};

/// Links of a pair by its cell, "NV12"; 0 for others.
uint32_t linksOfCell(std::string_view cell) {
  if (!cell.starts_with("NV"))
    return 0;
  return uint32_t(wholeNumber(cell.substr(2), 0, Limits::linksOfPair).value_or(0));
}

/// No GPU has more NVLinks than this, so who seems to hangs at a switch.
constexpr uint32_t mostNvlinksOfAny = 18;

class MatrixGraph {
public:
  MatrixGraph(const SmiMatrix &matrix, Reporter &reporter)
      : matrix(matrix), reporter(reporter), count(matrix.names.size()), pix(count), pxb(count),
        phb(count), node(count), cpuOf(count, noVertex) {}

  Graph build(const std::map<std::string, std::string> &nicLegend);

private:
  /// A cell, from the other row where one is missing.
  std::string_view cell(size_t a, size_t b) const {
    return matrix.cells[a][b].empty() ? matrix.cells[b][a] : matrix.cells[a][b];
  }
  void readTails();
  void group();
  VertexId addSwitch(VertexId parent, VertexKind kind, const char *name);
  VertexId cpuOfGroup(size_t device);
  void addDevices(const std::map<std::string, std::string> &nicLegend);
  void addNvlinks();
  void state();

  const SmiMatrix &matrix;
  Reporter &reporter;
  size_t count;
  Graph graph;
  Names names;
  /// Devices that are as near as the class's name.
  Groups pix, pxb, phb, node;
  /// What the columns behind the cells say: processors, NUMA nodes, the GPU's own NUMA node.
  struct Tail {
    std::string processors, numa;
    std::optional<int32_t> memory;
  };
  std::map<size_t, Tail> tails;
  std::map<size_t, VertexId> vertexOf, cpuOfRoot, bridgeOfRoot, upperOfRoot, switchOfRoot;
  std::vector<VertexId> cpuOf;
  VertexId elsewhere = noVertex; ///< the CPU of NICs that are far from all GPUs
};

void MatrixGraph::readTails() {
  // "CPU Affinity", "NUMA Affinity" (or "NUMA"), "GPU NUMA ID" (or "GPU NUMA").
  enum Column { Processors, Numa, Memory };
  std::vector<Column> columns;
  for (size_t i = 0; i < matrix.trailer.size(); ++i) {
    std::string_view word = matrix.trailer[i];
    if (word == "CPU")
      columns.push_back(Processors);
    else if (word == "NUMA" && (i == 0 || matrix.trailer[i - 1] != "GPU"))
      columns.push_back(Numa);
    else if (word == "GPU")
      columns.push_back(Memory);
  }
  if (columns.empty())
    columns = {Processors, Numa, Memory};
  for (size_t device = 0; device < count; ++device) {
    if (!matrix.isGpu(device))
      continue;
    Tail &tail = tails[device];
    const std::vector<std::string> &words = matrix.tails[device];
    for (size_t i = 0; i < std::min(words.size(), columns.size()); ++i) {
      if (columns[i] == Memory) {
        if (auto number = wholeNumber(words[i], 0, INT32_MAX))
          tail.memory = int32_t(*number);
        continue;
      }
      if (words[i] == "N/A")
        continue;
      if (rangesOfList(words[i]))
        (columns[i] == Processors ? tail.processors : tail.numa) = words[i];
      else
        reporter.warning(matrix.ranges[device],
                         "expected a list such as 0-19,40-59 in the row of "
                         "{}, found '{}'",
                         matrix.names[device], words[i]);
    }
  }
}

void MatrixGraph::group() {
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < a; ++b) {
      std::optional<PathClass> path = pathClassNamed(cell(a, b));
      if (!path || *path > PathClass::Node)
        continue;
      node.join(a, b);
      if (*path <= PathClass::Phb)
        phb.join(a, b);
      if (*path <= PathClass::Pxb)
        pxb.join(a, b);
      if (*path <= PathClass::Pix)
        pix.join(a, b);
    }
  // GPUs of one NUMA node have one CPU, and those of which the columns say nothing too.
  std::map<std::pair<std::string, std::string>, size_t> firstOfNuma;
  for (const auto &[device, tail] : tails) {
    auto [first, isNew] = firstOfNuma.try_emplace({tail.numa, tail.processors}, device);
    bool isKnown = !tail.numa.empty() || !tail.processors.empty();
    bool isFar = false;
    for (const auto &[other, otherTail] : tails)
      isFar |= pathClassNamed(cell(device, other)) == PathClass::Sys;
    if (!isNew && (isKnown || !isFar))
      node.join(device, first->second);
  }
}

VertexId MatrixGraph::addSwitch(VertexId parent, VertexKind kind, const char *name) {
  Vertex vertex;
  vertex.kind = kind;
  vertex.name = names.unique(name);
  vertex.numaNode = graph[parent].numaNode;
  VertexId id = graph.add(std::move(vertex));
  graph.connect(id, parent, LinkKind::Pci, pciBandwidth(0, 0), 1, latencyOf(LinkKind::Pci));
  return id;
}

/// The CPU of a device's group, with what the GPUs of the group say of it.
VertexId MatrixGraph::cpuOfGroup(size_t device) {
  VertexId &known = cpuOfRoot.try_emplace(node.of(device), noVertex).first->second;
  if (known != noVertex)
    return known;
  Vertex cpu;
  cpu.kind = VertexKind::Cpu;
  cpu.index = int32_t(cpuOfRoot.size() - 1);
  bool hasGpu = false;
  std::set<std::string> numas;
  for (const auto &[other, tail] : tails) {
    if (!node.areJoined(other, device))
      continue;
    if (!hasGpu)
      cpu.affinity = tail.processors;
    hasGpu = true;
    numas.insert(tail.numa);
    if (cpu.numaNode < 0)
      cpu.numaNode = int32_t(wholeNumber(tail.numa, 0, INT32_MAX).value_or(-1));
    if (cpu.sourceLine == 0)
      cpu.sourceLine = reporter.lineOf(matrix.ranges[other]);
  }
  if (numas.size() > 1)
    reporter.warning(matrix.ranges[device],
                     "{} and its neighbours are near each other by the matrix, "
                     "but of several NUMA nodes by their column; the matrix holds",
                     matrix.names[device]);
  if (!hasGpu && elsewhere != noVertex)
    return known = elsewhere;
  cpu.name = names.unique(fmt::format("cpu{}", cpu.numaNode >= 0 ? cpu.numaNode : cpu.index));
  known = graph.add(std::move(cpu));
  if (!hasGpu)
    elsewhere = known;
  return known;
}

void MatrixGraph::addDevices(const std::map<std::string, std::string> &nicLegend) {
  std::map<size_t, size_t> pixGroups, pixSizes;
  for (size_t device = 0; device < count; ++device) {
    pixGroups[pxb.of(device)] += pix.of(device) == device;
    ++pixSizes[pix.of(device)];
  }
  int32_t nics = 0;
  for (size_t device = 0; device < count; ++device) {
    VertexId parent = cpuOfGroup(device);
    auto under = [&](std::map<size_t, VertexId> &of, size_t root, VertexKind kind,
                     const char *name) {
      auto [place, isNew] = of.try_emplace(root, noVertex);
      if (isNew)
        place->second = addSwitch(parent, kind, name);
      parent = place->second;
    };
    under(bridgeOfRoot, phb.of(device), VertexKind::HostBridge, "bridge");
    // Two switches and one above make a way over several.
    bool isNested = pixGroups[pxb.of(device)] > 1;
    if (isNested)
      under(upperOfRoot, pxb.of(device), VertexKind::PciSwitch, "switch");
    if (isNested || pixSizes[pix.of(device)] > 1)
      under(switchOfRoot, pix.of(device), VertexKind::PciSwitch, "switch");

    Vertex vertex;
    vertex.numaNode = graph[parent].numaNode;
    if (matrix.ranges[device].file)
      vertex.sourceLine = reporter.lineOf(matrix.ranges[device]);
    const std::string &name = matrix.names[device];
    if (matrix.isGpu(device)) {
      vertex.kind = VertexKind::Gpu;
      vertex.index = matrix.numberOf(device);
      vertex.name = names.unique(fmt::format("gpu{}", vertex.index));
      vertex.affinity = tails[device].processors;
      vertex.numaAffinity = tails[device].numa;
      vertex.memoryNuma = tails[device].memory;
    } else {
      vertex.kind = VertexKind::Nic;
      vertex.index = nics++;
      auto known = nicLegend.find(name);
      NicPort &port = vertex.ports.emplace_back();
      port.name = known == nicLegend.end() ? lowerCase(name) : known->second;
      port.index = vertex.index;
      vertex.name = names.unique(port.name);
    }
    VertexId id = graph.add(std::move(vertex));
    vertexOf[device] = id;
    graph.connect(id, parent, LinkKind::Pci, pciBandwidth(0, 0), 1, latencyOf(LinkKind::Pci));
  }
}

void MatrixGraph::addNvlinks() {
  Groups joined(count);
  std::vector<uint32_t> sums(count, 0), most(count, 0);
  uint32_t greatest = 0;
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      if (uint32_t links = a == b ? 0 : linksOfCell(cell(a, b))) {
        joined.join(a, b);
        sums[a] += links;
        most[a] = std::max(most[a], links);
        greatest = std::max(greatest, links);
      }
  double bandwidth = greatest > 12 ? nvlinkBandwidth(90) : nvlinkBandwidth(0);
  // Behind a switch, each pair shows all links that both have to it.
  std::set<size_t> switched;
  for (size_t device = 0; device < count; ++device)
    if (sums[device] > mostNvlinksOfAny)
      switched.insert(joined.of(device));
  std::map<size_t, VertexId> switchOf;
  for (size_t device = 0; device < count; ++device) {
    size_t root = joined.of(device);
    if (most[device] > 0 && switched.contains(root)) {
      auto [place, isNew] = switchOf.try_emplace(root, noVertex);
      if (isNew) {
        Vertex vertex;
        vertex.kind = VertexKind::NvSwitch;
        vertex.name = names.unique("nvswitch");
        place->second = graph.add(std::move(vertex));
      }
      graph.connect(vertexOf[device], place->second, LinkKind::NvLink, bandwidth, most[device],
                    latencyOf(LinkKind::NvLink));
      continue;
    }
    for (size_t other = 0; other < device; ++other)
      if (uint32_t links = linksOfCell(cell(device, other)))
        graph.connect(vertexOf[other], vertexOf[device], LinkKind::NvLink, bandwidth, links,
                      latencyOf(LinkKind::NvLink));
  }
}

void MatrixGraph::state() {
  for (size_t a = 0; a < count; ++a) {
    std::vector<PathClass> classes = pathClassesFrom(graph, vertexOf[a]);
    for (size_t b = 0; b < a; ++b)
      if (auto path = pathClassNamed(cell(a, b)); path && *path != classes[vertexOf[b]])
        graph.statePath(vertexOf[a], vertexOf[b], *path);
  }
}

Graph MatrixGraph::build(const std::map<std::string, std::string> &nicLegend) {
  readTails();
  group();
  addDevices(nicLegend);
  addNvlinks();
  connectSockets(graph);
  state();
  return std::move(graph);
}

} // namespace

Graph graphOfMatrix(const SmiMatrix &matrix, const std::map<std::string, std::string> &nicLegend,
                    Reporter &reporter) {
  return MatrixGraph(matrix, reporter).build(nicLegend);
}

} // namespace coil::topology
