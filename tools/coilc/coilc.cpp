//===- coilc.cpp - The compiler -------------------------------------------===//

#include "compiler/pipeline/Compilation.h"
#include "compiler/target/plan/PlanWriter.h"
#include "runtime/nvrtc/CubinBundle.h"
#include "runtime/plan/AllRanks.h"
#include "runtime/plan/PlanFile.h"
#include "tools/coilc/Arguments.h"
#include "tools/coilc/KernelForms.h"
#include "tools/coilc/Machine.h"
#include "tools/coilc/MappingText.h"
#include "tools/coilc/Output.h"

#include <fmt/format.h>
#include <iostream>
#include <llvm/Support/raw_ostream.h>
#include <sstream>
#include <unistd.h>

using namespace coil;

namespace {

std::string printModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  text += '\n';
  return text;
}

int writeBundle(const Plan &plan, const CoilcArguments &arguments, const std::string &planPath) {
  Result<std::vector<uint8_t>> bundle = makeCubinBundle(plan, arguments);
  if (!bundle.isOk())
    return fail(bundle.status().message());
  return writeOutput(nvrtc::cubinBundlePath(planPath), *bundle);
}

/// Makes kernels of a plan file.
int runOnPlan(const CoilcArguments &arguments) {
  Result<Plan> plan = readPlanFile(arguments.input);
  if (!plan.isOk())
    return fail(plan.status().message());
  if (arguments.ranks != 0 && arguments.ranks != plan->ranks)
    return fail(fmt::format("{} is for {} ranks, but -n says {}", arguments.input, plan->ranks,
                            arguments.ranks));
  if (!(plan = withAllRanks(*plan)).isOk())
    return fail(plan.status().message());
  if (std::optional<KernelForm> form = parseKernelForm(arguments.emit))
    return emitKernels(*plan, *form, arguments);
  if (arguments.cubinArchs.empty())
    return fail(fmt::format("cannot emit {} from a plan, only kernels: cuda, ptx, cubin, "
                            "resources, or cubins beside it with --cubin",
                            arguments.emit));
  if (arguments.output != "-")
    return fail(fmt::format("{} lies there already, and its cubins go beside it: leave out -o",
                            arguments.input));
  return writeBundle(*plan, arguments, arguments.input);
}

/// Writes the plan, its kernels, or both.
int finishPlan(Compilation &compilation, const CoilcArguments &arguments) {
  std::optional<Plan> exported = compilation.exportPlan();
  if (!exported)
    return 1;
  Result<std::vector<uint8_t>> bytes = writePlan(*exported);
  if (!bytes.isOk())
    return fail(bytes.status().message());
  std::optional<KernelForm> form = parseKernelForm(arguments.emit);
  if (form || !arguments.cubinArchs.empty()) {
    // As the runtime will read it: only then has it a digest.
    Result<Plan> plan = readPlan(*bytes);
    if (!plan.isOk() || !(plan = withAllRanks(*plan)).isOk())
      return fail(plan.status().message());
    if (form)
      return emitKernels(*plan, *form, arguments);
    if (int status = writeBundle(*plan, arguments, arguments.output))
      return status;
  }
  return writeOutput(arguments.output, *bytes);
}

void setOptions(PipelineOptions &options, const CoilcArguments &arguments) {
  options.ranks = arguments.ranks;
  options.root = arguments.root;
  options.nodes = arguments.nodes;
  for (const std::string &parameter : arguments.parameters)
    options.parameters.push_back(parameter);
  options.slots = arguments.slots;
}

void prepare(Compilation &compilation, const CoilcArguments &arguments) {
  if (arguments.diagnostics == "json")
    compilation.writeErrorsAsJson();
  if (arguments.printPasses)
    compilation.printAfterPasses();
}

/// The phase that the input is in.
Phase inputPhase(const CoilcArguments &arguments) {
  if (!arguments.from.empty())
    return *parsePhase(arguments.from);
  return arguments.input.ends_with(".mlir") ? Phase::Coil : Phase::Ast;
}

int explainMapping(const Instance &instance, const topology::Topology &machine,
                   const CoilcArguments &arguments) {
  std::string reason;
  std::optional<std::string> text = mappingText(instance, machine, reason);
  if (!text)
    return fail(fmt::format("{} cannot carry {}: {}", machine.name, instance.name, reason));
  return writeOutput(arguments.output, *text);
}

int runExplain(const CoilcArguments &arguments, const topology::Topology *machine) {
  if (!arguments.cubinArchs.empty())
    return fail("--cubin goes with a plan, and --explain makes none");
  if (arguments.input.ends_with(".plan"))
    return fail(
        fmt::format("--explain reads programs, and {} is a plan: see coil-plan", arguments.input));
  if (arguments.explain == "mapping" && !machine)
    return fail("--explain=mapping needs a machine: --topology SOURCE");
  if (arguments.ranks == 0)
    return fail("--explain needs the number of ranks: -n RANKS");
  Compilation compilation(std::cerr);
  prepare(compilation, arguments);
  if (inputPhase(arguments) == Phase::Ast
          ? !compilation.parse(arguments.input, arguments.importFolders) || !compilation.lower()
          : !compilation.parseModule(arguments.input))
    return 1;
  PipelineOptions options;
  setOptions(options, arguments);
  if (!compilation.select(arguments.algorithm))
    return 1;
  if (arguments.explain == "mapping") {
    std::optional<Instance> instance = compilation.proveInstance(options);
    return instance ? explainMapping(*instance, *machine, arguments) : 1;
  }
  std::optional<Explanation> explanation = compilation.explain(options);
  if (!explanation)
    return 1;
  return writeOutput(arguments.output,
                     arguments.explain == "json" ? toJson(*explanation) : toText(*explanation));
}

int run(CoilcArguments &arguments) {
  bool makesKernels = parseKernelForm(arguments.emit).has_value();
  if (!arguments.cubinArchs.empty() && arguments.emit != "plan")
    return fail(fmt::format("--cubin goes with a plan, but --emit says {}", arguments.emit));
  std::optional<topology::Topology> machine;
  if (!arguments.topology.empty() && !(machine = readMachine(arguments)))
    return 1;
  if (!arguments.explain.empty())
    return runExplain(arguments, machine ? &*machine : nullptr);
  if (arguments.input.ends_with(".plan"))
    return runOnPlan(arguments);
  if (!arguments.cubinArchs.empty() && arguments.output == "-")
    return fail("--cubin writes beside the plan: name the plan's file with -o");

  Phase emit = makesKernels ? Phase::Plan : *parsePhase(arguments.emit);
  Phase from = inputPhase(arguments);
  if (from > emit)
    return fail(
        fmt::format("cannot emit {} from {}, which comes after it", nameOf(emit), nameOf(from)));
  bool instantiates = from <= Phase::Coil && emit > Phase::Coil;
  if (instantiates && arguments.ranks == 0)
    return fail(fmt::format("--emit={} needs the number of ranks: -n RANKS", arguments.emit));
  if (arguments.emit == "plan" && arguments.output == "-" && ::isatty(STDOUT_FILENO))
    return fail("a plan is binary: name a file with -o, or redirect the output");

  Compilation compilation(std::cerr);
  prepare(compilation, arguments);
  if (from == Phase::Ast) {
    if (!compilation.parse(arguments.input, arguments.importFolders))
      return 1;
    if (emit == Phase::Ast) {
      std::ostringstream text;
      dumpAst(compilation.tree(), text);
      return writeOutput(arguments.output, text.str());
    }
    if (!compilation.lower())
      return 1;
  } else if (!compilation.parseModule(arguments.input)) {
    return 1;
  }
  // Programs in the coil dialect may be several; a plan is one.
  if ((emit > Phase::Coil || !arguments.algorithm.empty()) &&
      !compilation.select(arguments.algorithm))
    return 1;

  PipelineOptions options;
  setOptions(options, arguments);
  if (!compilation.run(std::max(from, Phase::Coil), emit, options))
    return 1;
  if (emit != Phase::Plan)
    return writeOutput(arguments.output, printModule(compilation.module()));
  return finishPlan(compilation, arguments);
}

} // namespace

int main(int argc, char **argv) {
  CoilcArguments arguments;
  if (std::optional<int> status = parseArguments(argc, argv, arguments))
    return *status;
  return run(arguments);
}
