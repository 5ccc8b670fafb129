//===- ExecRun.cpp - A run of a variant's steps ---------------------------===//

#include "compiler/semantics/ExecRun.h"

#include <utility>

namespace coil {

static std::vector<int64_t> ownSlots(const ExecModel &model) {
  std::vector<int64_t> slots;
  for (const ExecChannel &channel : model.variant.channels)
    slots.push_back(channel.slots);
  return slots;
}

ExecRun::ExecRun(const ExecModel &model) : ExecRun(model, ownSlots(model)) {}

ExecRun::ExecRun(const ExecModel &model, std::vector<int64_t> slotsOfChannels)
    : model(model), slots(std::move(slotsOfChannels)), position(model.workers.size()),
      isWoken(model.workers.size()), counts(model.variant.channels.size()) {
  for (const ExecModel::Worker &worker : model.workers)
    totalSteps += worker.steps;
  order.reserve(totalSteps);
  // The last one woken runs first; begin with rank 0.
  for (size_t worker = model.workers.size(); worker > 0; --worker)
    wake(static_cast<uint32_t>(worker - 1));
  while (!woken.empty()) {
    uint32_t worker = woken.back();
    woken.pop_back();
    isWoken[worker] = false;
    advance(worker);
  }
}

bool ExecRun::isMissing(ExecUse use, uint32_t channel) const {
  auto happened = [&](ExecUse other) { return counts[channel][static_cast<size_t>(other)]; };
  switch (use) {
  case ExecUse::SendData:
    return model.variant.transport == ExecTransport::Staged &&
           happened(ExecUse::SendData) - happened(ExecUse::ReceiveData) >= slots[channel];
  case ExecUse::Signal:
    return false;
  case ExecUse::ReceiveData:
  case ExecUse::Wait:
    return happened(counterpartOf(use)) <= happened(use);
  }
  return false;
}

bool ExecRun::isReady(const ExecOp &op) const {
  bool ready = true;
  forEachUse(op, [&](ExecUse use, uint32_t channel) { ready &= !isMissing(use, channel); });
  return ready;
}

bool ExecRun::isAtBarrier(uint32_t worker) const {
  return isBlocked(worker) && model.op(blockedStep(worker)).kind == ExecOpKind::Barrier;
}

void ExecRun::wake(uint32_t worker) {
  if (!isWoken[worker]) {
    isWoken[worker] = true;
    woken.push_back(worker);
  }
}

void ExecRun::advance(uint32_t worker) {
  while (isBlocked(worker)) {
    const ExecOp &op = model.op(blockedStep(worker));
    if (op.kind == ExecOpKind::Barrier)
      return arriveAtBarrier(worker);
    if (!isReady(op))
      return;
    complete(worker, op);
  }
}

void ExecRun::complete(uint32_t worker, const ExecOp &op) {
  order.push_back({worker, position[worker]++});
  forEachUse(op, [&](ExecUse use, uint32_t channel) {
    ++counts[channel][static_cast<size_t>(use)];
    wake(model.workerAt(model.channel(channel), counterpartOf(use)));
  });
}

void ExecRun::arriveAtBarrier(uint32_t worker) {
  int64_t rank = model.workers[worker].rank;
  uint32_t first = model.firstWorkerOf(rank), end = first + model.workersOf(rank);
  for (uint32_t other = first; other < end; ++other)
    if (!isAtBarrier(other))
      return;
  for (uint32_t other = first; other < end; ++other)
    order.push_back({other, position[other]++});
  for (uint32_t other = end; other > first; --other)
    wake(other - 1);
}

} // namespace coil
