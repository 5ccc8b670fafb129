//===- Explanation.h - What the compiler tells of a program -----*- C++ -*-===//

#ifndef COIL_COMPILER_EXPLAIN_EXPLANATION_H
#define COIL_COMPILER_EXPLAIN_EXPLANATION_H

#include "compiler/explain/InstanceFacts.h"
#include "compiler/schedule/ExecProgram.h"
#include "compiler/semantics/CombinationOrder.h"

#include <string>
#include <utility>
#include <vector>

namespace coil {

/// What one compiled variant takes, on the rank that takes most.
struct VariantFacts {
  std::string name;
  bool inPlace = false;
  ExecTransport transport = ExecTransport::Matched;
  int64_t workers = 0;
  /// Chunks, with what the compiler adds to the program's own.
  int64_t scratchChunks = 0;
  /// That leave a rank.
  int64_t channels = 0;
  /// Of all those channels; 0 over peer memory.
  int64_t slots = 0;
  /// The fewest slots of all those channels with which the programs get through.
  int64_t fewestSlots = 0;
  /// Channels that need more than one slot, with how many.
  std::vector<std::pair<std::string, int64_t>> channelsInNeed;
};

struct Explanation {
  std::string algorithm;
  Collective collective = Collective::AllReduce;
  int64_t ranks = 1;
  int64_t nodes = 1;
  int64_t root = 0;
  /// Chunks a segment.
  int64_t chunks = 1;
  std::shared_ptr<const OwnContract> contract;
  InstanceFacts facts;
  LowerBounds bounds;
  CombinationOrder order;
  std::vector<VariantFacts> variants;
};

/// `instance` is proved, its ranks lie on `nodes` nodes, equally many on each, one after
/// the other, and `plan` is what it was compiled to. Of a plan with several roots, the
/// instance's root is explained.
Explanation explain(const Instance &instance, int64_t nodes, const ExecPlan &plan);

/// A page for people.
std::string toText(const Explanation &explanation);
/// One JSON object, for scripts; fractions are strings such as "7/4".
std::string toJson(const Explanation &explanation);

} // namespace coil

#endif // COIL_COMPILER_EXPLAIN_EXPLANATION_H
