//===- LowerToExec.cpp - From algorithms to matched rank programs ---------===//

#include "compiler/schedule/ScheduleMoves.h"
#include "compiler/semantics/ExecBridge.h"
#include "compiler/semantics/Expand.h"
#include "passes/Instances.h"
#include "passes/Passes.h"

#include <fmt/format.h>

namespace coil {

#define GEN_PASS_DEF_LOWERTOEXEC
#include "passes/Passes.h.inc"

namespace {

struct LowerToExec : impl::LowerToExecBase<LowerToExec> {
  using LowerToExecBase::LowerToExecBase;

  void runOnOperation() override {
    for (auto algorithm : llvm::make_early_inc_range(getOperation().getOps<ir::AlgorithmOp>()))
      if (mlir::failed(lower(algorithm)))
        return signalPassFailure();
  }

  mlir::LogicalResult lower(ir::AlgorithmOp algorithm) {
    mlir::FailureOr<std::vector<int64_t>> roots = rootsOf(algorithm, ranks, root);
    if (mlir::failed(roots))
      return mlir::failure();
    LocationTable locations;
    LocationIndex algorithmLocation = locations.add(algorithm.getLoc());
    ExecPlan plan;
    plan.name = algorithm.getSymName().str();
    plan.location = algorithmLocation;
    for (int64_t root : *roots) {
      mlir::FailureOr<Instance> instance = expand(algorithm, ranks, root, locations);
      if (mlir::failed(instance))
        return mlir::failure();
      CollectiveProof proof = verifyCollective(*instance, algorithmLocation);
      if (!proof.isProved()) {
        emitFindings(proof.findings, locations, describeInstance(algorithm, ranks, root));
        return mlir::failure();
      }
      plan.collective = instance->collective;
      plan.ranks = instance->ranks;
      plan.chunks = instance->chunks;
      CollectiveShape shape{instance->collective, instance->ranks, root, instance->chunks};
      for (bool inPlace : {false, true}) {
        // A collective without a view in place has one form only.
        if (inPlace && !shape.hasData())
          continue;
        MoveProgram moves = assignStorage(*instance, proof, inPlace, algorithmLocation);
        ExecVariant variant = scheduleMoves(shape, std::move(moves), inPlace);
        variant.name = inPlace ? "in_place" : "out_of_place";
        if (algorithm.getRoot())
          variant.name += fmt::format("_root{}", root);
        variant.location = algorithmLocation;
        for (ExecChannel &channel : variant.channels)
          channel.location = algorithmLocation;
        plan.variants.push_back(std::move(variant));
      }
    }
    mlir::OpBuilder builder(algorithm);
    buildExecPlan(builder, plan, locations);
    algorithm.erase();
    return mlir::success();
  }
};

} // namespace
} // namespace coil
