//===- ProvedInstances.h - Instances that passes share ----------*- C++ -*-===//

#ifndef COIL_PASSES_PROVEDINSTANCES_H
#define COIL_PASSES_PROVEDINSTANCES_H

#include "compiler/semantics/CollectiveVerifier.h"
#include "compiler/semantics/Expand.h"

#include <map>
#include <utility>

namespace coil {

/// An instance, reduced by its symmetry, and its proof.
struct ProvedInstance {
  Instance instance;
  CollectiveProof proof;
};

/// An analysis of a module: each instance of its algorithms is expanded and proved once,
/// whichever passes ask for it.
class ProvedInstances {
public:
  explicit ProvedInstances(mlir::Operation *) {}

  /// The instance, or null after errors that say what is wrong with it. Valid as long as
  /// the analysis.
  const ProvedInstance *get(ir::AlgorithmOp algorithm, const InstanceRequest &request);

  /// Of all instances.
  LocationTable locations;

private:
  std::map<std::pair<mlir::Operation *, InstanceRequest>, ProvedInstance> proved;
};

} // namespace coil

#endif // COIL_PASSES_PROVEDINSTANCES_H
