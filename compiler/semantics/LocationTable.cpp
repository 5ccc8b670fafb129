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
    for (const FindingNote &note : finding.notes)
      diagnostic.attachNote(locations[note.location]) << note.message;
  }
}

} // namespace coil
