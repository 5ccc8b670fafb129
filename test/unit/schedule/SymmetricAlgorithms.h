//===- SymmetricAlgorithms.h - Algorithms that treat ranks alike -*- C++ -*-===//

#ifndef COIL_TEST_UNIT_SCHEDULE_SYMMETRICALGORITHMS_H
#define COIL_TEST_UNIT_SCHEDULE_SYMMETRICALGORITHMS_H

#include "test/unit/schedule/RandomAlgorithms.h"

namespace coil::test {

/// A right all-reduce of as many chunks as ranks, a function of the seed: what
/// randomReduction does with one chunk, for every chunk c with ranks moved by the c-th
/// of a group's shifts, in a random mix. The shifts of `digits` act on all ranks.
Instance symmetricReduction(RandomShape shape, const std::vector<SymmetryDigit> &digits,
                            uint64_t seed);

} // namespace coil::test

#endif // COIL_TEST_UNIT_SCHEDULE_SYMMETRICALGORITHMS_H
