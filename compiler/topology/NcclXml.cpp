//===- NcclXml.cpp - Topologies in NCCL's and RCCL's XML ------------------===//

#include "compiler/topology/NcclXml.h"

#include "compiler/topology/Bandwidth.h"
#include "compiler/topology/NcclElements.h"
#include "compiler/topology/XmlSource.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace coil::topology {

namespace {

/// A link that a GPU's element lists, to be made when all targets are known.
struct ListedLink {
  VertexId gpu = 0;
  std::string target, targetClass;
  uint32_t count = 0;
  LinkKind kind = LinkKind::NvLink;
  SourceRange range;
};

/// One machine of the file.
struct Host {
  std::string hash;
  Graph graph;
  Names names;
  std::map<std::string, VertexId> cpuOfNuma;
  /// Of the bus ids in a place: the place is part of the key.
  std::map<std::pair<VertexId, std::string>, VertexId> pciOfPlace;
  std::map<std::string, VertexId> pciOfBusId;
  std::set<std::string> nvSwitches; ///< bus ids
  /// Ports by name, number and guid.
  std::set<std::tuple<std::string, std::string, std::string>> ports;
  std::vector<ListedLink> listed;
  std::set<VertexId> linkedGpus;                             ///< whose links are listed
  std::vector<std::pair<VertexId, std::string>> switchLinks; ///< <pcilink>
  std::map<VertexId, SourceRange> ranges;
};

class NcclReader {
public:
  NcclReader(Reporter &reporter, const XmlSource &xml) : reporter(reporter), xml(xml) {}

  bool read(pugi::xml_node root);
  Topology finish();

private:
  std::string_view text(pugi::xml_node element, const char *name) const {
    return element.attribute(name).value();
  }
  /// A number that an attribute states; nothing if it is absent, or wrong, which is a warning.
  std::optional<int64_t> number(pugi::xml_node element, const char *name, int64_t least,
                                int64_t most);
  std::optional<double> real(pugi::xml_node element, const char *name, double most);
  VertexId add(Vertex vertex, pugi::xml_node element);
  void warnUnknown(pugi::xml_node element);

  void readCpu(pugi::xml_node element);
  void readPciChildren(pugi::xml_node element, VertexId parent, int level);
  void readPci(pugi::xml_node element, VertexId parent, int level);
  VertexId addPci(pugi::xml_node element, VertexId parent, VertexKind kind, std::string busId);
  PciFacts pciFacts(pugi::xml_node element, std::string busId);
  void readGpu(pugi::xml_node element, VertexId gpu, bool isRepeated);
  void readNic(pugi::xml_node element, VertexId parent);
  void readNet(pugi::xml_node element, VertexId nic, bool isVirtual);
  void readLink(pugi::xml_node element, VertexId gpu);
  void readC2C(pugi::xml_node element, VertexId gpu);

  void numberGpus();
  void connectListed();
  void connectPeers(const std::map<std::pair<VertexId, VertexId>, ListedLink> &toPeers);
  void connectSwitch(const std::map<VertexId, ListedLink> &toSwitch);

  Reporter &reporter;
  const XmlSource &xml;
  std::vector<std::unique_ptr<Host>> hosts;
  Host *host = nullptr; ///< that is being read
  VertexId cpu = noVertex;
  std::set<std::string> unknownTags;
};

std::optional<int64_t> NcclReader::number(pugi::xml_node element, const char *name, int64_t least,
                                          int64_t most) {
  std::string_view value = text(element, name);
  if (value.empty())
    return std::nullopt;
  std::optional<int64_t> parsed = wholeNumber(value, least, most);
  if (!parsed)
    reporter.warning(xml.rangeOf(element, name), "expected {} from {} to {}, found '{}'", name,
                     least, most, shown(value));
  return parsed;
}

std::optional<double> NcclReader::real(pugi::xml_node element, const char *name, double most) {
  std::string_view value = text(element, name);
  if (value.empty())
    return std::nullopt;
  std::optional<double> parsed = realNumber(value);
  if (!parsed || *parsed > most) {
    reporter.warning(xml.rangeOf(element, name), "expected {} up to {}, found '{}'", name, most,
                     shown(value));
    return std::nullopt;
  }
  return parsed;
}

VertexId NcclReader::add(Vertex vertex, pugi::xml_node element) {
  SourceRange range = xml.rangeOf(element);
  vertex.name = host->names.unique(vertex.name);
  vertex.sourceLine = reporter.lineOf(range);
  if (host->graph.vertices().size() >= Limits::verticesOfMachine) {
    if (!reporter.hasFailed())
      reporter.error(range, "expected at most {} devices in a machine, found more",
                     Limits::verticesOfMachine);
    return 0;
  }
  VertexId id = host->graph.add(std::move(vertex));
  host->ranges[id] = range;
  return id;
}

void NcclReader::warnUnknown(pugi::xml_node element) {
  if (element.type() != pugi::node_element || unknownTags.size() >= 100)
    return;
  if (unknownTags.insert(element.name()).second)
    reporter.warning(xml.rangeOf(element), "expected no element <{}> in <{}>; it is left out",
                     shown(element.name()), shown(element.parent().name()));
}

bool NcclReader::read(pugi::xml_node root) {
  std::string_view name = root.name();
  if (name == "graphs") {
    reporter.error(xml.rangeOf(root),
                   "expected a topology, found the result of a graph search (NCCL_GRAPH_FILE, "
                   "NCCL_GRAPH_DUMP_FILE); set NCCL_TOPO_DUMP_FILE to have NCCL write a topology");
    return false;
  }
  if (name != "system" && name != "cpu" && name != "pci") {
    reporter.error(xml.rangeOf(root), "expected <system>, found <{}>", shown(name));
    return false;
  }
  if (name != "system") {
    reporter.warning(xml.rangeOf(root), "expected <system>, found <{}>; it is read as a fragment",
                     name);
    for (pugi::xml_node element = root; element; element = element.next_sibling())
      if (std::string_view(element.name()) == "cpu")
        readCpu(element);
    if (name == "pci")
      readCpu(root.parent());
    return !reporter.hasFailed();
  }
  std::string_view version = text(root, "version");
  if (version != "1" && version != "2") {
    reporter.error(xml.rangeOf(root, "version"), "expected version 1 (NCCL) or 2 (RCCL), found {}",
                   root.attribute("version") ? fmt::format("'{}'", shown(version)) : "none");
    return false;
  }
  for (pugi::xml_node child : root.children()) {
    if (std::string_view(child.name()) == "cpu")
      readCpu(child);
    else
      warnUnknown(child);
  }
  if (hosts.empty() && !reporter.hasFailed())
    reporter.error(xml.rangeOf(root), "expected a <cpu> in <system>, found none");
  return !reporter.hasFailed();
}

void NcclReader::readCpu(pugi::xml_node element) {
  std::string hash(shown(text(element, "host_hash")));
  host = nullptr;
  for (const auto &known : hosts)
    if (known->hash == hash || hash.empty())
      host = known.get();
  if (!host) {
    if (hosts.size() >= Limits::nodes) {
      reporter.error(xml.rangeOf(element), "expected at most {} hosts", Limits::nodes);
      return;
    }
    hosts.push_back(std::make_unique<Host>());
    host = hosts.back().get();
    host->hash = hash;
  }

  std::string numaId(text(element, "numaid"));
  std::optional<int64_t> numa = number(element, "numaid", -1, INT32_MAX);
  if (!numa && std::string_view(element.name()) == "cpu" && !element.attribute("numaid"))
    reporter.warning(xml.rangeOf(element), "expected a numaid in <cpu>, found none");
  auto [place, isNew] = host->cpuOfNuma.try_emplace(numaId, noVertex);
  if (isNew) {
    if (host->cpuOfNuma.size() > 256) {
      reporter.error(xml.rangeOf(element), "expected at most 256 NUMA domains in a machine");
      return;
    }
    Vertex vertex;
    vertex.kind = VertexKind::Cpu;
    vertex.index = int32_t(host->cpuOfNuma.size() - 1);
    vertex.numaNode = int32_t(numa.value_or(-1));
    vertex.name = fmt::format("cpu{}", vertex.numaNode >= 0 ? vertex.numaNode : vertex.index);
    vertex.arch = shown(text(element, "arch"));
    vertex.vendor = shown(text(element, "vendor"));
    vertex.family = uint32_t(number(element, "familyid", 0, INT32_MAX).value_or(0));
    vertex.modelNumber = uint32_t(number(element, "modelid", 0, INT32_MAX).value_or(0));
    vertex.host = hash;
    if (std::string_view mask = text(element, "affinity"); !mask.empty()) {
      if (std::optional<std::string> list = processorsOfMask(mask))
        vertex.affinity = *list;
      else
        reporter.warning(xml.rangeOf(element, "affinity"),
                         "expected a mask of processors such as 0000ffff,ffff0000, found '{}'",
                         shown(mask));
    }
    place->second = add(std::move(vertex), element);
  }
  cpu = place->second;
  if (!reporter.hasFailed())
    readPciChildren(element, cpu, 0);
}

void NcclReader::readPciChildren(pugi::xml_node element, VertexId parent, int level) {
  if (level > mostXmlLevels) {
    reporter.error(xml.rangeOf(element), "expected at most {} levels of <pci>", mostXmlLevels);
    return;
  }
  // In the order of their bus ids, so that the order in the text makes no difference.
  std::vector<std::pair<std::string, pugi::xml_node>> pcis;
  for (pugi::xml_node child : element.children()) {
    std::string_view name = child.name();
    if (name == "pci")
      pcis.push_back({normalBusId(text(child, "busid")), child});
    else if (name == "nic")
      readNic(child, parent);
    else if (name == "pcilink" && parent != cpu)
      host->switchLinks.push_back({parent, normalBusId(text(child, "target"))});
    else if (name != "gpu" && name != "pcilink" && name != "cpu")
      warnUnknown(child);
  }
  std::sort(pcis.begin(), pcis.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[busId, child] : pcis) {
    if (reporter.hasFailed())
      return;
    readPci(child, parent, level);
  }
}

PciFacts NcclReader::pciFacts(pugi::xml_node element, std::string busId) {
  PciFacts facts;
  facts.busId = std::move(busId);
  facts.classCode = lowerCase(shown(text(element, "class"), 16));
  facts.vendor = shown(text(element, "vendor"), 16);
  facts.device = shown(text(element, "device"), 16);
  facts.subsystemVendor = shown(text(element, "subsystem_vendor"), 16);
  facts.subsystemDevice = shown(text(element, "subsystem_device"), 16);
  facts.width = uint32_t(number(element, "link_width", 0, 255).value_or(0));
  std::string_view speed = text(element, "link_speed");
  if (std::optional<double> parsed = pciSpeed(speed, facts.width))
    facts.speed = *parsed;
  else if (!speed.empty() && lowerCase(speed) != "unknown")
    reporter.warning(xml.rangeOf(element, "link_speed"),
                     "expected a speed such as '16.0 GT/s PCIe', found '{}'; 8 GT/s is assumed",
                     shown(speed));
  return facts;
}

VertexId NcclReader::addPci(pugi::xml_node element, VertexId parent, VertexKind kind,
                            std::string busId) {
  Vertex vertex;
  vertex.kind = kind;
  vertex.pci = pciFacts(element, busId);
  vertex.numaNode = host->graph[cpu].numaNode;
  vertex.name = busId.empty() ? nameOf(kind) : busId;
  double bandwidth = pciBandwidth(vertex.pci.speed, vertex.pci.width);
  VertexId id = add(std::move(vertex), element);
  if (!reporter.hasFailed())
    host->graph.connect(id, parent, LinkKind::Pci, bandwidth, 1, latencyOf(LinkKind::Pci));
  return id;
}

void NcclReader::readPci(pugi::xml_node element, VertexId parent, int level) {
  std::string busId = normalBusId(text(element, "busid"));
  if (busId.empty())
    reporter.warning(xml.rangeOf(element), "expected a busid in <pci>, found none");
  else if (!isBusId(busId))
    reporter.warning(xml.rangeOf(element, "busid"),
                     "expected a bus id such as 0000:0f:00.0, "
                     "found '{}'",
                     shown(busId));
  std::string code = lowerCase(text(element, "class"));
  pugi::xml_node gpu = element.child("gpu");
  bool hasPci = bool(element.child("pci")), hasNic = bool(element.child("nic"));
  VertexKind kind = VertexKind::PciSwitch;
  if (gpu || isGpuClass(code)) {
    kind = VertexKind::Gpu;
  } else if (isNicClass(code) || (hasNic && !hasPci && !isBridgeClass(code))) {
    kind = VertexKind::Nic;
  } else if (isNvSwitchClass(code)) {
    host->nvSwitches.insert(busId);
    return;
  }

  if (std::optional<int64_t> dev = wholeNumber(text(gpu, "dev"), INT32_MIN, -1)) {
    reporter.warning(xml.rangeOf(gpu, "dev"),
                     "GPU {} has dev {}: whoever wrote the file did not see it; it is left out",
                     shown(busId), *dev);
    return;
  }
  auto [place, isNew] = host->pciOfPlace.try_emplace({parent, busId}, noVertex);
  // Where two GPUs are under one id, or ids are missing, the second is a device of its own.
  bool isOther = busId.empty();
  if (!isNew && kind == VertexKind::Gpu && gpu) {
    auto dev = wholeNumber(text(gpu, "dev"), 0, INT32_MAX);
    isOther =
        dev && host->graph[place->second].index >= 0 && *dev != host->graph[place->second].index;
  }
  if (isNew || isOther) {
    auto [known, isFirst] = host->pciOfBusId.try_emplace(busId, noVertex);
    if (!isFirst && !busId.empty())
      reporter.warning(xml.rangeOf(element, "busid"), "bus id {} is that of {} in line {}, too",
                       shown(busId), host->graph[known->second].name,
                       host->graph[known->second].sourceLine);
    VertexId id = addPci(element, parent, kind, busId);
    place->second = id;
    if (isFirst)
      known->second = id;
  }
  if (reporter.hasFailed())
    return;
  VertexId id = place->second;
  if (kind == VertexKind::Gpu && gpu)
    readGpu(gpu, id, !isNew && !isOther);
  // A repeated element may list the links that are known already.
  bool areKnown = host->linkedGpus.contains(id);
  if (kind == VertexKind::Gpu)
    for (pugi::xml_node child : gpu.children()) {
      std::string_view name = child.name();
      if (!isGpuLinkElement(name) && name != "c2c") {
        warnUnknown(child);
        continue;
      }
      host->linkedGpus.insert(id);
      if (!areKnown && name == "c2c")
        readC2C(child, id);
      else if (!areKnown)
        readLink(child, id);
    }
  readPciChildren(element, id, level + 1);
}

void NcclReader::readGpu(pugi::xml_node element, VertexId id, bool isRepeated) {
  Vertex &gpu = host->graph[id];
  std::optional<int64_t> rank = number(element, "rank", 0, INT32_MAX);
  if (isRepeated) {
    if (rank && gpu.rank && *rank != *gpu.rank)
      reporter.warning(xml.rangeOf(element, "rank"), "ranks {} and {} share GPU {}", *gpu.rank,
                       *rank, gpu.name);
    return;
  }
  gpu.index = int32_t(number(element, "dev", 0, INT32_MAX).value_or(-1));
  gpu.computeCapability = uint32_t(number(element, "sm", 0, 9999).value_or(0));
  if (rank)
    gpu.rank = int32_t(*rank);
  if (std::optional<int64_t> gdr = number(element, "gdr", 0, 1))
    gpu.gpuDirect = *gdr == 1;
  if (std::string_view gcn = text(element, "gcn"); !gcn.empty())
    gpu.architecture = shown(gcn);
}

void NcclReader::readNic(pugi::xml_node element, VertexId parent) {
  VertexId nic = parent;
  const Vertex &around = host->graph[parent];
  bool isVirtual = around.kind == VertexKind::Cpu;
  bool hasNet = false;
  for (pugi::xml_node net : element.children()) {
    if (std::string_view(net.name()) != "net") {
      warnUnknown(net);
      continue;
    }
    auto key = std::tuple(std::string(text(net, "name")), std::string(text(net, "dev")),
                          std::string(text(net, "guid")));
    if (!host->ports.insert(std::move(key)).second)
      continue;
    if (!net.attribute("dev")) {
      reporter.warning(xml.rangeOf(net), "expected a dev in <net>, found none; NCCL leaves it out");
      continue;
    }
    if (!hasNet && around.kind != VertexKind::Nic) {
      // A card without a bus id of its own: a virtual one, or one written by hand.
      Vertex vertex;
      vertex.kind = VertexKind::Nic;
      vertex.name = "nic";
      vertex.numaNode = host->graph[cpu].numaNode;
      nic = add(std::move(vertex), element);
      if (reporter.hasFailed())
        return;
      host->graph.connect(nic, parent, LinkKind::Pci, localBandwidth, 1, latencyOf(LinkKind::Pci));
    }
    hasNet = true;
    readNet(net, nic, isVirtual);
  }
}

void NcclReader::readNet(pugi::xml_node element, VertexId id, bool isVirtual) {
  Vertex &nic = host->graph[id];
  if (nic.ports.size() >= Limits::portsOfNic) {
    reporter.error(xml.rangeOf(element), "expected at most {} nets in <nic>", Limits::portsOfNic);
    return;
  }
  NicPort port;
  port.name = shown(text(element, "name"));
  port.index = int32_t(number(element, "dev", 0, INT32_MAX).value_or(-1));
  port.number = int32_t(number(element, "port", 0, INT32_MAX).value_or(1));
  port.guid = shown(text(element, "guid"));
  // Mb/s; what is not positive is unknown.
  port.bandwidth = std::max(real(element, "speed", 1e9).value_or(0), 0.0) / 8000;
  port.latency = std::max(real(element, "latency", 1e6).value_or(0), 0.0);
  port.rail = int32_t(number(element, "rail", -1, 4095).value_or(-1));
  port.isVirtual = isVirtual;
  if (std::optional<int64_t> gdr = number(element, "gdr", 0, 1))
    port.gpuDirect = *gdr == 1;
  port.offloads = number(element, "coll", 0, 1).value_or(0) == 1;
  if (nic.card.empty() && !isVirtual && port.guid != "" && port.guid != "0x0")
    nic.card = port.guid;
  nic.ports.push_back(std::move(port));
}

void NcclReader::readLink(pugi::xml_node element, VertexId gpu) {
  bool isXgmi = std::string_view(element.name()) == "xgmi";
  ListedLink link;
  link.gpu = gpu;
  link.target = normalBusId(text(element, "target"));
  link.targetClass = lowerCase(text(element, "tclass"));
  link.kind = isXgmi ? LinkKind::Xgmi : LinkKind::NvLink;
  link.range = xml.rangeOf(element);
  link.count = uint32_t(number(element, "count", 0, Limits::linksOfPair).value_or(0));
  if (!element.attribute("count"))
    reporter.warning(link.range, "expected a count in <{}>, found none", element.name());
  if (host->listed.size() >= Limits::linksOfMachine) {
    reporter.error(link.range, "expected at most {} links in a machine", Limits::linksOfMachine);
    return;
  }
  if (link.count > 0)
    host->listed.push_back(std::move(link));
}

void NcclReader::readC2C(pugi::xml_node element, VertexId gpu) {
  // MB/s of one link.
  double bandwidth = std::max(real(element, "bw", Limits::bandwidth * 1000).value_or(0), 0.0);
  auto count = uint32_t(number(element, "count", 0, Limits::linksOfPair).value_or(0));
  if (bandwidth == 0 || count == 0) {
    reporter.warning(xml.rangeOf(element), "expected bw and count above 0 in <c2c>");
    return;
  }
  host->graph.connect(gpu, cpu, LinkKind::C2C, bandwidth / 1000, count, latencyOf(LinkKind::C2C));
}

/// GPUs are numbered by `dev`; by rank where each rank saw but its own GPU as dev 0; those without
/// either by bus id, behind the others.
void NcclReader::numberGpus() {
  Graph &graph = host->graph;
  std::vector<VertexId> gpus = graph.ofKind(VertexKind::Gpu);
  std::set<int32_t> devs, ranks;
  size_t numbered = 0;
  for (VertexId gpu : gpus) {
    numbered += graph[gpu].index >= 0;
    devs.insert(graph[gpu].index);
    if (graph[gpu].rank)
      ranks.insert(*graph[gpu].rank);
  }
  devs.erase(-1);
  if (devs.size() < numbered) {
    bool byRank = ranks.size() == gpus.size();
    reporter.warning(host->ranges[gpus.front()],
                     "several GPUs have the same dev; they are "
                     "numbered by {}",
                     byRank ? "rank" : "bus id");
    for (VertexId gpu : gpus)
      graph[gpu].index = byRank ? *graph[gpu].rank : -1;
    devs.clear();
    if (byRank)
      devs = ranks;
  }
  std::sort(gpus.begin(), gpus.end(), [&](VertexId a, VertexId b) {
    return std::tie(graph[a].pci.busId, a) < std::tie(graph[b].pci.busId, b);
  });
  int32_t next = devs.empty() ? 0 : *devs.rbegin() + 1;
  for (VertexId gpu : gpus) {
    if (graph[gpu].index < 0)
      graph[gpu].index = next++;
    graph[gpu].name = host->names.unique(fmt::format("gpu{}", graph[gpu].index));
  }
}

void NcclReader::connectListed() {
  std::map<std::pair<VertexId, VertexId>, ListedLink> toPeers;
  std::map<VertexId, ListedLink> toSwitch;
  const ListedLink *firstAsSwitch = nullptr;
  uint32_t gpusAsSwitches = 0;
  auto addTo = [](ListedLink &sum, const ListedLink &link) {
    uint32_t before = sum.count;
    sum = link;
    sum.count += before;
  };
  for (const ListedLink &link : host->listed) {
    const Vertex &gpu = host->graph[link.gpu];
    auto known = host->pciOfBusId.find(link.target);
    bool isGpu =
        known != host->pciOfBusId.end() && host->graph[known->second].kind == VertexKind::Gpu;
    // In virtual machines the other end is not visible, and is taken for a switch.
    bool isHidden = link.target.starts_with("fffffff");
    if (isNpuClass(link.targetClass)) {
      for (LinkId id : host->graph.linksAt(link.gpu))
        if (VertexId other = host->graph.link(id).other(link.gpu);
            host->graph[other].kind == VertexKind::Cpu) {
          host->graph.connect(link.gpu, other, LinkKind::NvLink,
                              nvlinkBandwidth(gpu.computeCapability), link.count);
          break;
        }
    } else if (isNvSwitchClass(link.targetClass) || host->nvSwitches.contains(link.target) ||
               (isHidden && !isGpu)) {
      if (isGpu && gpusAsSwitches++ == 0)
        firstAsSwitch = &link;
      addTo(toSwitch[link.gpu], link);
    } else if (!isGpu) {
      reporter.warning(link.range,
                       "expected the bus id of a GPU of this file, found '{}'; {} {} of "
                       "{} lead nowhere",
                       shown(link.target), link.count, link.count == 1 ? "link" : "links",
                       gpu.name);
    } else if (known->second == link.gpu) {
      reporter.warning(link.range, "{} links {} to itself; the links are left out", gpu.name,
                       link.count);
    } else {
      addTo(toPeers[{link.gpu, known->second}], link);
    }
  }
  if (firstAsSwitch)
    reporter.warning(firstAsSwitch->range,
                     "expected a switch, as the link's class says, found the bus id of {}; {} such "
                     "links count as links to a switch",
                     host->graph[host->pciOfBusId[firstAsSwitch->target]].name, gpusAsSwitches);
  connectPeers(toPeers);
  connectSwitch(toSwitch);
}

void NcclReader::connectPeers(const std::map<std::pair<VertexId, VertexId>, ListedLink> &toPeers) {
  Graph &graph = host->graph;
  auto bandwidth = [&](const ListedLink &link) {
    const Vertex &gpu = graph[link.gpu];
    return link.count * (link.kind == LinkKind::Xgmi ? xgmiBandwidth(gpu.architecture)
                                                     : nvlinkBandwidth(gpu.computeCapability));
  };
  for (const auto &[pair, link] : toPeers) {
    auto [from, to] = pair;
    auto reverse = toPeers.find({to, from});
    if (reverse != toPeers.end() && to < from)
      continue; // made from the other end
    double forward = bandwidth(link), backward = 0;
    uint32_t count = link.count;
    if (reverse != toPeers.end()) {
      backward = bandwidth(reverse->second);
      count = std::max(count, reverse->second.count);
    }
    uint32_t countBack = reverse == toPeers.end() ? 0 : reverse->second.count;
    if (countBack != link.count)
      reporter.warning(link.range, "{} lists {} links to {}, which lists {} back", graph[from].name,
                       link.count, graph[to].name, countBack);
    graph.connect({from, to, link.kind, count, forward, backward, latencyOf(link.kind)});
  }
}

void NcclReader::connectSwitch(const std::map<VertexId, ListedLink> &toSwitch) {
  if (toSwitch.empty())
    return;
  Graph &graph = host->graph;
  Vertex vertex;
  vertex.kind = VertexKind::NvSwitch;
  vertex.name = host->names.unique("nvswitch");
  VertexId nvSwitch = graph.add(std::move(vertex));
  for (const auto &[gpu, link] : toSwitch) {
    uint32_t count = link.count, most = mostNvlinks(graph[gpu].computeCapability);
    if (link.kind == LinkKind::NvLink && most > 0 && count > most) {
      reporter.warning(link.range,
                       "{} lists {} links to switches, but a GPU of compute "
                       "capability {} has at most {}, which is what counts",
                       graph[gpu].name, count, graph[gpu].computeCapability, most);
      count = most;
    }
    double bandwidth = link.kind == LinkKind::Xgmi ? xgmiBandwidth(graph[gpu].architecture)
                                                   : nvlinkBandwidth(graph[gpu].computeCapability);
    graph.connect(gpu, nvSwitch, link.kind, bandwidth, count, latencyOf(link.kind));
  }
}

Topology NcclReader::finish() {
  Topology topology;
  topology.name = reporter.source().name();
  for (const auto &each : hosts) {
    host = each.get();
    Graph &graph = host->graph;
    numberGpus();
    int32_t nics = 0;
    for (VertexId nic : graph.ofKind(VertexKind::Nic)) {
      Vertex &vertex = graph[nic];
      vertex.index = nics++;
      if (vertex.ports.empty()) {
        // A bare <pci> of a network class: its ports are not told.
        NicPort &port = vertex.ports.emplace_back();
        port.name = vertex.pci.busId;
      }
      vertex.name = host->names.unique(vertex.ports.front().name);
    }
    connectListed();
    for (const auto &[from, target] : host->switchLinks)
      if (auto to = host->pciOfBusId.find(target);
          to != host->pciOfBusId.end() && to->second != from)
        graph.connect(from, to->second, LinkKind::Pci, localBandwidth);
    connectSockets(graph);
    std::string name =
        hosts.size() > 1 ? fmt::format("host{}", topology.nodes.size()) : reporter.source().name();
    // All hosts of one dump have been one NVLink domain.
    topology.nodes.push_back(
        {name, uint32_t(topology.types.size()), hosts.size() > 1 ? "nvlink-domain" : ""});
    topology.types.push_back({name, std::move(graph)});
  }
  joinNvlinkDomains(topology);
  return topology;
}

} // namespace

std::optional<ReadResult> readNcclXml(const SourceFile &file, DiagnosticEngine &diagnostics) {
  Reporter reporter(file, diagnostics);
  XmlSource xml;
  if (!xml.parse(reporter))
    return std::nullopt;
  NcclReader reader(reporter, xml);
  if (!reader.read(xml.root()))
    return std::nullopt;
  ReadResult result;
  result.topology = reader.finish();
  result.facts = factsOfNcclTopology(xml.root());
  if (reporter.hasFailed())
    return std::nullopt;
  return result;
}

} // namespace coil::topology
