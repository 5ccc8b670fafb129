//===- Findings.h - What a proof has to say against a program ---*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_FINDINGS_H
#define COIL_COMPILER_SEMANTICS_FINDINGS_H

#include "compiler/semantics/Instance.h"

namespace coil {

struct FindingNote {
  LocationIndex location = 0;
  std::string message;
};

/// One error of a program: where, what, and the other places that explain it.
struct Finding {
  LocationIndex location = 0;
  std::string message;
  std::vector<FindingNote> notes;
};

/// A verifier reports this many findings and then stops.
inline constexpr size_t maxFindings = 10;

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_FINDINGS_H
