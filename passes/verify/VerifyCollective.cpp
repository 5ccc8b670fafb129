//===- VerifyCollective.cpp - Prove that algorithms are right -------------===//

#include "compiler/semantics/CollectiveVerifier.h"
#include "compiler/semantics/Expand.h"
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
      if (mlir::failed(verify(algorithm)))
        signalPassFailure();
    markAllAnalysesPreserved();
  }

  mlir::LogicalResult verify(ir::AlgorithmOp algorithm) {
    mlir::FailureOr<std::vector<int64_t>> roots = rootsOf(algorithm, ranks, root);
    if (mlir::failed(roots))
      return mlir::failure();
    for (int64_t root : *roots) {
      LocationTable locations;
      mlir::FailureOr<Instance> instance = expand(algorithm, ranks, root, locations);
      if (mlir::failed(instance))
        return mlir::failure();
      CollectiveProof proof = verifyCollective(*instance, locations.add(algorithm.getLoc()));
      emitFindings(proof.findings, locations, describeInstance(algorithm, ranks, root));
      // A wrong algorithm is wrong for most roots: one is enough to read.
      if (!proof.isProved())
        return mlir::failure();
    }
    return mlir::success();
  }
};

} // namespace
} // namespace coil
