//===- CombinationOrder.h - Where results get the same bits -----*- C++ -*-===//
//
// Floating-point results depend on the order in which inputs are combined and rounded. A plan fixes
// it: without races, a run of a variant computes the same expressions whatever happens when, so its
// results are the same bits in every run. Whether all ranks, all chunks of a message and all
// variants have the same order too, these functions find in the programs that will run.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_COMBINATIONORDER_H
#define COIL_COMPILER_SEMANTICS_COMBINATIONORDER_H

#include "compiler/schedule/ExecProgram.h"

#include <optional>
#include <string>
#include <vector>

namespace coil {

/// Two outputs that are made in different orders.
struct OrderDifference {
  struct Side {
    std::string variant;
    int64_t rank = 0;
    /// The chunk of the output.
    int64_t chunk = 0;
    /// The numbers of the ranks whose inputs are combined, as in "0 + 1 + (2 + 3)", left to right;
    /// what one operation combines, and rounds once, is in brackets if it is more than two:
    /// "[0 + 1 + 2]". Long ones are cut.
    std::string order;
  };
  Side first, second;
};

struct CombinationOrder {
  /// False if the outputs are copies of inputs: then nothing can differ.
  bool combines = false;
  /// Of an all-reduce, in one variant: one chunk on two ranks. None if all ranks get the same bits.
  std::optional<OrderDifference> betweenRanks;
  /// On one rank, in one variant: two chunks of one segment. None if a result does not depend on
  /// where in the message it lies, and so not on how long that is.
  std::optional<OrderDifference> betweenChunks;
  /// One output in two variants of one root, of which the runtime takes one by the length of the
  /// message and the memory that it lies in.
  std::optional<OrderDifference> betweenVariants;

  /// True if the length of the message cannot change the bits.
  bool isSameForAnyLength() const { return !betweenChunks && !betweenVariants; }
};

/// Of the plan's variants for a root, which are proved and have a program for each rank. Takes time
/// and memory in the order of their operations.
CombinationOrder combinationOrder(const ExecPlan &plan, int64_t root);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_COMBINATIONORDER_H
