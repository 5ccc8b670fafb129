//===- MatchedGraph.cpp - Dependences of matched programs -----------------===//

#include "compiler/schedule/MatchedGraph.h"

#include <algorithm>
#include <map>

namespace coil {

MatchedGraph::MatchedGraph(const ExecVariant &variant) : variant(variant) {
  for (size_t kind = 0; kind < variant.programs.size(); ++kind) {
    firstWorker.push_back(workerCount());
    for (const ExecWorker &worker : variant.programs[kind]) {
      uint32_t previous = none;
      for (const ExecOp &op : worker.body) {
        Node node{&op, workerCount(), none, {}, {}};
        if (previous != none)
          node.predecessors.push_back({previous, 0});
        previous = static_cast<uint32_t>(allNodes.size());
        allNodes.push_back(std::move(node));
      }
      kindOfWorker.push_back(static_cast<int64_t>(kind));
    }
  }
  match();
  sort();
}

/// Adds the edges between workers. An operation that nothing matches gets none;
/// verify-exec reports it.
void MatchedGraph::match() {
  std::vector<std::vector<uint32_t>> sent(variant.channels.size()), signalled(sent.size());
  std::map<std::pair<int64_t, size_t>, std::vector<uint32_t>> barriers; // kind, ordinal
  std::vector<size_t> barrierCount(workerCount(), 0);
  for (uint32_t i = 0; i < allNodes.size(); ++i) {
    const ExecOp &op = *allNodes[i].op;
    uint32_t worker = allNodes[i].worker;
    if (op.kind == ExecOpKind::Send)
      sent[op.channel].push_back(i);
    else if (op.kind == ExecOpKind::Signal)
      signalled[op.channel].push_back(i);
    else if (op.kind == ExecOpKind::Barrier)
      barriers[{kindOf(worker), barrierCount[worker]++}].push_back(i);
  }
  std::vector<size_t> received(variant.channels.size(), 0), waited(received.size(), 0);
  for (Node &node : allNodes) {
    for (const ExecOperand &operand : node.op->operands)
      if (operand.isHead) {
        size_t ordinal = received[operand.channel]++;
        Image send;
        if (ordinal < sent[operand.channel].size())
          send = {sent[operand.channel][ordinal],
                  variant.shiftToEnd(variant.channels[operand.channel])};
        node.sends.push_back(send);
        if (send.node != none)
          node.predecessors.push_back(send);
      }
    if (node.op->kind == ExecOpKind::Wait) {
      size_t ordinal = waited[node.op->channel]++;
      if (ordinal < signalled[node.op->channel].size())
        node.predecessors.push_back({signalled[node.op->channel][ordinal],
                                     variant.shiftToEnd(variant.channels[node.op->channel])});
    }
  }
  // What comes before one worker's barrier comes before every worker's.
  for (const auto &entry : barriers) {
    std::vector<Image> before;
    for (uint32_t barrier : entry.second)
      before.insert(before.end(), allNodes[barrier].predecessors.begin(),
                    allNodes[barrier].predecessors.end());
    for (uint32_t barrier : entry.second)
      allNodes[barrier].predecessors = before;
  }
}

void MatchedGraph::sort() {
  std::vector<uint32_t> open(allNodes.size(), 0), ready;
  std::vector<std::vector<uint32_t>> successors(allNodes.size());
  for (uint32_t i = 0; i < allNodes.size(); ++i) {
    open[i] = static_cast<uint32_t>(allNodes[i].predecessors.size());
    for (Image predecessor : allNodes[i].predecessors)
      successors[predecessor.node].push_back(i);
    if (open[i] == 0) {
      allNodes[i].level = 0;
      ready.push_back(i);
    }
  }
  while (!ready.empty()) {
    uint32_t node = ready.back();
    ready.pop_back();
    topologicalOrder.push_back(node);
    for (uint32_t successor : successors[node])
      if (--open[successor] == 0) {
        uint32_t level = 0;
        for (Image predecessor : allNodes[successor].predecessors)
          level = std::max(level, allNodes[predecessor.node].level + 1);
        allNodes[successor].level = level;
        ready.push_back(successor);
      }
  }
  std::sort(topologicalOrder.begin(), topologicalOrder.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(allNodes[a].level, a) < std::pair(allNodes[b].level, b);
  });
}

} // namespace coil
