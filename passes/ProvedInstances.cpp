//===- ProvedInstances.cpp - Instances that passes share ------------------===//

#include "passes/ProvedInstances.h"

#include "compiler/semantics/ReduceBySymmetry.h"
#include "passes/Instances.h"

namespace coil {

const ProvedInstance *ProvedInstances::get(ir::AlgorithmOp algorithm,
                                           const InstanceRequest &request) {
  auto [entry, isNew] = proved.try_emplace({algorithm.getOperation(), request});
  ProvedInstance &result = entry->second;
  if (!isNew)
    return &result;
  auto refuse = [&]() -> const ProvedInstance * {
    proved.erase(entry);
    return nullptr;
  };
  LocationIndex location = locations.add(algorithm.getLoc());
  mlir::FailureOr<Instance> instance = expand(algorithm, request, locations);
  if (mlir::failed(instance))
    return refuse();
  result.instance = reduceBySymmetry(std::move(*instance));
  result.proof = verifyCollective(result.instance, location);
  if (!result.proof.isProved() && !result.instance.symmetry.isTrivial()) {
    // Messages speak of ranks: find the fault again where each has its statements.
    instance = expand(algorithm, request, locations);
    if (mlir::failed(instance))
      return refuse();
    result.instance = std::move(*instance);
    result.proof = verifyCollective(result.instance, location);
  }
  if (result.proof.isProved())
    return &result;
  emitFindings(result.proof.findings, locations, describeInstance(algorithm, request));
  return refuse();
}

} // namespace coil
