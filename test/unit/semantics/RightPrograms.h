//===- RightPrograms.h - Rank programs without a fault ----------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_SEMANTICS_RIGHTPROGRAMS_H
#define COIL_TEST_UNIT_SEMANTICS_RIGHTPROGRAMS_H

#include <cstdint>
#include <string>
#include <vector>

namespace coil {

struct NamedProgram {
  std::string name;
  /// As parseExec reads it.
  std::string text;
};

/// Small programs of all transports, in place and not, with one worker and more.
const std::vector<NamedProgram> &rightPrograms();

/// The text of a named one of them.
const std::string &rightProgram(const std::string &name);

/// A ring all-reduce with as many chunks as ranks.
std::string stagedRing(int64_t ranks, int64_t slots, bool inPlace);
std::string p2pRing(int64_t ranks);

} // namespace coil

#endif // COIL_TEST_UNIT_SEMANTICS_RIGHTPROGRAMS_H
