//===- ExecSlots.cpp - How many slots channels need -----------------------===//

#include "compiler/semantics/ExecSlots.h"

#include "compiler/semantics/ExecRun.h"

#include <algorithm>

namespace coil {

namespace {

/// Steps that all runs for a variant may take together, about a second's worth.
constexpr size_t mostSteps = 50'000'000;

class SlotSearch {
public:
  explicit SlotSearch(const ExecModel &model) : model(model), slots(model.variant.channels.size()) {
    for (const ExecModel::Worker &worker : model.workers)
      stepsOfRun += worker.steps;
  }

  std::optional<std::vector<int64_t>> run() {
    // No worker has more messages under way in a section than it has operations.
    int64_t enough = 1;
    for (const ExecModel::Worker &worker : model.workers)
      enough = std::max<int64_t>(enough, static_cast<int64_t>(worker.code->body.size()));
    setAll(enough);
    if (!getsThrough())
      return std::nullopt;
    int64_t forAll = least(enough, [&](int64_t number) { setAll(number); });
    setAll(forAll);
    if (forAll == 1)
      return slots;
    for (int64_t &own : slots)
      if (steps < mostSteps)
        own = least(forAll, [&](int64_t number) { own = number; });
    return slots;
  }

private:
  void setAll(int64_t number) { std::ranges::fill(slots, number); }

  bool getsThrough() {
    steps += stepsOfRun;
    return ExecRun(model, slots).isFinished();
  }

  /// The least number from 1 to `enough`, which is enough, that is when it was set.
  template <typename Set> int64_t least(int64_t enough, Set set) {
    int64_t tooFew = 0;
    // Mostly one slot is enough, so that is tried first.
    for (int64_t tried = 1; enough - tooFew > 1; tried = tooFew + (enough - tooFew) / 2) {
      set(tried);
      (getsThrough() ? enough : tooFew) = tried;
    }
    return enough;
  }

  const ExecModel &model;
  std::vector<int64_t> slots;
  size_t stepsOfRun = 0, steps = 0;
};

} // namespace

std::optional<std::vector<int64_t>> fewestSlots(const ExecModel &model) {
  return SlotSearch(model).run();
}

} // namespace coil
