//===- CollectiveVerifier.h - Proof of an instance --------------*- C++ -*-===//
//
// Follows which inputs each place holds, statement by statement, and compares
// the end with what the collective promises.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_COLLECTIVEVERIFIER_H
#define COIL_COMPILER_SEMANTICS_COLLECTIVEVERIFIER_H

#include "compiler/semantics/Findings.h"

#include <vector>

namespace coil {

struct CollectiveProof {
  /// Errors, at most maxFindings; empty if the instance is right.
  std::vector<Finding> findings;
  /// For each statement, whether it makes a value complete: a reduce or combine
  /// after which the place holds a contribution of every rank.
  std::vector<bool> completes;
  /// For each statement, the chunk of a segment that gives its length.
  std::vector<int64_t> lengths;

  bool isProved() const { return findings.empty(); }
};

/// Proves the instance. A statement is wrong that names a chunk out of range,
/// writes the input, or output of which nothing is promised, reads a place that holds nothing,
/// mixes chunks of different lengths, combines a contribution twice, copies between ranks, or
/// writes a place twice in one exchange; the instance is wrong whose outputs do not hold exactly
/// what is promised. Locations of findings are the statements'; those about the end have
/// `algorithmLocation` if no statement is to blame.
CollectiveProof verifyCollective(const Instance &instance, LocationIndex algorithmLocation);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_COLLECTIVEVERIFIER_H
