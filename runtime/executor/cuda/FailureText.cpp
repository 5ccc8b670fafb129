//===- FailureText.cpp - What a device's failure report means -------------===//

#include "runtime/executor/cuda/FailureText.h"

namespace coil::cuda {

using device::FailureKind;
using device::FailureReport;

namespace {

/// The operation at a location, which all variants name alike.
const char *operationAt(const Plan &plan, uint32_t rank, uint32_t worker, uint32_t location) {
  for (const PlanVariant &variant : plan.variants) {
    const PlanProgram &program = variant.programs[variant.programOfKind[rank]];
    if (worker >= program.workers.size())
      continue;
    const PlanWorker &found = program.workers[worker];
    for (const auto *section : {&found.prologue, &found.body, &found.epilogue})
      for (const PlanOp &op : *section)
        if (op.location == location && op.kind != OpKind::Copy)
          return nameOf(op.kind);
  }
  return "an operation";
}

std::string describeOperation(const FailureContext &context, const FailureReport &report) {
  std::string text = operationAt(context.plan, context.rank, report.worker, report.location);
  if (report.location < context.plan.locations.size()) {
    const PlanLocation &location = context.plan.locations[report.location];
    text += fmt::format(" ({}:{}:{})", location.file, location.line, location.column);
  }
  return text;
}

} // namespace

std::string describeWait(const FailureContext &context, const FailureReport &report) {
  std::string whom =
      report.peer == context.rank ? "its own workers" : fmt::format("rank {}", report.peer);
  return fmt::format("{} in {}, worker {}, instance {}", whom, describeOperation(context, report),
                     report.worker, report.instance);
}

Status failureOf(const FailureContext &context, const FailureReport &report) {
  switch (report.kind) {
  case FailureKind::TimedOut:
    return Status::error(StatusCode::Timeout,
                         "rank {} waited {:.1f} s for {}: expected number {}, found {}",
                         context.rank, static_cast<double>(context.timeoutMs) / 1000,
                         describeWait(context, report), report.expected, report.found);
  case FailureKind::Disagreement: {
    if (report.peer < context.logs.size()) {
      std::optional<CallFacts> mine = context.logs[context.rank]->find(report.expected);
      std::optional<CallFacts> theirs = context.logs[report.peer]->find(report.found);
      if (mine && theirs && !(*mine == *theirs))
        return disagreement(context.rank, *mine, report.peer, *theirs);
    }
    return Status::error(StatusCode::InvalidUsage,
                         "rank {} is in another call than rank {}, which found it in {}",
                         report.peer, context.rank, describeOperation(context, report));
  }
  case FailureKind::BadWindow:
    return Status::error(StatusCode::InvalidUsage,
                         "a buffer of rank {} that rank {} uses in {} does not lie in memory that "
                         "is registered with this communicator",
                         report.peer, context.rank, describeOperation(context, report));
  case FailureKind::Aborted:
    return Status::error(StatusCode::Aborted, "rank {} was waiting for {}", context.rank,
                         describeWait(context, report));
  case FailureKind::None:
    break;
  }
  return Status::error(StatusCode::InternalError, "rank {} failed for reason {}", context.rank,
                       static_cast<unsigned>(report.kind));
}

} // namespace coil::cuda
