//===- VerifyCollective.cpp - Prove that algorithms are right -------------===//

#include "passes/Instances.h"
#include "passes/Passes.h"

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
    for (const InstanceRequest &request : *requests) {
      LocationTable locations;
      // A wrong algorithm is wrong for most roots: one is enough to read.
      if (mlir::failed(expandAndProve(algorithm, request, locations)))
        return mlir::failure();
    }
    return mlir::success();
  }
};

} // namespace
} // namespace coil
