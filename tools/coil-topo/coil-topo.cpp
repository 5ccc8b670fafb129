//===- coil-topo.cpp - Shows topologies -----------------------------------===//

#include "compiler/topology/Presets.h"
#include "compiler/topology/Source.h"
#include "tools/coil-topo/BoundText.h"

#include <CLI/CLI.hpp>
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
  command->add_option("SOURCE", source, "File, - for standard input, or preset")->required();
  return command;
}

std::string presetsText() {
  std::string text;
  for (const PresetFacts &preset : allPresets())
    text += fmt::format("{:<12} {}\n", preset.name, preset.summary);
  return text;
}

int run(int argc, char **argv) {
  CLI::App app(description, "coil-topo");
  app.require_subcommand(1);
  app.footer("Examples:\n"
             "  coil-topo show system.xml\n"
             "  nvidia-smi topo -m | coil-topo show -\n"
             "  coil-topo bound 'dgx-h100 x 16'");
  std::string source;
  bool asJson = false;
  addCommand(app, "show", "Print a topology's facts as JSON", source);
  CLI::App *bound = addCommand(
      app, "bound", "Print the throughput that no schedule can beat, and what limits it", source);
  bound->add_flag("--json", asJson, "As JSON");
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
  std::optional<ReadResult> result = openTopology(source, sources, diagnostics);
  render(diagnostics, std::cerr);
  if (!result)
    return exitFailure;
  if (app.got_subcommand("show"))
    return writeOutput(result->facts.text() + "\n");
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
