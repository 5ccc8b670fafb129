//===- PlanFuzzer.cpp - Feeds anything to the plan reader -----------------===//
//
// Input is tried as a plan file, and what follows the place of a header as the
// payload of one with a right checksum, which random changes would never hit.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/plan/PlanWriter.h"
#include "runtime/plan/AllRanks.h"
#include "runtime/plan/PlanFile.h"
#include "tools/coil-plan/PlanJson.h"
#include "tools/coil-plan/PlanText.h"

#include <cstdio>
#include <cstdlib>

namespace {

void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "plan_fuzzer: %s\n", what);
  std::abort();
}

/// What the reader accepts must be good for everything else.
void exercise(coil::Result<coil::Plan> plan) {
  if (!plan.isOk()) {
    require(plan.status().code() == coil::StatusCode::InvalidPlan, "expected an invalid plan");
    return;
  }
  require(!coil::planText(*plan).empty() && !coil::planJson(*plan).empty(), "expected a dump");
  coil::Result<std::vector<uint8_t>> bytes = coil::writePlan(*plan);
  require(bytes.isOk(), "expected an accepted plan to be written");
  coil::Result<coil::Plan> again = coil::readPlan(*bytes);
  require(again.isOk(), "expected a written plan to be read");
  again->digest = plan->digest; // the first file need not be laid out as writePlan does
  require(*again == *plan, "expected the same plan again");
  // Of more ranks, the programs of all take long to make.
  if (plan->ranks > 256)
    return;
  coil::Result<coil::Plan> all = coil::withAllRanks(*plan);
  require(!all.isOk() || coil::validatePlan(*all).isOk(), "expected the programs of all ranks");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const uint8_t> bytes(data, size);
  exercise(coil::readPlan(bytes));
  if (size > sizeof(coil::PlanFileHeader))
    exercise(coil::readPlan(coil::wrapPlan(bytes.subspan(sizeof(coil::PlanFileHeader)))));
  return 0;
}
