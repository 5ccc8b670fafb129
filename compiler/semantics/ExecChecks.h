//===- ExecChecks.h - The steps of verify-exec ------------------*- C++ -*-===//
//
// Each check relies on those before it in this file having found nothing.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_EXECCHECKS_H
#define COIL_COMPILER_SEMANTICS_EXECCHECKS_H

#include "compiler/semantics/ExecModel.h"
#include "compiler/semantics/Findings.h"

#include <utility>

namespace coil {

/// Findings up to the most that a verifier reports.
class ExecFindings {
public:
  bool empty() const { return findings.empty(); }
  bool full() const { return findings.size() >= maxFindings; }
  void report(LocationIndex location, std::string message, std::vector<FindingNote> notes = {}) {
    if (!full())
      findings.push_back({location, std::move(message), std::move(notes)});
  }
  std::vector<Finding> take() { return std::move(findings); }

private:
  std::vector<Finding> findings;
};

/// Data moves within tiles only, the input is not written, no buffer is accessed
/// that the caller need not give; in each section, as many messages, signals and
/// barriers come from one end as the other takes.
void checkMatching(const ExecModel &model, ExecFindings &findings);

/// All steps of a call in an order that a run may take, or fewer and a finding if
/// the program can deadlock. Steps of one barrier are adjacent.
std::vector<ExecStep> orderSteps(const ExecModel &model, ExecFindings &findings);

/// Conflicting accesses are ordered, and accesses of other ranks lie within the
/// call of the memory's owner.
void checkRaces(const ExecModel &model, const std::vector<ExecStep> &order, ExecFindings &findings);

/// The outputs end with what the collective promises.
void checkResult(const ExecModel &model, const std::vector<ExecStep> &order,
                 ExecFindings &findings);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXECCHECKS_H
