//===- HandPlans.h - Small plans for any number of ranks --------*- C++ -*-===//
//
// What a compiler would write, written by hand: the runtime's tests need no
// compiler. All reductions combine in the order of ranks but the ring's.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_UNIT_API_HANDPLANS_H
#define COIL_TEST_UNIT_API_HANDPLANS_H

#include "runtime/plan/Plan.h"

#include <cstdint>
#include <vector>

namespace coil::test {

/// Every rank pushes its input to all others, and combines what comes.
Plan directAllReduce(uint32_t ranks);
/// Rank r combines chunk r of all inputs, the others get it there. P2p.
Plan symmetricAllReduce(uint32_t ranks);
/// Both of the above.
Plan mixedAllReduce(uint32_t ranks);
/// A ring of pushes in `ranks` chunks.
Plan ringAllReduce(uint32_t ranks);
/// Two ranks, everything through scratch, staged and (with puts into the peer's
/// scratch) p2p.
Plan scratchAllReduce();
/// Two ranks with two workers each, which hand over to each other by signals and
/// meet at barriers.
Plan workersAllReduce();
/// Both transports.
Plan allGather(uint32_t ranks);
Plan reduceScatter(uint32_t ranks);
/// A chain from each root, staged; from root to all, p2p.
Plan broadcast(uint32_t ranks);

/// Everything straight to or from each root, both transports.
Plan reduce(uint32_t ranks);
Plan gather(uint32_t ranks);
Plan scatter(uint32_t ranks);
/// Everything straight to where it goes, both transports.
Plan allToAll(uint32_t ranks);
Plan sendRecv(uint32_t ranks);
/// A contract of its own: each rank but the last sends input segment `segment` of 2 to
/// output segment 1 of the next; nothing else of the 3 segments of output is promised.
Plan toNext(const char *name, uint32_t ranks, uint32_t segment);
/// A contract of its own: output segment 0 of rank 0 is the sum of all ranks' inputs.
Plan sumToFirst(uint32_t ranks);

/// Only the variants of one transport.
Plan only(Transport transport, Plan plan);

/// The plan file; the plan must be valid.
std::vector<uint8_t> planFile(const Plan &plan);

} // namespace coil::test

#endif // COIL_TEST_UNIT_API_HANDPLANS_H
