//===- coil-plan.cpp - Looks into plan files ------------------------------===//

#include "runtime/plan/PlanFile.h"
#include "tools/coil-plan/PlanJson.h"
#include "tools/coil-plan/PlanText.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>

namespace {

constexpr int exitFailure = 1, exitUsage = 2;

constexpr const char *description =
    "Looks into Coil's plan files: what a compiled collective makes every rank do.";

constexpr const char *footer =
    R"(Example:
  coilc ring.coil --ranks 4 -o ring.plan   # compile a plan
  coil-plan info ring.plan                 # what is it for, how big is it?
  coil-plan dump ring.plan --variant 0     # read one variant's programs
  coil-plan dump ring.plan --json | jq '.variants[0].channels'
  coil-plan check - < ring.plan            # is it whole and valid?

A line of a dump such as
  get_reduce input[0], input[0] on 1 to output[0] length 0 complete  // ring.coil:6:9
reads: combine chunk 0 of this rank's input with chunk 0 of rank 1's into chunk 0 of
this rank's output, as many elements as chunk 0 has, which completes the value; it
comes from line 6 of ring.coil. "c3" is the variant's channel 3, "head c3" the slot at
its head; a prologue and an epilogue run once a call, a body once a tile.

Exit status: 0 if all is well, 1 if the plan cannot be read or is not valid, 2 for a
wrong command line.)";

int fail(const std::string &message) {
  std::fprintf(stderr, "coil-plan: %s\n", message.c_str());
  return exitFailure;
}

coil::Result<coil::Plan> load(const std::string &path) {
  if (path != "-")
    return coil::readPlanFile(path);
  coil::Result<coil::Plan> plan = coil::readPlan(stdin);
  if (!plan.isOk())
    return std::move(plan).status().withContext("standard input");
  return plan;
}

/// A full disk or a closed pipe must not pass for success.
int writeOutput(const std::string &text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail(coil::Status::system(errno, "cannot write standard output").message());
  return 0;
}

int run(int argc, char **argv) {
  CLI::App app(description, "coil-plan");
  app.footer(footer);
  app.require_subcommand(1);

  std::string path;
  auto addCommand = [&](const char *name, const char *what) {
    CLI::App *command = app.add_subcommand(name, what);
    command->add_option("FILE", path, "Plan file, or - for standard input")->required();
    return command;
  };
  CLI::App *dump = addCommand("dump", "Print every operation of every worker");
  bool json = false;
  int64_t variant = 0;
  dump->add_flag("--json", json, "Print JSON, with the names of runtime/plan/plan.fbs");
  CLI::Option *onlyVariant =
      dump->add_option("--variant", variant, "Print this variant alone (they count from 0)")
          ->check(CLI::NonNegativeNumber);
  CLI::App *check = addCommand("check", "Check the file and everything in it; print a line");
  addCommand("info", "Print what the plan is for and how big it is");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : exitUsage;
  }

  coil::Result<coil::Plan> plan = load(path);
  if (!plan.isOk())
    return fail(plan.status().message());
  if (check->parsed())
    return writeOutput("valid " + coil::planSummary(*plan) + "\n");
  if (!dump->parsed())
    return writeOutput(coil::planInfo(*plan));

  std::optional<size_t> only;
  if (onlyVariant->count() > 0)
    only = static_cast<size_t>(variant);
  if (only && *only >= plan->variants.size())
    return fail(fmt::format("{}: expected a variant below {}, found {}", path,
                            plan->variants.size(), *only));
  return writeOutput(json ? coil::planJson(*plan, only) : coil::planText(*plan, only));
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}
