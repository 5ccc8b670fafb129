//===- RankClasses.h - Ranks whose programs share a text --------*- C++ -*-===//
//
// Writes every rank's program as calls, shapes apart from numbers, and groups the
// ranks whose shapes are the same.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CODEGEN_RANKCLASSES_H
#define COIL_RUNTIME_CODEGEN_RANKCLASSES_H

#include "runtime/codegen/Calls.h"
#include "runtime/codegen/KernelGenerator.h"
#include "runtime/plan/Plan.h"

#include <array>
#include <cstdint>
#include <vector>

namespace coil::codegen {

/// A worker's program.
struct FlatWorker {
  /// Indices in RankClasses::shapes, by section.
  std::array<std::vector<uint32_t>, numSections> calls;
  /// Those of all calls, in order.
  std::vector<uint32_t> numbers;
  GeneratedKernel::WorkerEnds ends;
  uint32_t peerSlots = 0;
};

struct RankClasses {
  std::vector<CallShape> shapes;                 ///< no two are equal
  std::vector<std::vector<FlatWorker>> programs; ///< by rank
  std::vector<uint32_t> classOfRank;
  /// Ascending; classes are numbered by their first rank.
  std::vector<std::vector<uint32_t>> ranksOfClass;
};

/// Ends are numbered in order of first use, and so are the ranks whose buffers a
/// worker uses. Such a rank is bound to its slot just before its first use in the
/// prologue, or at the end of the prologue.
RankClasses classifyRanks(const Plan &plan, const PlanVariant &variant);

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_RANKCLASSES_H
