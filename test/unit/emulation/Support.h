//===- Support.h - Running small kernels with tracking ----------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_EMULATION_SUPPORT_H
#define COIL_TEST_UNIT_EMULATION_SUPPORT_H

#include "runtime/kernels/device/Platform.h"
#include "runtime/kernels/emulation/Emulation.h"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace coil::emulation {

/// Switches tracking on while it lives.
struct TrackingScope {
  TrackingScope() { setTracking(true); }
  ~TrackingScope() { setTracking(false); }
};

inline std::string text(const std::vector<Problem> &problems) {
  std::string all;
  for (const Problem &problem : problems)
    all += problem.text + "\n";
  return all;
}

inline bool has(const std::vector<Problem> &problems, ProblemKind kind) {
  for (const Problem &problem : problems)
    if (problem.kind == kind)
      return true;
  return false;
}

MATCHER_P(HasProblem, kind, "") {
  *result_listener << text(arg);
  return has(arg, kind);
}

MATCHER(HasNoProblem, "") {
  *result_listener << text(arg);
  return arg.empty();
}

} // namespace coil::emulation

#endif // COIL_TEST_UNIT_EMULATION_SUPPORT_H
