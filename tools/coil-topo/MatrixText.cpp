//===- MatrixText.cpp - Distances in the notation people know -------------===//

#include "tools/coil-topo/MatrixText.h"

#include "compiler/topology/Distance.h"

#include <algorithm>
#include <fmt/format.h>

namespace coil::topology {

namespace {

using Row = std::vector<std::string>;

/// Columns apart by two blanks.
std::string aligned(const std::vector<Row> &rows) {
  std::vector<size_t> widths;
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1), 0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const Row &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string cell(const Graph &graph, VertexId a, VertexId b, PathClass path) {
  if (a == b)
    return "X";
  bool areGpus = graph[a].kind == VertexKind::Gpu && graph[b].kind == VertexKind::Gpu;
  if (uint32_t links = areGpus ? peerLinks(graph, a, b) : 0)
    return fmt::format("NV{}", links);
  return path == PathClass::None ? "SYS" : nameOf(path);
}

} // namespace

std::string matrixText(const Graph &graph) {
  std::vector<VertexId> gpus = graph.ofKind(VertexKind::Gpu), nics = graph.ofKind(VertexKind::Nic);
  std::vector<VertexId> all = gpus;
  all.insert(all.end(), nics.begin(), nics.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < all.size(); ++i)
    names.push_back(i < gpus.size() ? fmt::format("GPU{}", graph[all[i]].index)
                                    : fmt::format("NIC{}", i - gpus.size()));
  Row header{""};
  header.insert(header.end(), names.begin(), names.end());
  header.insert(header.end(), {"CPU Affinity", "NUMA Affinity"});
  std::vector<Row> rows{header};
  std::vector<VertexId> cpus = graph.ofKind(VertexKind::Cpu);
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<PathClass> paths = pathClassesFrom(graph, all[i]);
    Row row{names[i]};
    for (VertexId other : all)
      row.push_back(cell(graph, all[i], other, paths[other]));
    const Vertex &vertex = graph[all[i]];
    if (vertex.kind == VertexKind::Gpu) {
      std::string processors = vertex.affinity;
      for (VertexId cpu : cpus)
        if (processors.empty() && graph[cpu].numaNode == vertex.numaNode)
          processors = graph[cpu].affinity;
      row.push_back(processors.empty() ? "N/A" : processors);
      row.push_back(vertex.numaNode < 0 ? "N/A" : std::to_string(vertex.numaNode));
    }
    rows.push_back(std::move(row));
  }
  std::string text = aligned(rows);
  if (nics.empty())
    return text;
  text += "\nNIC Legend:\n\n";
  for (size_t i = 0; i < nics.size(); ++i)
    text += fmt::format("  NIC{}: {}\n", i,
                        graph[nics[i]].ports.empty() ? graph[nics[i]].name
                                                     : graph[nics[i]].ports.front().name);
  return text;
}

} // namespace coil::topology
