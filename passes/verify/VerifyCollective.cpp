//===- VerifyCollective.cpp - Prove that algorithms are right -------------===//

#include "passes/Instances.h"
#include "passes/Passes.h"
#include "passes/ProvedInstances.h"

namespace coil {

#define GEN_PASS_DEF_VERIFYCOLLECTIVE
#include "passes/Passes.h.inc"

namespace {

struct VerifyCollective : impl::VerifyCollectiveBase<VerifyCollective> {
  using VerifyCollectiveBase::VerifyCollectiveBase;

  void runOnOperation() override {
    for (auto algorithm : getOperation().getOps<ir::AlgorithmOp>())
      // Private ones are there to be applied, and proved where they are.
      if (!algorithm.isPrivate() && mlir::failed(verify(algorithm)))
        signalPassFailure();
    markAllAnalysesPreserved();
  }

  mlir::LogicalResult verify(ir::AlgorithmOp algorithm) {
    auto requests = requestsOf(algorithm, {ranks, root, nodes, parameters});
    if (mlir::failed(requests))
      return mlir::failure();
    // A wrong algorithm is wrong for most roots: one is enough to read.
    auto &instances = getAnalysis<ProvedInstances>();
    return mlir::success(llvm::all_of(*requests, [&](const InstanceRequest &request) {
      return instances.get(algorithm, request) != nullptr;
    }));
  }
};

} // namespace
} // namespace coil
