//===- Rolling.cpp - Loops found in sequences -----------------------------===//

#include "runtime/codegen/Rolling.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace coil::codegen {

namespace {

/// Items that a loop's step may have: bounds the time of the search.
constexpr size_t longestPeriod = 256;
constexpr size_t deepestLoop = 4;

class Roller {
public:
  Roller(std::span<const uint32_t> shapes, const RollPolicy &policy)
      : shapes(shapes), policy(policy) {}

  std::vector<Rolled> roll(size_t begin, size_t end);

private:
  /// Items from `first` on that repeat with a period.
  struct Run {
    size_t first;
    size_t period;
    size_t length; ///< of all items, a part of a step at the end included

    size_t trip() const { return length / period; }
    size_t saved() const { return (trip() - 1) * period; }
  };

  std::optional<Run> longestRun(size_t begin, size_t end) const;
  size_t bestShift(const Run &run) const;
  size_t misfits(size_t first, std::initializer_list<RollLoop> inner) const;
  bool appendLoop(std::vector<Rolled> &into, size_t first, size_t period, size_t trip);
  void appendItems(std::vector<Rolled> &into, size_t begin, size_t end) const;

  std::span<const uint32_t> shapes;
  const RollPolicy &policy;
  std::vector<RollLoop> around;
};

/// A loop must be worth its lines.
bool isWorthwhile(size_t trip, size_t period) { return trip >= 3 || (trip == 2 && period >= 4); }

std::optional<Roller::Run> Roller::longestRun(size_t begin, size_t end) const {
  std::optional<Run> best;
  size_t longest = std::min(longestPeriod, (end - begin) / 2);
  for (size_t period = 1; period <= longest; ++period) {
    size_t matching = 0;
    while (begin + matching + period < end &&
           shapes[begin + matching] == shapes[begin + matching + period])
      ++matching;
    Run run{begin, period, matching + period};
    if (isWorthwhile(run.trip(), period) && (!best || run.saved() > best->saved()))
      best = run;
  }
  return best;
}

/// Items to leave before the loop for its step to begin well; no step is lost.
size_t Roller::bestShift(const Run &run) const {
  size_t slack = run.length % run.period, best = 0;
  for (size_t shift = 1; shift <= slack; ++shift)
    if (policy.startCost(shapes[run.first + shift]) < policy.startCost(shapes[run.first + best]))
      best = shift;
  return best;
}

size_t Roller::misfits(size_t first, std::initializer_list<RollLoop> inner) const {
  std::vector<RollLoop> loops = around;
  loops.insert(loops.end(), inner);
  return policy.misfits(first, loops);
}

void Roller::appendItems(std::vector<Rolled> &into, size_t begin, size_t end) const {
  for (size_t item = begin; item < end; ++item)
    into.push_back({item, 1, 1, {}});
}

/// Makes a loop, or two where numbers follow two steps; false if neither is good.
bool Roller::appendLoop(std::vector<Rolled> &into, size_t first, size_t period, size_t trip) {
  uint32_t steps = static_cast<uint32_t>(trip);
  auto append = [&](uint32_t loopTrip, size_t loopPeriod, auto &&body) {
    Rolled loop{first, loopTrip, loopPeriod, {}};
    around.push_back({loopTrip, loopPeriod});
    body(loop.body);
    around.pop_back();
    into.push_back(std::move(loop));
  };
  auto rollStep = [&](std::vector<Rolled> &body) { body = roll(first, first + period); };

  size_t unfit = misfits(first, {{steps, period}});
  if (unfit > 0)
    for (uint32_t inner = 2; inner <= steps / 2; ++inner) {
      uint32_t outer = steps / inner;
      if (outer * inner != steps || around.size() + 2 > deepestLoop ||
          misfits(first, {{outer, inner * period}, {inner, period}}) > 0)
        continue;
      append(outer, inner * period, [&](std::vector<Rolled> &body) {
        Rolled loop{first, inner, period, {}};
        around.push_back({inner, period});
        rollStep(loop.body);
        around.pop_back();
        body.push_back(std::move(loop));
      });
      return true;
    }
  if (2 * unfit > (trip - 1) * period)
    return false;
  append(steps, period, rollStep);
  return true;
}

std::vector<Rolled> Roller::roll(size_t begin, size_t end) {
  std::vector<Rolled> rolled;
  if (around.size() >= deepestLoop) {
    appendItems(rolled, begin, end);
    return rolled;
  }
  while (begin < end) {
    std::optional<Run> run = longestRun(begin, end);
    if (!run || run->trip() > std::numeric_limits<uint32_t>::max()) {
      appendItems(rolled, begin, begin + 1);
      ++begin;
      continue;
    }
    size_t first = run->first + bestShift(*run), period = run->period, trip = run->trip();
    // The first or the last step is often a special case.
    if (misfits(first, {{static_cast<uint32_t>(trip), period}}) > 0 &&
        isWorthwhile(trip - 1, period)) {
      RollLoop shorter{static_cast<uint32_t>(trip - 1), period};
      if (misfits(first, {shorter}) == 0)
        --trip;
      else if (misfits(first + period, {shorter}) == 0) {
        first += period;
        --trip;
      }
    }
    appendItems(rolled, begin, first);
    if (!appendLoop(rolled, first, period, trip))
      appendItems(rolled, first, first + trip * period);
    begin = first + trip * period;
  }
  return rolled;
}

} // namespace

std::vector<Rolled> roll(std::span<const uint32_t> shapes, const RollPolicy &policy) {
  return Roller(shapes, policy).roll(0, shapes.size());
}

} // namespace coil::codegen
