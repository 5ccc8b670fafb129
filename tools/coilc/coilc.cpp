//===- coilc.cpp - The compiler -------------------------------------------===//

#include "compiler/pipeline/Compilation.h"
#include "compiler/target/plan/PlanWriter.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <llvm/Support/raw_ostream.h>
#include <sstream>
#include <unistd.h>

using namespace coil;

namespace {

struct Arguments {
  std::string input;
  std::string output = "-";
  std::string algorithm;
  std::string emit;
  std::string from;
  int64_t ranks = 0;
  int64_t root = -1;
  int64_t slots = 4;
  bool printPasses = false;
};

/// --emit's explanation: a line for each phase.
std::string describePhases() {
  std::string text = "what to write:";
  for (const PhaseFacts &facts : allPhases())
    text += fmt::format("\n  {:<8} {}", facts.name, facts.summary);
  return text + "\n(default: plan)";
}

int fail(const std::string &message) {
  fmt::print(stderr, "coilc: {}\n", message);
  return 1;
}

/// Writes to the file at `path` ("-": standard output); a file appears whole or
/// not at all.
bool writeOutput(const std::string &path, std::string_view bytes) {
  bool standard = path == "-";
  std::string temporary = path + ".tmp";
  std::FILE *file = standard ? stdout : std::fopen(temporary.c_str(), "wb");
  if (!file) {
    fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    return false;
  }
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  written &= (standard ? std::fflush(file) : std::fclose(file)) == 0;
  if (written && !standard)
    written = std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    if (!standard)
      std::remove(temporary.c_str());
  }
  return written;
}

std::string printModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  text += '\n';
  return text;
}

int run(const Arguments &arguments) {
  Phase emit = *parsePhase(arguments.emit);
  Phase from = arguments.from.empty()
                   ? (arguments.input.ends_with(".mlir") ? Phase::Coil : Phase::Ast)
                   : *parsePhase(arguments.from);
  if (from > emit)
    return fail(
        fmt::format("cannot emit {} from {}, which comes after it", nameOf(emit), nameOf(from)));
  bool instantiates = from <= Phase::Coil && emit > Phase::Coil;
  if (instantiates && arguments.ranks == 0)
    return fail(fmt::format("--emit={} needs the number of ranks: -n RANKS", arguments.emit));
  if (emit == Phase::Plan && arguments.output == "-" && ::isatty(STDOUT_FILENO))
    return fail("a plan is binary: name a file with -o, or redirect the output");

  Compilation compilation(std::cerr);
  if (arguments.printPasses)
    compilation.printAfterPasses();
  if (from == Phase::Ast) {
    if (!compilation.parse(arguments.input))
      return 1;
    if (emit == Phase::Ast) {
      std::ostringstream text;
      dumpAst(compilation.tree(), text);
      return writeOutput(arguments.output, text.str()) ? 0 : 1;
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
  options.ranks = arguments.ranks;
  options.root = arguments.root;
  options.slots = arguments.slots;
  if (!compilation.run(std::max(from, Phase::Coil), emit, options))
    return 1;
  if (emit != Phase::Plan)
    return writeOutput(arguments.output, printModule(compilation.module())) ? 0 : 1;

  std::optional<Plan> plan = compilation.exportPlan();
  if (!plan)
    return 1;
  Result<std::vector<uint8_t>> bytes = writePlan(*plan);
  if (!bytes.isOk())
    return fail(bytes.status().message());
  return writeOutput(arguments.output,
                     {reinterpret_cast<const char *>(bytes->data()), bytes->size()})
             ? 0
             : 1;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Compiles an algorithm for collective communication: proves that it computes the\n"
               "collective, schedules it for a number of ranks, proves the result again and\n"
               "writes a plan for Coil's runtime.\n\n"
               "  coilc examples/allreduce/ring.coil -n 4 -o ring.plan\n"
               "  coilc examples/allreduce/ring.coil -n 2 --emit=exec\n"
               "  coil-run ring.plan --bytes 1M --check\n",
               "coilc");
  app.set_version_flag("--version", "coilc " COIL_VERSION_STRING);
  app.add_option("file", arguments.input,
                 "program: .coil text, or .mlir in the coil dialect; - is standard input")
      ->required()
      ->type_name("FILE");
  app.add_option("-n,--ranks", arguments.ranks, "number of ranks")->type_name("RANKS");
  app.add_option("-o,--output", arguments.output, "file to write (default: standard output)")
      ->type_name("FILE");
  std::vector<std::string> names;
  for (const PhaseFacts &facts : allPhases())
    names.emplace_back(facts.name);
  app.add_option("--emit", arguments.emit, describePhases())
      ->type_name("PHASE")
      ->default_val("plan")
      ->check(CLI::IsMember(names));
  app.add_option("--compile-from", arguments.from,
                 "the phase that the input is in (default: ast for text, coil for .mlir)")
      ->type_name("PHASE")
      ->check(CLI::IsMember(names));
  app.add_option("--root", arguments.root,
                 "compile for this root only (default: a variant for every root)")
      ->type_name("RANK")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--algorithm", arguments.algorithm, "the algorithm, where the file has several")
      ->type_name("NAME");
  app.add_option("--slots", arguments.slots, "slots of a staged channel")
      ->type_name("SLOTS")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_flag("--print-ir", arguments.printPasses, "print the IR after each pass that changes it");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (app.count("--ranks") > 0 && (arguments.ranks < 1 || arguments.ranks > (1 << 20))) {
    fail(fmt::format("--ranks: expected 1 to {}, found {}", 1 << 20, arguments.ranks));
    return 2;
  }
  return run(arguments);
}
