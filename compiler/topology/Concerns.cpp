//===- Concerns.cpp - What in a machine slows collectives -----------------===//

#include "compiler/topology/Concerns.h"

#include "compiler/topology/Distance.h"
#include "compiler/topology/Reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace coil::topology {

namespace {

class Inspector {
public:
  explicit Inspector(const Graph &graph) : graph(graph), gpus(graph.ofKind(VertexKind::Gpu)) {}

  std::vector<Concern> run() {
    inspectNvlinks();
    inspectNics();
    inspectPciLinks();
    inspectBridges();
    inspectAffinity();
    inspectBusIds();
    inspectPeerAccess();
    inspectNuma();
    return std::move(concerns);
  }

private:
  template <typename... Args>
  void add(const char *what, fmt::format_string<Args...> format, Args &&...args) {
    concerns.push_back({what, fmt::format(format, std::forward<Args>(args)...)});
  }
  const std::string &nameOf(VertexId vertex) const { return graph[vertex].name; }

  void inspectNvlinks() {
    std::vector<uint32_t> links;
    for (VertexId gpu : gpus) {
      uint32_t sum = 0;
      for (LinkId id : graph.linksAt(gpu))
        sum += isPeerLink(graph.link(id).kind) ? graph.link(id).count : 0;
      links.push_back(sum);
    }
    uint32_t most = links.empty() ? 0 : *std::max_element(links.begin(), links.end());
    for (size_t i = 0; i < gpus.size(); ++i)
      if (links[i] < most)
        add("nvlinks", "{} has {} of the {} NVLinks that others have", nameOf(gpus[i]), links[i],
            most);
  }

  void inspectNics() {
    if (gpus.size() < 2 || graph.ofKind(VertexKind::Nic).empty())
      return;
    std::vector<NearPort> nearest;
    PathClass best = PathClass::None;
    for (VertexId gpu : gpus) {
      nearest.push_back(portsByDistance(graph, gpu).front());
      best = std::min(best, nearest.back().path);
    }
    for (size_t i = 0; i < gpus.size(); ++i)
      if (nearest[i].path >= PathClass::Sys && best < PathClass::Sys)
        add("far-nic", "{} has no network card on its socket: the nearest, {}, is {} away",
            nameOf(gpus[i]), nameOf(nearest[i].nic), coil::topology::nameOf(nearest[i].path));
  }

  void inspectPciLinks() {
    std::map<std::string, uint32_t> widest;
    auto modelOf = [](const Vertex &vertex) {
      return fmt::format("{} {} {} {}", int(vertex.kind), vertex.pci.vendor, vertex.pci.device,
                         vertex.model);
    };
    auto isChecked = [](const Vertex &vertex) {
      return vertex.kind == VertexKind::Gpu || vertex.kind == VertexKind::Nic;
    };
    for (const Vertex &vertex : graph.vertices())
      if (isChecked(vertex))
        widest[modelOf(vertex)] = std::max(widest[modelOf(vertex)], vertex.pci.width);
    for (const Vertex &vertex : graph.vertices()) {
      if (!isChecked(vertex) || vertex.pci.width == 0)
        continue;
      uint32_t others = widest[modelOf(vertex)];
      if (vertex.pci.maxWidth > vertex.pci.width)
        add("narrow-pci", "{} has {} of {} PCI lanes", vertex.name, vertex.pci.width,
            vertex.pci.maxWidth);
      else if (others > vertex.pci.width)
        add("narrow-pci", "{} has {} PCI lanes where others of its kind have {}", vertex.name,
            vertex.pci.width, others);
    }
  }

  void inspectBridges() {
    for (VertexId bridge : graph.ofKind(VertexKind::PciSwitch)) {
      if (graph[bridge].pci.speed <= 0)
        continue;
      double slowest = 0;
      for (LinkId id : graph.linksAt(bridge)) {
        const Vertex &other = graph[graph.link(id).other(bridge)];
        bool isBelow = other.kind == VertexKind::Gpu || other.kind == VertexKind::Nic;
        if (isBelow && other.pci.speed > 0)
          slowest = slowest == 0 ? other.pci.speed : std::min(slowest, other.pci.speed);
      }
      if (slowest > graph[bridge].pci.speed)
        add("slow-bridge", "{} runs at {} GT/s and all below it at {} or more", nameOf(bridge),
            graph[bridge].pci.speed, slowest);
    }
  }

  void inspectAffinity() {
    std::vector<VertexId> cpus = graph.ofKind(VertexKind::Cpu);
    for (size_t i = 0; i < cpus.size(); ++i)
      for (size_t j = i + 1; j < cpus.size(); ++j)
        if (graph[cpus[i]].host == graph[cpus[j]].host &&
            listsOverlap(graph[cpus[i]].affinity, graph[cpus[j]].affinity))
          add("affinity", "{} and {} claim the same processors: {} and {}", nameOf(cpus[i]),
              nameOf(cpus[j]), graph[cpus[i]].affinity, graph[cpus[j]].affinity);
    for (VertexId gpu : gpus)
      for (VertexId cpu : cpus)
        if (graph[gpu].numaNode >= 0 && graph[gpu].numaNode == graph[cpu].numaNode &&
            !graph[gpu].affinity.empty() && !graph[cpu].affinity.empty() &&
            graph[gpu].host == graph[cpu].host &&
            !listsOverlap(graph[gpu].affinity, graph[cpu].affinity))
          add("affinity", "{} names processors {}, of which {} on its NUMA node has none",
              nameOf(gpu), graph[gpu].affinity, nameOf(cpu));
  }

  void inspectBusIds() {
    std::map<std::pair<std::string, std::string>, VertexId> seen;
    for (VertexId id = 0; id < graph.vertices().size(); ++id) {
      const Vertex &vertex = graph[id];
      if (vertex.pci.busId.empty() || vertex.kind == VertexKind::Cpu)
        continue;
      auto [place, isNew] = seen.try_emplace({vertex.host, vertex.pci.busId}, id);
      if (!isNew && vertex.kind == graph[place->second].kind)
        add("bus-id", "{} and {} have one bus id, {}", nameOf(place->second), vertex.name,
            vertex.pci.busId);
    }
  }

  void inspectPeerAccess() {
    for (const auto &[pair, why] : graph.deniedPeers())
      add("peer-access", "{} and {} cannot read each other's memory ({})", nameOf(pair.first),
          nameOf(pair.second), why);
  }

  void inspectNuma() {
    std::set<int32_t> nodes;
    for (VertexId cpu : graph.ofKind(VertexKind::Cpu))
      nodes.insert(graph[cpu].numaNode);
    for (VertexId cpu : graph.ofKind(VertexKind::Cpu))
      if (graph[cpu].numaNode < 0)
        add("numa", "the NUMA node of {} is unknown, so its devices may be far from each other",
            nameOf(cpu));
    for (const Vertex &vertex : graph.vertices())
      if ((vertex.kind == VertexKind::Gpu || vertex.kind == VertexKind::Nic) &&
          vertex.numaNode < 0 && nodes.size() > 1 && nodes.count(-1) == 0)
        add("numa", "the NUMA node of {} is unknown, and there are {}", vertex.name, nodes.size());
  }

  const Graph &graph;
  std::vector<VertexId> gpus;
  std::vector<Concern> concerns;
};

} // namespace

std::vector<Concern> concernsOf(const Graph &graph) { return Inspector(graph).run(); }

} // namespace coil::topology
