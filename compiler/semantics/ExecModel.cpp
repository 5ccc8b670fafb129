//===- ExecModel.cpp - A variant as verify-exec sees it -------------------===//

#include "compiler/semantics/ExecModel.h"

#include "compiler/semantics/ExecSymmetry.h"

#include <fmt/format.h>

namespace coil {

const char *nameOf(ExecSection section) {
  switch (section) {
  case ExecSection::Prologue:
    return "prologue";
  case ExecSection::Body:
    return "body";
  case ExecSection::Epilogue:
    return "epilogue";
  }
  return "";
}

ExecUse counterpartOf(ExecUse use) {
  switch (use) {
  case ExecUse::SendData:
    return ExecUse::ReceiveData;
  case ExecUse::ReceiveData:
    return ExecUse::SendData;
  case ExecUse::Signal:
    return ExecUse::Wait;
  case ExecUse::Wait:
    return ExecUse::Signal;
  }
  return use;
}

bool movesData(ExecOpKind kind) {
  switch (kind) {
  case ExecOpKind::Signal:
  case ExecOpKind::Wait:
  case ExecOpKind::Meet:
  case ExecOpKind::Barrier:
    return false;
  default:
    return true;
  }
}

bool writesMemory(ExecOpKind kind) {
  return movesData(kind) && kind != ExecOpKind::Send && kind != ExecOpKind::Push;
}

bool combinesOperands(ExecOpKind kind) {
  switch (kind) {
  case ExecOpKind::Reduce:
  case ExecOpKind::RecvReduce:
  case ExecOpKind::GetReduce:
  case ExecOpKind::PopReduce:
    return true;
  default:
    return false;
  }
}

ExecModel::ExecModel(const ExecPlan &plan, const ExecVariant &variant, bool inPlace)
    : plan(plan), variant(variant), inPlace(inPlace),
      shape{plan.collective, plan.ranks, variant.root, plan.chunks, plan.contract} {
  int64_t userChunks = shape.inputChunks() + shape.outputChunks();
  firstWorker.push_back(0);
  locationBase.push_back(0);
  for (size_t kind = 0; kind < variant.programs.size(); ++kind) {
    for (const ExecWorker &code : variant.programs[kind]) {
      size_t steps = code.prologue.size() + tiles * code.body.size() + code.epilogue.size();
      int64_t indexInRank = static_cast<int64_t>(workers.size() - firstWorker.back());
      workers.push_back({&code, symmetry().representative(static_cast<int64_t>(kind)), indexInRank,
                         static_cast<uint32_t>(steps)});
    }
    firstWorker.push_back(static_cast<uint32_t>(workers.size()));
    locationBase.push_back(locationBase.back() +
                           static_cast<size_t>(userChunks + variant.scratch[kind]));
  }
}

uint32_t ExecModel::workerAt(const ExecChannel &channel, ExecUse use) const {
  bool source = use == ExecUse::SendData || use == ExecUse::Signal;
  return source ? workerAt(channel.sourceRank, channel.sourceWorker)
                : workerAt(channel.destinationRank, channel.destinationWorker);
}

const std::vector<ExecOp> &ExecModel::operations(uint32_t worker, ExecSection section) const {
  const ExecWorker &code = *workers[worker].code;
  switch (section) {
  case ExecSection::Prologue:
    return code.prologue;
  case ExecSection::Body:
    return code.body;
  case ExecSection::Epilogue:
    break;
  }
  return code.epilogue;
}

ExecSection ExecModel::sectionOf(ExecStep step) const {
  const ExecWorker &code = *workers[step.worker].code;
  if (step.position < code.prologue.size())
    return ExecSection::Prologue;
  return step.position < code.prologue.size() + tiles * code.body.size() ? ExecSection::Body
                                                                         : ExecSection::Epilogue;
}

uint32_t ExecModel::tileOf(ExecStep step) const {
  if (sectionOf(step) != ExecSection::Body)
    return 0;
  const ExecWorker &code = *workers[step.worker].code;
  return static_cast<uint32_t>((step.position - code.prologue.size()) / code.body.size());
}

ExecStep ExecModel::sectionBegin(ExecStep step) const {
  const ExecWorker &code = *workers[step.worker].code;
  size_t begin = 0;
  switch (sectionOf(step)) {
  case ExecSection::Prologue:
    break;
  case ExecSection::Body:
    begin = code.prologue.size() + tileOf(step) * code.body.size();
    break;
  case ExecSection::Epilogue:
    begin = code.prologue.size() + tiles * code.body.size();
    break;
  }
  return {step.worker, static_cast<uint32_t>(begin)};
}

const ExecOp &ExecModel::op(ExecStep step) const {
  return operations(step.worker, sectionOf(step))[step.position - sectionBegin(step).position];
}

std::optional<int64_t> ExecModel::sharedOutput(const ExecPlace &place) const {
  if (!inPlace || place.buffer != ExecBuffer::Input)
    return std::nullopt;
  return shape.inputToOutputInPlace(place.rank, place.index);
}

size_t ExecModel::locationOf(const ExecPlace &image) const {
  ExecPlace place =
      shiftPlace(shape, symmetry(), image, symmetry().inverse(symmetry().shiftOf(image.rank)));
  int64_t index = place.index;
  switch (place.buffer) {
  case ExecBuffer::Output:
    break;
  case ExecBuffer::Input:
    if (auto shared = sharedOutput(place))
      index = *shared;
    else
      index += shape.outputChunks();
    break;
  case ExecBuffer::Scratch:
    index += shape.outputChunks() + shape.inputChunks();
    break;
  }
  return locationBase[static_cast<size_t>(symmetry().kindOf(place.rank))] +
         static_cast<size_t>(index);
}

bool ExecModel::isOnlyInput(const ExecPlace &place) const {
  return place.buffer == ExecBuffer::Input && !sharedOutput(place);
}

bool ExecModel::exists(const ExecPlace &place) const {
  switch (place.buffer) {
  case ExecBuffer::Input:
    return shape.hasInput(place.rank);
  case ExecBuffer::Output:
    return shape.hasOutput(place.rank);
  case ExecBuffer::Scratch:
    break;
  }
  return true;
}

std::string ExecModel::describeWorker(uint32_t worker) const {
  const Worker &described = workers[worker];
  if (workersOf(described.rank) == 1)
    return fmt::format("rank {}", described.rank);
  return fmt::format("rank {} worker {}", described.rank, described.indexInRank);
}

std::string ExecModel::describe(const ExecPlace &place) {
  return fmt::format("{}[{}] on rank {}", nameOf(place.buffer), place.index, place.rank);
}

std::string ExecModel::describeFrom(const ExecPlace &place, int64_t rank) {
  return place.rank == rank ? fmt::format("{}[{}]", nameOf(place.buffer), place.index)
                            : describe(place);
}

} // namespace coil
