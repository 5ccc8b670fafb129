//===- Sysfs.cpp - The machine that Linux describes -----------------------===//

#include "compiler/topology/Sysfs.h"

#include "compiler/topology/Bandwidth.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>

namespace coil::topology {

namespace {

namespace fs = std::filesystem;

constexpr size_t mostBytes = 1 << 16; ///< of a file; those of /sys are short
constexpr size_t mostEntries = 65536; ///< of a folder

std::string readText(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text(mostBytes, '\0');
  stream.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(std::max<std::streamsize>(stream.gcount(), 0)));
  return std::string(trimmed(text));
}

std::optional<int64_t> readNumber(const fs::path &path) {
  return wholeNumber(readText(path), INT32_MIN, INT32_MAX);
}

/// The names in a folder, in their order; none if there is no such folder.
std::vector<std::string> namesIn(const fs::path &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    names.push_back(each->path().filename().string());
    if (names.size() >= mostEntries)
      break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The number behind a prefix, as in "node12".
std::optional<int32_t> numberOf(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix))
    return std::nullopt;
  std::optional<int64_t> number = wholeNumber(name.substr(prefix.size()), 0, INT32_MAX);
  return number ? std::optional(int32_t(*number)) : std::nullopt;
}

class SysfsReader {
public:
  SysfsReader(std::string root, DiagnosticEngine &diagnostics)
      : root(std::move(root)), diagnostics(diagnostics) {
    graph = &machine.graph;
    machine.name = "host";
  }

  std::optional<ReadResult> run() {
    std::error_code error;
    fs::path canonical = fs::canonical(root, error);
    if (error) {
      diagnostics.error({}, "cannot read '{}': {}", root.string(), error.message());
      return std::nullopt;
    }
    root = canonical;
    if (!readCpus()) {
      diagnostics.error({},
                        "expected Linux's /sys at '{}', found no processors in "
                        "'devices/system/cpu'",
                        root.string());
      return std::nullopt;
    }
    readPci();
    readInfiniband();
    readInterfaces();
    if (graph->ofKind(VertexKind::Gpu).empty())
      readCores();
    ReadResult result;
    result.facts = factsOf();
    result.topology = alone(std::move(machine));
    return result;
  }

private:
  /// NUMA domains with processors; without any, all processors.
  bool readCpus() {
    fs::path system = root / "devices/system";
    std::map<int32_t, std::string> domains;
    for (const std::string &name : namesIn(system / "node"))
      if (std::optional<int32_t> number = numberOf(name, "node"))
        if (std::string list = readText(system / "node" / name / "cpulist"); !list.empty())
          domains[*number] = list;
    std::string online = readText(system / "cpu/online");
    if (domains.empty()) {
      bool hasSome = false;
      for (const std::string &name : namesIn(system / "cpu"))
        hasSome |= numberOf(name, "cpu").has_value();
      if (!hasSome && online.empty())
        return false;
      domains[-1] = online;
    }
    Vertex model = processor();
    int32_t order = 0;
    for (const auto &[number, list] : domains) {
      Vertex cpu = model;
      cpu.kind = VertexKind::Cpu;
      cpu.name = fmt::format("cpu{}", order);
      cpu.index = order++;
      cpu.numaNode = number;
      cpu.affinity = list;
      cpus.push_back(graph->add(std::move(cpu)));
    }
    connectSockets(*graph);
    return true;
  }

  /// What /proc/cpuinfo tells of the processors.
  Vertex processor() const {
    Vertex cpu;
    std::ifstream stream(root.parent_path() / "proc/cpuinfo");
    std::string line;
    for (int lines = 0; lines < 64 && std::getline(stream, line); ++lines) {
      size_t colon = line.find(':');
      if (colon == std::string::npos)
        continue;
      std::string_view key = trimmed(std::string_view(line).substr(0, colon)),
                       value = trimmed(std::string_view(line).substr(colon + 1));
      if (key == "vendor_id") {
        cpu.arch = "x86_64";
        cpu.vendor = shown(value);
      } else if (key == "cpu family") {
        cpu.family = uint32_t(wholeNumber(value, 0, 0xffff).value_or(0));
      } else if (key == "model") {
        cpu.modelNumber = uint32_t(wholeNumber(value, 0, 0xffff).value_or(0));
      } else if (key == "cpu" && value.starts_with("POWER")) {
        cpu.arch = "ppc64";
      } else if (key == "CPU implementer") {
        cpu.arch = "arm64";
      }
    }
    return cpu;
  }

  void readPci() {
    int32_t gpus = 0;
    for (const std::string &name : namesIn(root / "bus/pci/devices")) {
      std::string busId = normalBusId(name);
      if (!isBusId(busId) || graph->vertices().size() >= Limits::verticesOfMachine)
        continue;
      fs::path folder = folderOf(name);
      PciFacts pci = pciFacts(folder, busId);
      bool isGpu = isGpuDevice(pci, name), isNic = isNicClass(pci.classCode);
      if (!isGpu && !isNic)
        continue;
      Vertex vertex;
      vertex.kind = isGpu ? VertexKind::Gpu : VertexKind::Nic;
      vertex.name = isGpu ? fmt::format("gpu{}", gpus) : busId;
      if (isGpu)
        vertex.index = gpus++;
      vertex.pci = pci;
      VertexId cpu = cpuOf(folder, vertex);
      VertexId parent = parentOf(folder, cpu);
      VertexId id = graph->add(std::move(vertex));
      (isGpu ? gpuIds : nicIds)[busId] = id;
      graph->connect(parent, id, LinkKind::Pci, linkBandwidth(folder, pci), 1,
                     latencyOf(LinkKind::Pci));
    }
  }

  /// The device's own folder, which in recorded trees may be no link.
  fs::path folderOf(const std::string &name) const {
    std::error_code error;
    fs::path folder = root / "bus/pci/devices" / name, real = fs::canonical(folder, error);
    return error ? folder : real;
  }

  static PciFacts pciFacts(const fs::path &folder, const std::string &busId) {
    PciFacts pci;
    pci.busId = busId;
    pci.classCode = readText(folder / "class");
    pci.vendor = readText(folder / "vendor");
    pci.device = readText(folder / "device");
    pci.subsystemVendor = readText(folder / "subsystem_vendor");
    pci.subsystemDevice = readText(folder / "subsystem_device");
    auto width = [&](const char *name) {
      return uint32_t(wholeNumber(readText(folder / name), 0, 64).value_or(0));
    };
    pci.width = width("current_link_width");
    pci.maxWidth = width("max_link_width");
    pci.speed = pciSpeed(readText(folder / "current_link_speed"), pci.width).value_or(0);
    pci.maxSpeed = pciSpeed(readText(folder / "max_link_speed"), pci.maxWidth).value_or(0);
    return pci;
  }

  /// Networks, and what was InfiniBand's class before it was one of them.
  static bool isNicClass(std::string_view classCode) {
    return classCode.starts_with("0x02") || classCode.starts_with("0x0c06");
  }

  /// Displays are GPUs only if they are of those who make such that compute, or their driver says
  /// so.
  bool isGpuDevice(const PciFacts &pci, const std::string &name) const {
    if (pci.classCode.starts_with("0x0302") || pci.classCode.starts_with("0x1200") ||
        pci.classCode.starts_with("0x0380"))
      return true;
    std::error_code error;
    return pci.classCode.starts_with("0x0300") &&
           (pci.vendor == "0x10de" || pci.vendor == "0x1002" ||
            fs::exists(root.parent_path() / "proc/driver/nvidia/gpus" / name, error));
  }

  /// The CPU of a device, which becomes known to the vertex; the first one if none is.
  VertexId cpuOf(const fs::path &folder, Vertex &vertex) {
    if (std::optional<int64_t> node = readNumber(folder / "numa_node"); node && *node >= 0)
      for (VertexId cpu : cpus)
        if ((*graph)[cpu].numaNode == *node) {
          vertex.numaNode = int32_t(*node);
          return cpu;
        }
    std::string processors = readText(folder / "local_cpulist");
    if (processors.empty())
      processors = processorsOfMask(readText(folder / "local_cpus")).value_or("");
    std::vector<VertexId> near;
    for (VertexId cpu : cpus)
      if (listsOverlap((*graph)[cpu].affinity, processors))
        near.push_back(cpu);
    if (near.size() == 1) {
      vertex.numaNode = (*graph)[near.front()].numaNode;
      vertex.affinity = processors;
      return near.front();
    }
    if (cpus.size() > 1)
      diagnostics.warning({}, "the NUMA node of {} is unknown; it is taken to be at {}",
                          vertex.pci.busId, (*graph)[cpus.front()].name);
    return cpus.front();
  }

  /// What the device hangs at: the last PCI switch above it, its host bridge, or its CPU.
  VertexId parentOf(const fs::path &folder, VertexId cpu) {
    fs::path domain;
    std::vector<fs::path> above; // bridges, from the root on
    fs::path path;
    for (const fs::path &part : folder) {
      path /= part;
      if (part.string().starts_with("pci") && above.empty())
        domain = path;
      else if (!domain.empty() && isBusId(normalBusId(part.string())))
        above.push_back(path);
    }
    if (domain.empty())
      return cpu;
    VertexId parent = bridgeOf(domain, VertexKind::HostBridge, cpu);
    // The first is a port of the root, the last the device itself; a switch is a port up and a port
    // down.
    for (size_t i = 1; i + 2 < above.size(); i += 2)
      parent = bridgeOf(above[i], VertexKind::PciSwitch, parent);
    return parent;
  }

  VertexId bridgeOf(const fs::path &folder, VertexKind kind, VertexId parent) {
    auto [place, isNew] = bridges.try_emplace(folder.string(), noVertex);
    if (!isNew)
      return place->second;
    Vertex vertex;
    vertex.kind = kind;
    vertex.name = folder.filename().string();
    vertex.numaNode = (*graph)[parent].numaNode;
    double bandwidth = pciBandwidth(64, 16); // a host bridge does not limit
    if (kind == VertexKind::PciSwitch) {
      vertex.pci = pciFacts(folder, normalBusId(vertex.name));
      bandwidth = linkBandwidth(folder, vertex.pci);
    }
    VertexId id = graph->add(std::move(vertex));
    graph->connect(parent, id, LinkKind::Pci, bandwidth, 1, latencyOf(LinkKind::Pci));
    return place->second = id;
  }

  /// Of the link up from a device: what it and the port above can do at most, since links of idle
  /// devices slow down; but the lanes that it has.
  static double linkBandwidth(const fs::path &folder, const PciFacts &pci) {
    double speed = std::max(pci.speed, pci.maxSpeed);
    uint32_t width = pci.width > 0 ? pci.width : pci.maxWidth;
    fs::path port = folder.parent_path();
    if (isBusId(normalBusId(port.filename().string()))) {
      PciFacts above = pciFacts(port, "");
      double most = std::max(above.speed, above.maxSpeed);
      if (most > 0 && speed > 0)
        speed = std::min(speed, most);
    }
    return pciBandwidth(speed, width);
  }

  /// The network card that a path into the tree of devices belongs to.
  VertexId nicOf(const fs::path &entry) const {
    std::error_code error;
    fs::path real = fs::canonical(entry, error);
    VertexId nic = noVertex;
    for (const fs::path &part : real)
      if (auto found = nicIds.find(normalBusId(part.string())); found != nicIds.end())
        nic = found->second;
    return error ? noVertex : nic;
  }

  void addPort(VertexId nic, NicPort port) {
    std::vector<NicPort> &ports = (*graph)[nic].ports;
    if (ports.size() >= Limits::portsOfNic)
      return;
    port.name = names.unique(port.name);
    port.index = portCount++;
    ports.push_back(std::move(port));
  }

  void readInfiniband() {
    fs::path folder = root / "class/infiniband";
    for (const std::string &name : namesIn(folder)) {
      VertexId nic = nicOf(folder / name);
      if (nic == noVertex)
        continue;
      for (const std::string &number : namesIn(folder / name / "ports")) {
        NicPort port;
        port.name = name;
        port.number = int32_t(wholeNumber(number, 0, 255).value_or(1));
        port.bandwidth = portRate(readText(folder / name / "ports" / number / "rate")).value_or(0);
        port.guid = readText(folder / name / "sys_image_guid");
        addPort(nic, std::move(port));
      }
    }
  }

  /// Of cards whose ports are not known yet.
  void readInterfaces() {
    fs::path folder = root / "class/net";
    std::map<VertexId, std::vector<NicPort>> ports;
    for (const std::string &name : namesIn(folder)) {
      VertexId nic = nicOf(folder / name);
      if (nic == noVertex || !(*graph)[nic].ports.empty())
        continue;
      NicPort port;
      port.name = name;
      port.number = int32_t(ports[nic].size()) + 1;
      std::optional<int64_t> megabits = readNumber(folder / name / "speed");
      if (megabits && *megabits > 0)
        port.bandwidth = double(*megabits) / 8000;
      ports[nic].push_back(std::move(port));
    }
    for (auto &[nic, list] : ports)
      for (NicPort &port : list)
        addPort(nic, std::move(port));
  }

  void readCores() {
    fs::path folder = root / "devices/system/cpu";
    // By package and core; of several threads the first.
    std::map<std::pair<int64_t, int64_t>, int32_t> cores;
    for (const std::string &name : namesIn(folder)) {
      std::optional<int32_t> number = numberOf(name, "cpu");
      if (!number)
        continue;
      fs::path topology = folder / name / "topology";
      std::optional<int64_t> core = readNumber(topology / "core_id");
      int64_t package = readNumber(topology / "physical_package_id").value_or(0);
      auto [place, isNew] =
          cores.try_emplace({package, core.value_or(int64_t(*number) << 32)}, *number);
      place->second = std::min(place->second, *number);
    }
    std::vector<int32_t> firsts;
    for (const auto &[key, first] : cores)
      firsts.push_back(first);
    std::sort(firsts.begin(), firsts.end());
    int32_t order = 0;
    for (int32_t first : firsts) {
      VertexId cpu = cpus.front();
      for (VertexId each : cpus)
        if (listsOverlap((*graph)[each].affinity, std::to_string(first)))
          cpu = each;
      Vertex core;
      core.kind = VertexKind::Core;
      core.name = fmt::format("core{}", order);
      core.index = order++;
      core.numaNode = (*graph)[cpu].numaNode;
      core.affinity =
          readText(folder / fmt::format("cpu{}", first) / "topology" / "thread_siblings_list");
      if (graph->vertices().size() >= Limits::verticesOfMachine)
        return;
      graph->connect(cpu, graph->add(std::move(core)), LinkKind::Memory, coreBandwidth, 1,
                     latencyOf(LinkKind::Memory));
    }
  }

  Json factsOf() const {
    Json facts = Json::object();
    facts.set("kind", "sysfs");
    Json numaids = Json::array(), gpus = Json::array(), nics = Json::array();
    for (VertexId cpu : cpus)
      numaids.push((*graph)[cpu].numaNode);
    auto entryOf = [](const Vertex &vertex) {
      Json entry = Json::object();
      entry.set("busid", vertex.pci.busId);
      entry.set("numaid", vertex.numaNode);
      return entry;
    };
    for (VertexId gpu : graph->ofKind(VertexKind::Gpu)) {
      Json entry = entryOf((*graph)[gpu]);
      entry.set("dev", (*graph)[gpu].index);
      gpus.push(std::move(entry));
    }
    for (VertexId nic : graph->ofKind(VertexKind::Nic)) {
      Json entry = entryOf((*graph)[nic]), ports = Json::array();
      for (const NicPort &port : (*graph)[nic].ports) {
        Json of = Json::object();
        of.set("name", port.name);
        of.set("bandwidth", port.bandwidth);
        ports.push(std::move(of));
      }
      entry.set("ports", std::move(ports));
      nics.push(std::move(entry));
    }
    facts.set("numaids", std::move(numaids));
    facts.set("gpus", std::move(gpus));
    facts.set("nics", std::move(nics));
    facts.set("pci_switches", graph->ofKind(VertexKind::PciSwitch).size());
    facts.set("cores", graph->ofKind(VertexKind::Core).size());
    return facts;
  }

  fs::path root;
  DiagnosticEngine &diagnostics;
  Machine machine;
  Graph *graph;
  std::vector<VertexId> cpus;
  std::map<std::string, VertexId> bridges, gpuIds, nicIds;
  Names names;
  int32_t portCount = 0;
};

} // namespace

std::optional<ReadResult> readSysfs(const std::string &root, DiagnosticEngine &diagnostics) {
  return SysfsReader(root, diagnostics).run();
}

} // namespace coil::topology
