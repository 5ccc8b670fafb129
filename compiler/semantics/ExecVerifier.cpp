//===- ExecVerifier.cpp - Proof of rank programs --------------------------===//

#include "compiler/semantics/ExecVerifier.h"

#include "compiler/semantics/ExecChecks.h"
#include "compiler/semantics/ExecSymmetry.h"

namespace coil {

namespace {

std::vector<Finding> verify(const ExecModel &model) {
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

} // namespace

std::vector<Finding> verifyExec(const ExecPlan &plan, const ExecVariant &variant) {
  if (!variant.symmetry.isTrivial()) {
    std::vector<Finding> findings = verify(ExecModel(plan, variant, variant.inPlace));
    if (findings.empty())
      return findings;
    // Messages speak of ranks: find the fault again where each has a program.
    std::vector<Finding> named = verifyExec(plan, withAllRanks(plan, variant));
    return named.empty() ? findings : named;
  }
  ExecModel model(plan, variant, variant.inPlace);
  std::vector<Finding> findings = verify(model);
  if (!findings.empty() || variant.inPlace || !model.shape.hasOneForm())
    return findings;
  findings = verify(ExecModel(plan, variant, /*inPlace=*/true));
  for (Finding &finding : findings)
    finding.message += " (where the root calls in place)";
  return findings;
}

} // namespace coil
