//===- Arguments.cpp - coilc's command line -------------------------------===//

#include "tools/coilc/Arguments.h"
#include "compiler/pipeline/Phases.h"
#include "runtime/codegen/KernelGenerator.h"
#include "tools/coilc/KernelForms.h"
#include "tools/coilc/Output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace coil {

namespace {

constexpr int64_t mostRanks = maxPlanRanks;

/// --emit's explanation: a line for each form.
std::string describeForms() {
  std::string text = "what to write:";
  for (const PhaseFacts &facts : allPhases())
    text += fmt::format("\n  {:<9} {}", facts.name, facts.summary);
  for (const KernelFormFacts &facts : allKernelForms())
    text += fmt::format("\n  {:<9} {}", facts.name, facts.summary);
  return text + "\n(default: plan)";
}

/// Options for kernels as they are written, which parseArguments() then reads.
struct KernelWords {
  std::vector<std::string> types, ops, protocols;
  std::string transport;
  bool inPlace = false, outOfPlace = false;
};

/// The values of an enumeration that names say.
template <typename Value>
std::vector<Value> valuesOf(const std::vector<std::string> &names, int count) {
  std::vector<Value> values;
  for (const std::string &name : names)
    for (int i = 0; i < count; ++i)
      if (name == nameOf(static_cast<Value>(i)))
        values.push_back(static_cast<Value>(i));
  return values;
}

template <typename Value> std::vector<std::string> allNames(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    names.emplace_back(nameOf(static_cast<Value>(i)));
  return names;
}

/// An option whose value is a list with commas; the next argument is no part of it.
CLI::Option *addList(CLI::App &app, const char *option, std::vector<std::string> &values,
                     const char *typeName, const char *description) {
  return app.add_option(option, values, description)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name(typeName)
      ->group("Kernels");
}

void addKernelOptions(CLI::App &app, CoilcArguments &arguments, KernelWords &words) {
  KernelArguments &kernels = arguments.kernels;
  addList(app, "--arch", kernels.archs, "ARCH,...",
          "GPUs to compile for, such as sm_90 or sm_80,sm_90\n(resources: default the usual "
          "ones)");
  addList(app, "--type", words.types, "TYPE,...", "element types (default: f32)")
      ->check(CLI::IsMember(allNames<DataType>(numDataTypes)));
  addList(app, "--op", words.ops, "OP,...", "operators (default: sum)")
      ->check(CLI::IsMember(allNames<ReduceOp>(numReduceOps)));
  addList(app, "--protocol", words.protocols, "PROTOCOL,...",
          "how messages lie in slots (staged variants)\n(default: the algorithm's, or simple; with "
          "--cubin all)")
      ->check(CLI::IsMember(allNames<device::Protocol>(device::numProtocols)));
  app.add_option("--variant", kernels.variant, "the plan's variant of this number, from 0")
      ->type_name("NUMBER")
      ->group("Kernels");
  CLI::Option *inPlace =
      app.add_flag("--in-place", words.inPlace, "variants in place only")->group("Kernels");
  app.add_flag("--out-of-place", words.outOfPlace, "variants out of place only")
      ->excludes(inPlace)
      ->group("Kernels");
  app.add_option("--transport", words.transport, "variants of this transport only")
      ->type_name("TRANSPORT")
      ->check(CLI::IsMember(allNames<Transport>(2)))
      ->group("Kernels");
  addList(app, "--cubin", arguments.cubinArchs, "ARCH,...",
          "also compile the plan's kernels for these GPUs, into PLAN.cubins beside the\n"
          "plan, for machines without NVRTC; --type, --op and --protocol say which");
}

void readKernelWords(const KernelWords &words, KernelArguments &kernels) {
  if (!words.types.empty())
    kernels.types = valuesOf<DataType>(words.types, numDataTypes);
  if (!words.ops.empty())
    kernels.ops = valuesOf<ReduceOp>(words.ops, numReduceOps);
  kernels.protocols = valuesOf<device::Protocol>(words.protocols, device::numProtocols);
  if (!words.transport.empty())
    kernels.transport = valuesOf<Transport>({words.transport}, 2).front();
  if (words.inPlace || words.outOfPlace)
    kernels.inPlace = words.inPlace;
}

} // namespace

std::optional<int> parseArguments(int argc, char **argv, CoilcArguments &arguments) {
  CLI::App app("Compiles an algorithm for collective communication: proves that it computes the\n"
               "collective, schedules it for a number of ranks, proves the result again and\n"
               "writes a plan for Coil's runtime, or the kernels that run the plan on GPUs.\n\n"
               "  coilc examples/allreduce/ring.coil -n 4 -o ring.plan\n"
               "  coilc examples/allreduce/ring.coil -n 2 --emit=exec\n"
               "  coil-run ring.plan --bytes 1M --check\n"
               "  coilc examples/allreduce/ring.coil -n 8 --explain\n"
               "  coilc examples/allreduce/ring.coil --topology dgx-1v --explain=mapping\n"
               "  coilc ring.plan --emit=cuda --variant 0\n"
               "  coilc ring.plan --emit=cubin --arch=sm_90 --type bf16 -o ring.cubin\n"
               "  coilc ring.plan --cubin sm_80,sm_90 --type f32,bf16\n",
               "coilc");
  app.set_version_flag("--version", "coilc " COIL_VERSION_STRING);
  app.add_option("file", arguments.input,
                 "program: .coil text, or .mlir in the coil dialect; - is standard input;\n"
                 "or a .plan, to make kernels of")
      ->required()
      ->type_name("FILE");
  app.add_option("-n,--ranks", arguments.ranks, "number of ranks")->type_name("RANKS");
  app.add_option("-o,--output", arguments.output,
                 "file to write (default: standard output); for cuda, ptx and cubin also a\n"
                 "folder, FOLDER/, for one file a kernel")
      ->type_name("FILE");
  std::vector<std::string> names, phases;
  for (const PhaseFacts &facts : allPhases())
    phases.emplace_back(facts.name);
  names = phases;
  for (const KernelFormFacts &facts : allKernelForms())
    names.emplace_back(facts.name);
  CLI::Option *emit = app.add_option("--emit", arguments.emit, describeForms())
                          ->type_name("FORM")
                          ->check(CLI::IsMember(names));
  app.add_option("--compile-from", arguments.from,
                 "the phase that the input is in (default: ast for text, coil for .mlir)")
      ->type_name("PHASE")
      ->check(CLI::IsMember(phases));
  app.add_option("--root", arguments.root,
                 "compile for this root only (default: a variant for every root)")
      ->type_name("RANK")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--algorithm", arguments.algorithm, "the algorithm, where the file has several")
      ->type_name("NAME");
  CLI::Option *nodes = app.add_option("--nodes", arguments.nodes,
                                      "nodes that the ranks lie on, equally many on each")
                           ->type_name("NODES")
                           ->capture_default_str()
                           ->check(CLI::Range(int64_t{1}, mostRanks));
  app.add_option("--topology", arguments.topology,
                 "machine or cluster that gives ranks and nodes: a file as coil-topo reads it,\n"
                 "or a preset such as dgx-a100 or 'dgx-h100 x 16'")
      ->type_name("SOURCE")
      ->excludes(nodes);
  app.add_option("--param", arguments.parameters,
                 "value of a parameter of the algorithm; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("-I,--import-folder", arguments.importFolders,
                 "folder where imports are looked for; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  app.add_option("--slots", arguments.slots, "slots of a staged channel")
      ->type_name("SLOTS")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_flag("--explain{text}", arguments.explain,
               "tell what the program does instead of compiling it: steps, traffic of each rank,\n"
               "scratch and slots, and the least that its collective needs; --explain=json for\n"
               "scripts; --explain=mapping places the ranks on the topology's devices and tells\n"
               "what its links carry; of a collective with a root, for root 0 or --root")
      ->type_name("")
      ->check(CLI::IsMember({"text", "json", "mapping"}))
      ->excludes(emit);
  app.add_option("--diagnostics", arguments.diagnostics,
                 "how errors are written: text; or json, an object a line with severity, file,\n"
                 "line, column, end_line, end_column, message, and notes, a list of the same")
      ->type_name("FORM")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--print-ir", arguments.printPasses, "print the IR after each pass that changes it");
  KernelWords words;
  addKernelOptions(app, arguments, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (arguments.diagnostics == "json")
    failAsJson();
  if (app.count("--ranks") > 0 && (arguments.ranks < 1 || arguments.ranks > mostRanks)) {
    fail(fmt::format("--ranks: expected 1 to {}, found {}", mostRanks, arguments.ranks));
    return 2;
  }
  readKernelWords(words, arguments.kernels);
  return std::nullopt;
}

} // namespace coil
