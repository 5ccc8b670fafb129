//===- ExecRun.h - A run of a variant's steps -------------------*- C++ -*-===//
//
// Runs the workers as far as they get. Matching is static and counters only
// grow, so a step that may run stays able to: all runs get equally far, and one
// shows whether the program can deadlock.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_EXECRUN_H
#define COIL_COMPILER_SEMANTICS_EXECRUN_H

#include "compiler/semantics/ExecModel.h"

#include <array>

namespace coil {

class ExecRun {
public:
  explicit ExecRun(const ExecModel &model);
  /// With so many slots in each channel instead of its own.
  ExecRun(const ExecModel &model, std::vector<int64_t> slotsOfChannels);

  bool isFinished() const { return order.size() == totalSteps; }
  /// The steps that ran, in order; those of one barrier are adjacent.
  std::vector<ExecStep> &steps() { return order; }

  bool isBlocked(uint32_t worker) const { return position[worker] < model.workers[worker].steps; }
  /// The step that a blocked worker stands at.
  ExecStep blockedStep(uint32_t worker) const { return {worker, position[worker]}; }
  /// True if the use's counterpart is still to come.
  bool isMissing(ExecUse use, uint32_t channel) const;
  bool isAtBarrier(uint32_t worker) const;

private:
  bool isReady(const ExecOp &op) const;
  void advance(uint32_t worker);
  void arriveAtBarrier(uint32_t worker);
  void wake(uint32_t worker);
  void complete(uint32_t worker, const ExecOp &op);

  const ExecModel &model;
  /// Per channel.
  std::vector<int64_t> slots;
  size_t totalSteps = 0;
  std::vector<ExecStep> order;
  /// Per worker.
  std::vector<uint32_t> position;
  std::vector<bool> isWoken;
  std::vector<uint32_t> woken;
  /// Per channel and use, how often it has happened.
  std::vector<std::array<int64_t, numExecUses>> counts;
};

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXECRUN_H
