//===- ExecVerifier.cpp - Proof of rank programs --------------------------===//

#include "compiler/semantics/ExecVerifier.h"

#include "compiler/semantics/ExecChecks.h"

namespace coil {

std::vector<Finding> verifyExec(const ExecPlan &plan, const ExecVariant &variant) {
  ExecModel model(plan, variant);
  ExecFindings findings;
  checkMatching(model, findings);
  if (!findings.empty())
    return findings.take();
  std::vector<ExecStep> order = orderSteps(model, findings);
  if (!findings.empty())
    return findings.take();
  checkRaces(model, order, findings);
  if (!findings.empty())
    return findings.take();
  checkResult(model, order, findings);
  return findings.take();
}

} // namespace coil
