//===- Instances.h - The instances that pass options name -------*- C++ -*-===//

#ifndef COIL_PASSES_INSTANCES_H
#define COIL_PASSES_INSTANCES_H

#include "dialect/Coil/Coil.h"

#include <string>
#include <vector>

namespace coil {

/// The roots to compile `algorithm` for: 0 alone if its collective has none, all
/// ranks if `root` is -1. Emits an error if the number of ranks or the root is
/// out of range.
mlir::FailureOr<std::vector<int64_t>> rootsOf(ir::AlgorithmOp algorithm, int64_t ranks,
                                              int64_t root);

/// "with 4 ranks", "with 4 ranks and root 2".
std::string describeInstance(ir::AlgorithmOp algorithm, int64_t ranks, int64_t root);

} // namespace coil

#endif // COIL_PASSES_INSTANCES_H
