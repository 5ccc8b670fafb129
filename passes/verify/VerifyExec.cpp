//===- VerifyExec.cpp - Prove what will really run ------------------------===//

#include "compiler/semantics/ExecVerifier.h"

#include "compiler/semantics/ExecBridge.h"
#include "passes/Passes.h"

#include <fmt/format.h>

namespace coil {

#define GEN_PASS_DEF_VERIFYEXEC
#include "passes/Passes.h.inc"

namespace {

struct VerifyExec : impl::VerifyExecBase<VerifyExec> {
  void runOnOperation() override {
    for (auto op : getOperation().getOps<exec::PlanOp>()) {
      LocationTable locations;
      ExecPlan plan = readExecPlan(op, locations);
      for (const ExecVariant &variant : plan.variants) {
        std::vector<Finding> findings = verifyExec(plan, variant);
        emitFindings(findings, locations, fmt::format("in variant @{}", variant.name));
        if (!findings.empty())
          signalPassFailure();
      }
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace coil
