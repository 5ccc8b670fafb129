//===- MaxFlow.cpp - Maximum flows and minimum cuts -----------------------===//

#include "compiler/topology/mapping/MaxFlow.h"

#include <algorithm>

namespace coil::topology {

uint32_t FlowNetwork::addArc(uint32_t from, uint32_t to, int64_t capacity) {
  arcs.push_back({from, to});
  capacities.push_back(capacity);
  return static_cast<uint32_t>(arcs.size() - 1);
}

void FlowNetwork::index() {
  firstHalf.assign(vertices + 1, 0);
  for (const Arc &arc : arcs) {
    ++firstHalf[arc.from + 1];
    ++firstHalf[arc.to + 1];
  }
  for (uint32_t vertex = 0; vertex < vertices; ++vertex)
    firstHalf[vertex + 1] += firstHalf[vertex];
  std::vector<uint32_t> place(firstHalf.begin(), firstHalf.end() - 1);
  halves.resize(2 * arcs.size());
  halfOfArc.resize(arcs.size());
  for (uint32_t i = 0; i < arcs.size(); ++i) {
    uint32_t forward = place[arcs[i].from]++, backward = place[arcs[i].to]++;
    halves[forward] = {arcs[i].to, backward, 0};
    halves[backward] = {arcs[i].from, forward, 0};
    halfOfArc[i] = forward;
  }
}

bool FlowNetwork::findLevels(uint32_t source, uint32_t sink) {
  level.assign(vertices, -1);
  level[source] = 0;
  queue.assign(1, source);
  for (size_t i = 0; i < queue.size(); ++i) {
    uint32_t vertex = queue[i];
    for (uint32_t half = firstHalf[vertex]; half < firstHalf[vertex + 1]; ++half)
      if (halves[half].rest > 0 && level[halves[half].to] < 0) {
        level[halves[half].to] = level[vertex] + 1;
        queue.push_back(halves[half].to);
      }
  }
  return level[sink] >= 0;
}

/// A blocking flow of at most `limit`, path after path; no recursion, since paths may be long.
int64_t FlowNetwork::augment(uint32_t source, uint32_t sink, int64_t limit) {
  int64_t flow = 0;
  next.assign(firstHalf.begin(), firstHalf.end() - 1);
  path.clear();
  uint32_t vertex = source;
  while (flow < limit) {
    if (vertex == sink) {
      int64_t amount = limit - flow;
      for (uint32_t half : path)
        amount = std::min(amount, halves[half].rest);
      flow += amount;
      size_t kept = path.size();
      for (size_t i = path.size(); i-- > 0;) {
        HalfArc &half = halves[path[i]];
        half.rest -= amount;
        halves[half.reverse].rest += amount;
        if (half.rest == 0)
          kept = i;
      }
      // Goes on before the first arc that is full now.
      if (kept < path.size()) {
        vertex = halves[halves[path[kept]].reverse].to;
        path.resize(kept);
      }
      continue;
    }
    uint32_t &half = next[vertex];
    while (half < firstHalf[vertex + 1] &&
           (halves[half].rest == 0 || level[halves[half].to] != level[vertex] + 1))
      ++half;
    if (half < firstHalf[vertex + 1]) {
      path.push_back(half);
      vertex = halves[half].to;
      continue;
    }
    if (path.empty())
      break;
    vertex = halves[halves[path.back()].reverse].to;
    path.pop_back();
    ++next[vertex];
  }
  return flow;
}

int64_t FlowNetwork::run(uint32_t source, uint32_t sink, int64_t limit) {
  if (halfOfArc.size() != arcs.size())
    index();
  for (HalfArc &half : halves)
    half.rest = 0;
  for (uint32_t i = 0; i < arcs.size(); ++i)
    halves[halfOfArc[i]].rest = capacities[i];
  int64_t flow = 0;
  while (flow < limit && findLevels(source, sink))
    flow += augment(source, sink, limit - flow);
  return flow;
}

} // namespace coil::topology
