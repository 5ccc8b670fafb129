//===- Instances.h - The instances that pass options name -------*- C++ -*-===//

#ifndef COIL_PASSES_INSTANCES_H
#define COIL_PASSES_INSTANCES_H

#include "compiler/semantics/Expand.h"
#include "dialect/Coil/Coil.h"

#include <llvm/ADT/ArrayRef.h>
#include <string>
#include <vector>

namespace coil {

/// The options that the passes on instances have in common.
struct InstanceOptions {
  int64_t ranks = 0;
  /// -1 stands for every root.
  int64_t root = -1;
  int64_t nodes = 1;
  /// "radix=4", a parameter each.
  llvm::ArrayRef<std::string> parameters;
};

/// What to compile `algorithm` for: one instance, or with a root -1 and a
/// collective that has one, an instance a rank. Emits an error if a number is out
/// of range, the nodes do not divide the ranks, or a parameter is not the
/// algorithm's or not of its type.
mlir::FailureOr<std::vector<InstanceRequest>> requestsOf(ir::AlgorithmOp algorithm,
                                                         const InstanceOptions &options);

/// "with 4 ranks", "with 4 ranks on 2 nodes, root 2 and radix=4".
std::string describeInstance(ir::AlgorithmOp algorithm, const InstanceRequest &request);

/// The algorithm's name and, in parentheses, the parameters that were chosen.
std::string planName(ir::AlgorithmOp algorithm, const InstanceRequest &request);

} // namespace coil

#endif // COIL_PASSES_INSTANCES_H
