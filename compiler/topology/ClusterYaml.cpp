//===- ClusterYaml.cpp - Clusters in Coil's YAML --------------------------===//

#include "compiler/topology/ClusterYaml.h"

#include "compiler/frontend/Suggest.h"

#include <algorithm>
#include <initializer_list>
#include <yaml-cpp/yaml.h>

namespace coil::topology {

std::optional<double> bandwidthWithUnit(std::string_view text) {
  text = trimmed(text);
  size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos || end == 0)
    return std::nullopt;
  std::optional<double> number = realNumber(text.substr(0, end));
  std::string_view unit = trimmed(text.substr(end));
  if (!number || *number <= 0 || unit.size() != 4 || unit.substr(2) != "/s")
    return std::nullopt;
  double scale = unit[0] == 'K' || unit[0] == 'k' ? 1e-6
                 : unit[0] == 'M'                 ? 1e-3
                 : unit[0] == 'G'                 ? 1
                 : unit[0] == 'T'                 ? 1e3
                                                  : 0;
  if (scale == 0 || (unit[1] != 'b' && unit[1] != 'B'))
    return std::nullopt;
  double bandwidth = *number * scale / (unit[1] == 'b' ? 8 : 1);
  return bandwidth <= Limits::bandwidth ? std::optional(bandwidth) : std::nullopt;
}

namespace {

/// YAML::Load recurses, so deep texts are refused before it sees them.
constexpr size_t mostNesting = 64;

class ClusterReader {
public:
  ClusterReader(const SourceFile &file, DiagnosticEngine &diagnostics,
                const std::function<std::optional<ReadResult>(const std::string &)> &open)
      : reporter(file, diagnostics), open(open) {}

  std::optional<ReadResult> run() {
    std::string_view text = reporter.source().text();
    size_t depth = 0, deepest = 0, indentation = 0, mostIndented = 0;
    for (char c : text) {
      if (c == '[' || c == '{')
        deepest = std::max(deepest, ++depth);
      else if ((c == ']' || c == '}') && depth > 0)
        --depth;
      bool isIndentation = c == ' ' || c == '-' || c == '?';
      indentation = c == '\n' ? 0 : isIndentation ? indentation + 1 : indentation;
      mostIndented = std::max(mostIndented, indentation);
    }
    if (deepest > mostNesting || mostIndented > 16 * mostNesting) {
      reporter.error(reporter.whole(), "nested more than {} levels deep", mostNesting);
      return std::nullopt;
    }
    // yaml-cpp throws for what is no YAML.
    try {
      return read(YAML::Load(std::string(text)));
    } catch (const YAML::Exception &error) {
      reporter.error(rangeOf(error.mark), "expected YAML: {}", shown(error.msg, 200));
      return std::nullopt;
    }
  }

private:
  SourceRange rangeOf(const YAML::Mark &mark) const {
    size_t size = reporter.source().text().size();
    if (mark.is_null() || mark.pos < 0)
      return reporter.whole();
    size_t begin = std::min(size_t(mark.pos), size);
    return reporter.range(begin, std::min(begin + 1, size));
  }

  template <typename... Args>
  bool fail(const YAML::Node &node, fmt::format_string<Args...> format, Args &&...args) {
    reporter.error(rangeOf(node.Mark()), format, std::forward<Args>(args)...);
    return false;
  }

  static std::string describe(const YAML::Node &node) {
    switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "'" + shown(node.Scalar()) + "'";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    default:
      return "nothing";
    }
  }

  /// Whether a node is a map with no keys but those named.
  bool expectMap(const YAML::Node &node, const char *what,
                 std::initializer_list<const char *> keys) {
    if (!node.IsMap())
      return fail(node, "{}: expected a map, found {}", what, describe(node));
    for (const auto &entry : node) {
      std::string key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
      if (std::find(keys.begin(), keys.end(), key) != keys.end())
        continue;
      Suggestion nearest(key);
      std::string all;
      for (const char *known : keys) {
        nearest.consider(known);
        all += (all.empty() ? "" : ", ") + std::string(known);
      }
      return fail(entry.first, "{}: expected one of {}, found {}{}", what, all,
                  describe(entry.first), nearest.text());
    }
    return true;
  }

  std::optional<ReadResult> read(const YAML::Node &root) {
    if (!expectMap(root, "a cluster", {"name", "nodes", "network"}))
      return std::nullopt;
    topology.name = reporter.source().name();
    if (YAML::Node name = root["name"]) {
      if (!name.IsScalar() || name.Scalar().empty()) {
        fail(name, "name: expected a text, found {}", describe(name));
        return std::nullopt;
      }
      topology.name = shown(name.Scalar());
    }
    YAML::Node nodes = root["nodes"];
    if (!nodes || !nodes.IsSequence() || nodes.size() == 0) {
      fail(nodes ? nodes : root, "nodes: expected a list of types and counts, found {}",
           nodes ? describe(nodes) : "nothing");
      return std::nullopt;
    }
    if (YAML::Node network = root["network"]; network && !readNetwork(network))
      return std::nullopt;
    for (const YAML::Node &group : nodes)
      if (!readGroup(group))
        return std::nullopt;
    joinNvlinkDomains(topology);
    joinByRails(topology, oversubscription);
    ReadResult result;
    result.facts.set("kind", "cluster");
    result.facts.set("name", topology.name);
    result.facts.set("nodes", topology.nodes.size());
    Json types = Json::array();
    for (const Machine &type : topology.types)
      types.push(type.name);
    result.facts.set("types", std::move(types));
    result.facts.set("devices", topology.devices().size());
    result.topology = std::move(topology);
    return result;
  }

  bool readNetwork(const YAML::Node &network) {
    if (!expectMap(network, "network", {"port", "oversubscription"}))
      return false;
    if (YAML::Node port = network["port"]) {
      portBandwidth = port.IsScalar() ? bandwidthWithUnit(port.Scalar()) : std::nullopt;
      if (!portBandwidth)
        return fail(port,
                    "port: expected a bandwidth with its unit, such as 400Gb/s or 50GB/s (a byte "
                    "has 8 bits), found {}",
                    describe(port));
    }
    if (YAML::Node factor = network["oversubscription"]) {
      std::optional<double> number = factor.IsScalar() ? realNumber(factor.Scalar()) : std::nullopt;
      if (!number || *number < 1 || *number > 1000)
        return fail(factor, "oversubscription: expected a number from 1 to 1000, found {}",
                    describe(factor));
      oversubscription = *number;
    }
    return true;
  }

  bool readGroup(const YAML::Node &group) {
    if (!expectMap(group, "nodes", {"type", "count", "nvlink-domain"}))
      return false;
    YAML::Node type = group["type"];
    if (!type || !type.IsScalar())
      return fail(type ? type : group, "type: expected the name of a machine, found {}",
                  type ? describe(type) : "nothing");
    uint32_t count = 1;
    if (YAML::Node number = group["count"]) {
      size_t most = Limits::nodes - topology.nodes.size();
      std::optional<int64_t> value =
          number.IsScalar() ? wholeNumber(number.Scalar(), 1, int64_t(most)) : std::nullopt;
      if (!value)
        return fail(number, "count: expected 1 to {}, found {}", most, describe(number));
      count = uint32_t(*value);
    }
    std::string domain;
    if (YAML::Node name = group["nvlink-domain"]) {
      if (!name.IsScalar())
        return fail(name, "nvlink-domain: expected a name, found {}", describe(name));
      domain = shown(name.Scalar());
    }
    std::optional<ReadResult> machine = open(type.Scalar());
    if (!machine)
      return fail(type, "the machine '{}' cannot be read", shown(type.Scalar()));
    if (machine->topology.nodes.size() != 1)
      return fail(type, "expected a single machine, found '{}', which is {} nodes",
                  shown(type.Scalar()), machine->topology.nodes.size());
    Machine &found = machine->topology.types.front();
    vertices += found.graph.vertices().size() * count;
    if (vertices > Limits::verticesOfTopology)
      return fail(group, "expected at most {} vertices in all nodes, found more",
                  Limits::verticesOfTopology);
    if (portBandwidth)
      for (VertexId nic : found.graph.ofKind(VertexKind::Nic))
        for (NicPort &port : found.graph[nic].ports)
          port.bandwidth = *portBandwidth;
    assignRails(found.graph);
    uint32_t number = uint32_t(topology.types.size());
    topology.types.push_back(std::move(found));
    for (uint32_t i = 0; i < count; ++i)
      topology.nodes.push_back({fmt::format("node{}", topology.nodes.size()), number, domain});
    return true;
  }

  Reporter reporter;
  const std::function<std::optional<ReadResult>(const std::string &)> &open;
  Topology topology;
  std::optional<double> portBandwidth;
  double oversubscription = 1;
  size_t vertices = 0;
};

} // namespace

std::optional<ReadResult>
readClusterYaml(const SourceFile &file, DiagnosticEngine &diagnostics,
                const std::function<std::optional<ReadResult>(const std::string &)> &open) {
  return ClusterReader(file, diagnostics, open).run();
}

} // namespace coil::topology
