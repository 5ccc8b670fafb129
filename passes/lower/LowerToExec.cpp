//===- LowerToExec.cpp - From algorithms to matched rank programs ---------===//

#include "compiler/schedule/ScheduleMoves.h"
#include "compiler/semantics/ExecBridge.h"
#include "passes/Instances.h"
#include "passes/Passes.h"
#include "passes/ProvedInstances.h"

#include <fmt/format.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>

namespace coil {

#define GEN_PASS_DEF_LOWERTOEXEC
#include "passes/Passes.h.inc"

namespace {

struct LowerToExec : impl::LowerToExecBase<LowerToExec> {
  using LowerToExecBase::LowerToExecBase;

  void runOnOperation() override {
    for (auto algorithm : llvm::make_early_inc_range(getOperation().getOps<ir::AlgorithmOp>()))
      if (!algorithm.isPrivate() && mlir::failed(lower(algorithm)))
        return signalPassFailure();
    for (auto algorithm : llvm::make_early_inc_range(getOperation().getOps<ir::AlgorithmOp>()))
      algorithm.erase();
    // What only algorithms call goes with them.
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<mlir::func::FuncOp>()))
      if (function.isPrivate())
        function.erase();
  }

  mlir::LogicalResult lower(ir::AlgorithmOp algorithm) {
    auto requests = requestsOf(algorithm, {ranks, root, nodes, parameters});
    if (mlir::failed(requests))
      return mlir::failure();
    auto &instances = getAnalysis<ProvedInstances>();
    LocationTable &locations = instances.locations;
    LocationIndex algorithmLocation = locations.add(algorithm.getLoc());
    ExecPlan plan;
    plan.name = planName(algorithm, requests->front());
    plan.location = algorithmLocation;
    for (auto schedule : algorithm.getBody().getOps<ir::ScheduleOp>()) {
      if (schedule.getTransport())
        plan.transport =
            static_cast<ExecTransport>(*exec::symbolizeTransport(*schedule.getTransport()));
      if (schedule.getProtocol())
        plan.protocol = parseMessageProtocol(std::string_view(*schedule.getProtocol()));
    }
    for (const InstanceRequest &request : *requests) {
      const ProvedInstance *proved = instances.get(algorithm, request);
      if (!proved)
        return mlir::failure();
      const Instance &instance = proved->instance;
      plan.collective = instance.collective;
      plan.ranks = instance.ranks;
      plan.chunks = instance.chunks;
      plan.contract = instance.contract;
      CollectiveShape shape{instance.collective, instance.ranks, request.root, instance.chunks,
                            instance.contract};
      for (bool inPlace : {false, true}) {
        // Without a view in place there is nothing else; of one form, this is it; and a barrier's
        // call has no buffers.
        if (inPlace &&
            (!shape.hasData() || shape.hasOneForm() || shape.collective == Collective::Barrier))
          continue;
        MoveProgram moves = assignStorage(instance, proved->proof, inPlace, algorithmLocation);
        ExecVariant variant = scheduleMoves(shape, std::move(moves), inPlace);
        if (shape.hasOneForm())
          variant.name = fmt::format("root{}", request.root);
        else
          variant.name = inPlace ? "in_place" : "out_of_place";
        variant.location = algorithmLocation;
        for (ExecChannel &channel : variant.channels)
          channel.location = algorithmLocation;
        plan.variants.push_back(std::move(variant));
      }
    }
    mlir::OpBuilder builder(algorithm);
    buildExecPlan(builder, plan, locations);
    return mlir::success();
  }
};

} // namespace
} // namespace coil
