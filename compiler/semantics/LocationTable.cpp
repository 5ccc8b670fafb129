//===- LocationTable.cpp - Source locations by number ---------------------===//

#include "compiler/semantics/LocationTable.h"

#include <mlir/IR/Diagnostics.h>

namespace coil {

void emitFindings(const std::vector<Finding> &findings, const LocationTable &locations,
                  const std::string &context) {
  for (const Finding &finding : findings) {
    mlir::InFlightDiagnostic diagnostic = mlir::emitError(locations[finding.location])
                                          << finding.message;
    if (!context.empty())
      diagnostic << " (" << context << ")";
    mlir::Location location = locations[finding.location];
    while (auto site = mlir::dyn_cast<mlir::CallSiteLoc>(location)) {
      diagnostic.attachNote(site.getCaller()) << "applied here";
      location = site.getCallee();
    }
    for (const FindingNote &note : finding.notes)
      diagnostic.attachNote(locations[note.location]) << note.message;
  }
}

} // namespace coil
