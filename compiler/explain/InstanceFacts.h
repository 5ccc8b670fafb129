//===- InstanceFacts.h - What an instance costs -----------------*- C++ -*-===//
//
// Counts that follow from an instance alone, before it is scheduled: chains of
// messages, and what each rank sends and receives; and the least that its collective
// can do with.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_EXPLAIN_INSTANCEFACTS_H
#define COIL_COMPILER_EXPLAIN_INSTANCEFACTS_H

#include "compiler/semantics/Instance.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace coil {

/// A quotient that is not rounded; `denominator` is at least 1.
struct Fraction {
  int64_t numerator = 0;
  int64_t denominator = 1;

  Fraction reduced() const;
  bool operator==(const Fraction &) const = default;
};

/// Chunks that a rank, or a node, sends to others and receives from them.
struct Traffic {
  int64_t sent = 0;
  int64_t received = 0;
};

struct InstanceFacts {
  /// Messages on the longest chain in which each carries what depends on the one
  /// before. What a statement reads from several ranks arrives in one step.
  int64_t steps = 0;
  /// Chunks that are written, wherever from.
  int64_t moves = 0;
  /// Chunks that travel between ranks.
  int64_t messages = 0;
  /// Chunks read by statements that combine, the destination of a reduce included.
  int64_t combined = 0;
  std::vector<Traffic> traffic;     ///< of each rank
  std::vector<Traffic> nodeTraffic; ///< of each node with the others
  /// Chunks of the larger of a rank's input and output: the message.
  int64_t messageChunks = 1;
  /// For each rank the ranks that it sends to, the most of them.
  int64_t mostPeers = 0;
  /// Chunks that travel from one rank to another, of each such pair.
  std::map<std::pair<int32_t, int32_t>, int64_t> messagesOfPair;
};

/// The facts of a proved instance, whose ranks lie on `nodes` nodes, equally many on
/// each, one after the other. Time and memory grow with its statements.
InstanceFacts factsOf(const Instance &instance, int64_t nodes = 1);

/// The least that any algorithm of a collective needs, without help of the network.
struct LowerBounds {
  /// Steps if a rank sends and receives one message at a time.
  int64_t steps = 0;
  /// Of the message: what the busiest rank sends or receives, whichever is more.
  Fraction traffic;
};

LowerBounds lowerBounds(Collective collective, int64_t ranks);
/// The same for an algorithm's own contract.
LowerBounds lowerBounds(const OwnContract &contract);

} // namespace coil

#endif // COIL_COMPILER_EXPLAIN_INSTANCEFACTS_H
