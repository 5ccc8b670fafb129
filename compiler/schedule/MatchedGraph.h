//===- MatchedGraph.h - Dependences of matched programs ---------*- C++ -*-===//

#ifndef COIL_COMPILER_SCHEDULE_MATCHEDGRAPH_H
#define COIL_COMPILER_SCHEDULE_MATCHEDGRAPH_H

#include "compiler/schedule/ExecProgram.h"

#include <limits>
#include <vector>

namespace coil {

/// The body operations of all workers of a matched variant, numbered worker by
/// worker, with the order that sends and receives, signals and waits, and
/// barriers put them in when channels are unbounded.
class MatchedGraph {
public:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

  explicit MatchedGraph(const ExecVariant &variant);

  struct Node {
    const ExecOp *op;
    uint32_t worker; ///< counted over all ranks
    /// The longest chain of operations that come before; `none` in a deadlock.
    uint32_t level = none;
    /// Operations that must come before, the worker's previous one included.
    std::vector<uint32_t> predecessors;
    /// One for each head among the operands, in their order: the send it receives.
    std::vector<uint32_t> sends;
  };

  const std::vector<Node> &nodes() const { return allNodes; }
  /// Nodes in an order in which predecessors come first, by level and number;
  /// shorter than nodes() if the programs deadlock.
  const std::vector<uint32_t> &order() const { return topologicalOrder; }
  uint32_t workerCount() const { return static_cast<uint32_t>(rankOfWorker.size()); }
  int32_t rankOf(uint32_t worker) const { return rankOfWorker[worker]; }
  /// The number of a rank's worker.
  uint32_t workerOf(int64_t rank, int64_t worker) const {
    return firstWorker[static_cast<size_t>(rank)] + static_cast<uint32_t>(worker);
  }

private:
  void match();
  void sort();

  const ExecVariant &variant;
  std::vector<Node> allNodes;
  std::vector<uint32_t> topologicalOrder;
  std::vector<int32_t> rankOfWorker;
  std::vector<uint32_t> firstWorker;
};

} // namespace coil

#endif // COIL_COMPILER_SCHEDULE_MATCHEDGRAPH_H
