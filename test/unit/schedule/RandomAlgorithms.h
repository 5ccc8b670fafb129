//===- RandomAlgorithms.h - Right algorithms at random ----------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_SCHEDULE_RANDOMALGORITHMS_H
#define COIL_TEST_UNIT_SCHEDULE_RANDOMALGORITHMS_H

#include "compiler/semantics/Instance.h"

namespace coil::test {

/// What a random all-reduce is made of.
struct RandomShape {
  /// AllReduce or Reduce.
  Collective collective = Collective::AllReduce;
  int64_t ranks = 2;
  int64_t chunks = 1;
  /// Reads the input and writes the output by name here and there.
  bool namesBuffers = false;
  /// Passes partial sums through scratch here and there.
  bool usesScratch = false;
  /// Rotates a chunk of extra values through all ranks in an exchange block.
  bool exchanges = false;
};

/// A right all-reduce or reduce, a function of the seed: for each chunk a random
/// reduction tree and a random broadcast tree, the chunks' statements in a random
/// mix. A reduce has a random root; the others keep what they get to themselves.
Instance randomReduction(RandomShape shape, uint64_t seed);

/// A random contract of `ranks` ranks' own, and a right algorithm for it, whose values
/// go straight or over scratch of other ranks. Every statement is needed.
Instance randomContract(int64_t ranks, int64_t chunks, uint64_t seed);

} // namespace coil::test

#endif // COIL_TEST_UNIT_SCHEDULE_RANDOMALGORITHMS_H
