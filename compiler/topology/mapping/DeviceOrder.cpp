//===- DeviceOrder.cpp - Devices in a short round -------------------------===//

#include "compiler/topology/mapping/DeviceOrder.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace coil::topology {

namespace {

constexpr uint32_t mostExact = 14;

RingOrder exactRound(uint32_t count, const std::vector<double> &cost) {
  // Ways from device 0 through a set of the others that end at one of them.
  uint32_t others = count - 1, sets = 1u << others;
  std::vector<double> best(size_t(sets) * others, std::numeric_limits<double>::infinity());
  std::vector<uint8_t> before(size_t(sets) * others, 0);
  for (uint32_t end = 0; end < others; ++end)
    best[size_t(1u << end) * others + end] = cost[end + 1];
  for (uint32_t set = 1; set < sets; ++set)
    for (uint32_t end = 0; end < others; ++end) {
      double here = best[size_t(set) * others + end];
      if (!(set >> end & 1) || here == std::numeric_limits<double>::infinity())
        continue;
      for (uint32_t next = 0; next < others; ++next) {
        if (set >> next & 1)
          continue;
        size_t onward = size_t(set | 1u << next) * others + next;
        double sum = here + cost[size_t(end + 1) * count + next + 1];
        if (sum < best[onward]) {
          best[onward] = sum;
          before[onward] = static_cast<uint8_t>(end);
        }
      }
    }
  uint32_t set = sets - 1, end = 0;
  auto whole = [&](uint32_t last) {
    return best[size_t(set) * others + last] + cost[size_t(last + 1) * count];
  };
  for (uint32_t last = 1; last < others; ++last)
    if (whole(last) < whole(end))
      end = last;
  RingOrder order;
  while (set != 0) {
    order.push_back(end + 1);
    uint32_t previous = before[size_t(set) * others + end];
    set &= ~(1u << end);
    end = previous;
  }
  order.push_back(0);
  std::reverse(order.begin(), order.end());
  return order;
}

double costOf(const RingOrder &order, const std::vector<double> &cost) {
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i)
    sum += cost[order[i] * order.size() + order[(i + 1) % order.size()]];
  return sum;
}

RingOrder nearestRound(uint32_t count, const std::vector<double> &cost) {
  RingOrder order{0};
  std::vector<bool> isVisited(count, false);
  isVisited[0] = true;
  while (order.size() < count) {
    uint32_t nearest = count;
    for (uint32_t next = 0; next < count; ++next)
      if (!isVisited[next] &&
          (nearest == count || cost[size_t(order.back()) * count + next] <
                                   cost[size_t(order.back()) * count + nearest]))
        nearest = next;
    isVisited[nearest] = true;
    order.push_back(nearest);
  }
  return order;
}

/// Turns parts around as long as that helps, up to a number of rounds.
void shorten(RingOrder &order, const std::vector<double> &cost) {
  constexpr int mostRounds = 8;
  constexpr size_t mostDevices = 128; // each round is cubic
  if (order.size() > mostDevices)
    return;
  double best = costOf(order, cost);
  bool hasChanged = true;
  for (int round = 0; round < mostRounds && hasChanged; ++round) {
    hasChanged = false;
    for (size_t i = 1; i + 1 < order.size(); ++i)
      for (size_t j = i + 1; j < order.size(); ++j) {
        auto first = order.begin() + static_cast<std::ptrdiff_t>(i),
             last = order.begin() + static_cast<std::ptrdiff_t>(j) + 1;
        std::reverse(first, last);
        if (double changed = costOf(order, cost); changed < best) {
          best = changed;
          hasChanged = true;
        } else {
          std::reverse(first, last);
        }
      }
  }
}

} // namespace

RingOrder shortRound(uint32_t count, const std::vector<double> &cost) {
  if (count < 4) {
    RingOrder order(count);
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }
  if (count <= mostExact)
    return exactRound(count, cost);
  RingOrder order = nearestRound(count, cost);
  shorten(order, cost);
  return order;
}

} // namespace coil::topology
