//===- Listing.cpp - Findings as texts for tests --------------------------===//

#include "test/unit/semantics/Listing.h"

#include "compiler/semantics/ExecVerifier.h"
#include "test/unit/semantics/ExecText.h"

#include <fmt/format.h>

namespace coil {

std::string listFindings(std::string_view text) {
  ExecPlan plan = parseExec(text);
  std::string listing;
  for (const Finding &finding : verifyExec(plan, plan.variants.front())) {
    listing += fmt::format("{}: {}\n", finding.location, finding.message);
    for (const FindingNote &note : finding.notes)
      listing += fmt::format("  {}: {}\n", note.location, note.message);
  }
  return listing;
}

} // namespace coil
