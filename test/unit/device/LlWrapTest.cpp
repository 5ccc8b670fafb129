//===- LlWrapTest.cpp - Flags of ll that wrap around ----------------------===//
//
// Built with flags of few bits, so that an old flag would be taken for a new one
// within this test if slots were not cleaned.
//
//===----------------------------------------------------------------------===//

#include "test/unit/device/DeviceRanks.h"
#include "test/unit/device/TestKernels.h"
#include "test/unit/emulation/Support.h"

namespace coil::test {
namespace {

static_assert(llFlagBits < 8 && llCleaningPeriod * 2 < 1u << llFlagBits);

/// A message of every length between 0 and a tile, in an order that leaves the ends
/// of slots alone for as long as may be.
TEST(LlWrapTest, ShortMessagesLeaveNoFlagsThatReturn) {
  constexpr u64 most = 64;
  std::vector<u32> inputs[2] = {std::vector<u32>(most), std::vector<u32>(most)};
  std::vector<u32> outputs[2] = {inputs[0], inputs[1]};
  DeviceRanks machine({.ranks = 2, .protocol = Protocol::Ll, .tileBytes = most * 4},
                      {{0, 1}, {1, 0}});
  for (u32 round = 0; round < 300; ++round) {
    // Long ones come at distances of about a wrap of the flags.
    u64 count = round % (1u << llFlagBits) < 2 ? most : round % 5;
    for (u32 rank = 0; rank < 2; ++rank)
      for (u64 i = 0; i < count; ++i)
        inputs[rank][i] = round * 1000 + rank * 100 + static_cast<u32>(i);
    CallOptions call;
    call.count = count;
    call.chunks = 2;
    call.inputs = {inputs[0].data(), inputs[1].data()};
    call.outputs = {outputs[0].data(), outputs[1].data()};
    ASSERT_THAT(machine.call(ringAllReduce<u32, Sum, Protocol::Ll>, call),
                emulation::HasNoProblem());
    for (u32 rank = 0; rank < 2; ++rank)
      for (u64 i = 0; i < count; ++i)
        ASSERT_EQ(outputs[rank][i], inputs[0][i] + inputs[1][i])
            << "call " << round << ", rank " << rank << ", element " << i;
  }
}

} // namespace
} // namespace coil::test
