//===- Machine.cpp - The topology that coilc compiles for -----------------===//

#include "tools/coilc/Machine.h"

#include "compiler/topology/Source.h"
#include "tools/coilc/Output.h"

#include <iostream>

namespace coil {

using namespace topology;

std::optional<Topology> readMachine(CoilcArguments &arguments) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  std::optional<ReadResult> result = openTopology(arguments.topology, sources, diagnostics);
  if (arguments.diagnostics == "json")
    for (const Diagnostic &diagnostic : diagnostics.diagnostics())
      renderJson(diagnostic, std::cerr);
  else
    render(diagnostics, std::cerr);
  if (!result)
    return std::nullopt;
  Topology &topology = result->topology;
  size_t devices = topology.devices().size(), ofNode = topology.graphOf(0).devices().size();
  auto refuse = [&](std::string message) {
    fail("--topology: " + message);
    return std::nullopt;
  };
  if (devices == 0)
    return refuse(fmt::format("{} has no devices", topology.name));
  for (uint32_t node = 0; node < topology.nodes.size(); ++node)
    if (size_t there = topology.graphOf(node).devices().size(); there != ofNode)
      return refuse(fmt::format("expected nodes with equally many devices, found {} with {} and {} "
                                "with {}",
                                topology.nodes[0].name, ofNode, topology.nodes[node].name, there));
  if (arguments.ranks != 0 && static_cast<size_t>(arguments.ranks) != devices)
    return refuse(
        fmt::format("{} has {} devices, but -n says {}", topology.name, devices, arguments.ranks));
  arguments.ranks = static_cast<int64_t>(devices);
  arguments.nodes = static_cast<int64_t>(topology.nodes.size());
  return std::move(topology);
}

} // namespace coil
