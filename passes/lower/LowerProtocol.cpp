//===- LowerProtocol.cpp - One variant a transport ------------------------===//

#include "compiler/schedule/LowerProtocol.h"

#include "compiler/semantics/ExecBridge.h"
#include "passes/Passes.h"

namespace coil {

#define GEN_PASS_DEF_LOWERPROTOCOL
#include "passes/Passes.h.inc"

namespace {

struct LowerProtocol : impl::LowerProtocolBase<LowerProtocol> {
  using LowerProtocolBase::LowerProtocolBase;

  void runOnOperation() override {
    std::vector<ExecTransport> wanted;
    for (const std::string &name : transports) {
      std::optional<exec::Transport> transport = exec::symbolizeTransport(name);
      if (!transport || *transport == exec::Transport::Matched) {
        getOperation().emitError() << "expected transports p2p and staged, found '" << name << "'";
        return signalPassFailure();
      }
      wanted.push_back(static_cast<ExecTransport>(*transport));
    }
    if (slots < 1) {
      getOperation().emitError() << "expected at least 1 slot a channel, found "
                                 << slots.getValue();
      return signalPassFailure();
    }
    for (auto plan : getOperation().getOps<exec::PlanOp>())
      if (mlir::failed(lower(plan, wanted)))
        return signalPassFailure();
  }

  mlir::LogicalResult lower(exec::PlanOp op, std::vector<ExecTransport> wanted) {
    LocationTable locations;
    ExecPlan plan;
    plan.collective = *parseCollective(std::string_view(op.getCollective()));
    plan.ranks = op.getRanks();
    plan.chunks = op.getChunks();
    plan.contract = readContract(op);
    if (wanted.empty() && op.getTransport())
      wanted = {static_cast<ExecTransport>(*op.getTransport())};
    if (wanted.empty())
      wanted = {ExecTransport::P2P, ExecTransport::Staged};
    for (auto variantOp : llvm::make_early_inc_range(op.getBody().getOps<exec::VariantOp>())) {
      if (variantOp.getTransport() != exec::Transport::Matched)
        continue;
      ExecVariant matched = readExecVariant(variantOp, locations);
      mlir::OpBuilder builder(variantOp);
      for (ExecTransport transport : wanted) {
        ExecVariant lowered;
        if (transport == ExecTransport::Staged) {
          lowered = lowerToStaged(matched, slots);
        } else {
          Finding deadlock;
          std::optional<ExecVariant> p2p = lowerToP2P(plan, matched, deadlock);
          if (!p2p) {
            emitFindings({deadlock}, locations, "");
            return mlir::failure();
          }
          lowered = std::move(*p2p);
        }
        lowered.name = matched.name + "_" + nameOf(transport);
        buildExecVariant(builder, lowered, locations);
      }
      variantOp.erase();
    }
    return mlir::success();
  }
};

} // namespace
} // namespace coil
