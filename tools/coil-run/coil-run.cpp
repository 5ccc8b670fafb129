//===- coil-run.cpp - Runs, checks and times a collective -----------------===//

#include "compiler/target/plan/PlanWriter.h"
#include "runtime/plan/PlanFile.h"
#include "tools/coil-run/Gpu.h"
#include "tools/coil-run/Job.h"
#include "tools/coil-run/Launcher.h"
#include "tools/coil-run/Options.h"
#include "tools/coil-run/PlanSource.h"
#include "tools/coil-run/Report.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

using namespace coil;

constexpr int exitFailure = 1, exitUsage = 2, exitSignal = 128;

int fail(int status, const std::string &message) {
  std::fprintf(stderr, "coil-run: %s\n", message.c_str());
  return status;
}

int fail(const Status &status) {
  return fail(status.code() == StatusCode::InvalidArgument ? exitUsage : exitFailure,
              status.message());
}

int runTool(int argc, char **argv) {
  Result<run::CommandLine> line = run::parseCommandLine(argc, argv);
  if (!line.isOk())
    return fail(exitUsage, line.status().message() + "\nRun coil-run --help for help.");
  if (!line->options) {
    std::fputs(line->text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : fail(exitFailure, "cannot write standard output");
  }

  Result<std::optional<Plan>> plan = run::obtainPlan(*line->options);
  if (!plan.isOk())
    return fail(plan.status());
  if (!*plan)
    return exitFailure;
  Result<std::vector<uint8_t>> bytes = writePlan(**plan);
  if (!bytes.isOk())
    return fail(bytes.status());
  // As the ranks will read it: only then has it a digest.
  Result<Plan> loaded = readPlan(*bytes);
  if (!loaded.isOk())
    return fail(loaded.status());
  Result<run::Job> job =
      run::makeJob(*std::move(line->options), *std::move(loaded), *std::move(bytes));
  if (!job.isOk())
    return fail(job.status());

  if (job->options.target == run::Target::CudaEmulated) {
    Result<std::string> library = run::findEmulatedLibrary();
    if (!library.isOk())
      return fail(library.status());
    job->emulatedLibrary = *std::move(library);
    // Another NVRTC, or none at all, can be put in its place.
    if (!std::getenv("COIL_NVRTC_LIBRARY"))
      job->nvrtcLibrary = job->emulatedLibrary;
  }

  run::Report report(*job);
  if (Status opened = report.open(); !opened.isOk())
    return fail(opened);
  Result<run::RunEnd> end = run::runRanks(*job, report);
  if (!end.isOk())
    return fail(end.status());
  bool failed = end->failed || end->signal != 0;
  if (Status written = report.finish(failed); !written.isOk())
    return fail(written);
  if (end->signal != 0)
    return exitSignal + end->signal;
  return failed || report.wrongElements() > 0 ? exitFailure : 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return runTool(argc, argv);
  } catch (const std::exception &error) {
    return fail(exitFailure, error.what());
  }
}
