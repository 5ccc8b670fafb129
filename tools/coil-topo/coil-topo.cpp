//===- coil-topo.cpp - Shows topologies -----------------------------------===//

#include "compiler/topology/Concerns.h"
#include "compiler/topology/Presets.h"
#include "compiler/topology/Source.h"
#include "compiler/topology/Sysfs.h"
#include "tools/coil-topo/BoundText.h"
#include "tools/coil-topo/MatrixText.h"
#include "tools/coil-topo/RingText.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace {

using namespace coil::topology;

constexpr int exitFailure = 1, exitUsage = 2;

constexpr const char *description =
    "Shows the topology of a machine or a cluster: of files (NCCL's and RCCL's XML, and the matrix "
    "that nvidia-smi topo -m prints), and of presets such as dgx-h100 or 'dgx-h100 x 16'.";

int fail(const std::string &message) {
  std::fprintf(stderr, "coil-topo: %s\n", message.c_str());
  return exitFailure;
}

/// A full disk or a closed pipe must not pass for success.
int writeOutput(const std::string &text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail(fmt::format("cannot write standard output: {}", std::strerror(errno)));
  return 0;
}

/// Adds a command that takes a topology.
CLI::App *addCommand(CLI::App &app, const char *name, const char *summary, std::string &source) {
  CLI::App *command = app.add_subcommand(name, summary);
  command
      ->add_option("SOURCE", source, "File, - for standard input, host for this machine, or preset")
      ->required();
  return command;
}

std::string presetsText() {
  std::string text;
  for (const PresetFacts &preset : allPresets())
    text += fmt::format("{:<12} {}\n", preset.name, preset.summary);
  return text;
}

/// The rings of a machine through GPUs of some numbers, or (without numbers) of all there is.
std::optional<RingReport> reportRings(const Topology &topology,
                                      const std::vector<int32_t> &numbers) {
  RingReport report;
  report.topology = topology.name;
  report.nodes = uint32_t(topology.nodes.size());
  const Graph &graph = topology.graphOf(0);
  std::vector<VertexId> devices = graph.devices();
  if (!numbers.empty() && report.nodes > 1) {
    fail("--devices: expected a topology of one machine");
    return std::nullopt;
  }
  if (numbers.empty()) {
    std::string reason;
    std::optional<RingPlan> plan = planRings(topology, reason);
    if (!plan) {
      fail(fmt::format("{}: no rings: {}", topology.name, reason));
      return std::nullopt;
    }
    report.plan = *std::move(plan);
    report.bound = throughputBound(topology);
  } else {
    std::vector<VertexId> chosen;
    for (int32_t number : numbers) {
      auto found = std::find_if(devices.begin(), devices.end(),
                                [&](VertexId id) { return graph[id].index == number; });
      if (found == devices.end() ||
          std::find(chosen.begin(), chosen.end(), *found) != chosen.end()) {
        fail(fmt::format("--devices: expected numbers of devices of {}, each once, found {}",
                         topology.name, number));
        return std::nullopt;
      }
      chosen.push_back(*found);
    }
    // The others do not pass anything on.
    auto isUsed = [&](const Link &link) {
      for (VertexId device : devices)
        if ((link.from == device || link.to == device) &&
            std::find(chosen.begin(), chosen.end(), device) == chosen.end())
          return false;
      return true;
    };
    report.plan = planRings(graph, chosen);
    report.bound = throughputBound(graph, chosen, isUsed);
    devices = std::move(chosen);
  }
  for (VertexId device : devices)
    report.names.push_back(graph[device].name);
  return report;
}

/// One line a concern; of a cluster, of each type of machine.
int checkTopology(const Topology &topology) {
  std::string text;
  for (const Machine &machine : topology.types)
    for (const Concern &concern : concernsOf(machine.graph))
      text += fmt::format("{}: {}: {}\n", machine.name, concern.what, concern.text);
  if (text.empty())
    return writeOutput(fmt::format("{}: nothing that hurts is seen\n", topology.name));
  int status = writeOutput(text);
  return status == 0 ? exitFailure : status;
}

int run(int argc, char **argv) {
  CLI::App app(description, "coil-topo");
  app.require_subcommand(1);
  app.footer("Examples:\n"
             "  coil-topo show system.xml\n"
             "  nvidia-smi topo -m | coil-topo show -\n"
             "  coil-topo bound 'dgx-h100 x 16'\n"
             "  coil-topo rings dgx-1v --devices 0,1,2,3");
  std::string source;
  bool asJson = false;
  addCommand(app, "show", "Print a topology's facts as JSON", source);
  addCommand(app, "matrix", "Print the distances of a machine as nvidia-smi topo -m does", source);
  addCommand(app, "check", "Look for what slows collectives; the exit status is 1 if there is any",
             source);
  CLI::App *bound = addCommand(
      app, "bound", "Print the throughput that no schedule can beat, and what limits it", source);
  bound->add_flag("--json", asJson, "As JSON");
  std::string sysfs = "/sys";
  CLI::App *detect = app.add_subcommand("detect", "Print the facts of this machine as JSON");
  detect->add_option("--sysfs", sysfs, "Copy of /sys to read; a copy of /proc may lie beside it")
      ->type_name("DIR")
      ->capture_default_str();
  CLI::App *rings =
      addCommand(app, "rings", "Plan rings that share no NVLink, by rail between nodes", source);
  std::vector<int32_t> numbers;
  rings->add_flag("--json", asJson, "As JSON");
  rings->add_option("--devices", numbers, "Only these GPUs of a machine, such as 0,1,4,5")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NUMBER,...");
  app.add_subcommand("presets", "List the machines that are known by name");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : exitUsage;
  }
  if (app.got_subcommand("presets"))
    return writeOutput(presetsText());
  coil::SourceManager sources;
  coil::DiagnosticEngine diagnostics;
  bool detects = app.got_subcommand("detect");
  std::optional<ReadResult> result =
      detects ? readSysfs(sysfs, diagnostics) : openTopology(source, sources, diagnostics);
  render(diagnostics, std::cerr);
  if (!result)
    return exitFailure;
  if (detects || app.got_subcommand("show"))
    return writeOutput(result->facts.text() + "\n");
  if (app.got_subcommand("matrix")) {
    if (result->topology.types.size() > 1)
      return fail("matrix: expected machines of one type");
    return writeOutput(matrixText(result->topology.graphOf(0)));
  }
  if (app.got_subcommand("check"))
    return checkTopology(result->topology);
  if (app.got_subcommand("rings")) {
    std::optional<RingReport> report = reportRings(result->topology, numbers);
    if (!report)
      return exitFailure;
    return writeOutput(asJson ? ringJson(*report).text() + "\n" : ringText(*report));
  }
  ThroughputBound limit = throughputBound(result->topology);
  return writeOutput(asJson ? boundJson(result->topology, limit).text() + "\n"
                            : boundText(result->topology, limit));
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}
