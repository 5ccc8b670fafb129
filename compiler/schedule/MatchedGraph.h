//===- MatchedGraph.h - Dependences of matched programs ---------*- C++ -*-===//

#ifndef COIL_COMPILER_SCHEDULE_MATCHEDGRAPH_H
#define COIL_COMPILER_SCHEDULE_MATCHEDGRAPH_H

#include "compiler/schedule/ExecProgram.h"

#include <limits>
#include <vector>

namespace coil {

/// The body operations of all workers of a matched variant's representatives, numbered
/// worker by worker, with the order that sends and receives, signals and waits, and
/// barriers put them in when channels are unbounded. A node stands for its images.
class MatchedGraph {
public:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

  explicit MatchedGraph(const ExecVariant &variant);

  /// A node moved by a shift.
  struct Image {
    uint32_t node = none;
    int64_t shift = 0;
  };

  struct Node {
    const ExecOp *op;
    uint32_t worker; ///< counted over all representatives
    /// The longest chain of operations that come before; `none` in a deadlock.
    uint32_t level = none;
    /// Operations that must come before, the worker's previous one included.
    std::vector<Image> predecessors;
    /// One for each head among the operands, in their order: the send it receives.
    std::vector<Image> sends;
  };

  const std::vector<Node> &nodes() const { return allNodes; }
  /// Nodes in an order in which predecessors come first, by level and number;
  /// shorter than nodes() if the programs deadlock.
  const std::vector<uint32_t> &order() const { return topologicalOrder; }
  uint32_t workerCount() const { return static_cast<uint32_t>(kindOfWorker.size()); }
  int64_t kindOf(uint32_t worker) const { return kindOfWorker[worker]; }
  /// The representative that a worker belongs to.
  int64_t rankOf(uint32_t worker) const {
    return variant.symmetry.representative(kindOfWorker[worker]);
  }
  /// The number of a worker of a kind's representative.
  uint32_t workerOf(int64_t kind, int64_t worker) const {
    return firstWorker[static_cast<size_t>(kind)] + static_cast<uint32_t>(worker);
  }

private:
  void match();
  void sort();

  const ExecVariant &variant;
  std::vector<Node> allNodes;
  std::vector<uint32_t> topologicalOrder;
  std::vector<int64_t> kindOfWorker;
  std::vector<uint32_t> firstWorker;
};

} // namespace coil

#endif // COIL_COMPILER_SCHEDULE_MATCHEDGRAPH_H
