//===- LayoutTest.cpp - Where a plan's channels lie on devices ------------===//

#include "runtime/executor/cuda/DeviceLayout.h"
#include "test/unit/api/HandPlans.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace coil::test {
namespace {

using namespace cuda;
using device::Protocol;

const LayoutTerms terms{3, 8192, {Protocol::Simple, Protocol::Ll}};

/// All that a layout places: {rank, on the host} to runs of bytes.
class Placed {
public:
  Placed(const Plan &plan, const DeviceLayout &layout) : layout(layout) {
    for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
      add(rank, layout.entries(rank), sizeof(device::EntryRecord) * plan.ranks);
      add(rank, {false, layout.scratchOffset(rank)},
          layout.scratchChunks() * layout.instances() * layout.tileBytes());
      add(rank, {true, 0}, sizeof(PlanBoard));
    }
    const auto &channels = layout.channels().channels();
    for (uint32_t i = 0; i < channels.size(); ++i)
      for (uint32_t instance = 0; instance < layout.instances(); ++instance)
        addChannel(i, channels[i], instance);
  }

  void expectApart() {
    for (auto &[owner, runs] : all) {
      std::sort(runs.begin(), runs.end());
      uint64_t end = 0;
      for (auto [begin, size] : runs) {
        EXPECT_GE(begin, end);
        EXPECT_EQ(begin % 128, 0u);
        end = begin + size;
      }
      EXPECT_LE(end,
                owner.second ? layout.hostBytes(owner.first) : layout.deviceBytes(owner.first));
    }
  }

private:
  void addChannel(uint32_t i, const PlanChannel &channel, uint32_t instance) {
    if (channel.transport == Transport::P2P) {
      add(channel.destinationRank, layout.counter(i, instance), 128);
      return;
    }
    for (Protocol protocol : layout.protocols()) {
      add(channel.sourceRank, layout.freed(i, protocol, instance), 128);
      add(channel.destinationRank, layout.slots(i, protocol, instance),
          channel.slots * device::slotStride(protocol, layout.tileBytes()));
    }
  }
  void add(uint32_t rank, DeviceLayout::Place place, uint64_t size) {
    if (size != 0)
      all[{rank, place.onHost}].push_back({place.offset, size});
  }

  const DeviceLayout &layout;
  std::map<std::pair<uint32_t, bool>, std::vector<std::pair<uint64_t, uint64_t>>> all;
};

TEST(DeviceLayoutTest, PlacesNothingTwice) {
  for (const Plan &plan :
       {mixedAllReduce(4), workersAllReduce(), scratchAllReduce(), broadcast(3), allGather(5)}) {
    SCOPED_TRACE(plan.name);
    Result<DeviceLayout> layout = DeviceLayout::compute(plan, terms, Reach(plan.ranks));
    ASSERT_TRUE(layout.isOk()) << layout.status().message();
    Placed(plan, *layout).expectApart();
    EXPECT_EQ(layout->tileBytes(), 8192u);
  }
}

TEST(DeviceLayoutTest, StagesThroughTheHostWhereDevicesDoNotReachEachOther) {
  Plan plan = directAllReduce(3);
  Reach reach(3);
  reach.remove(0, 2);
  Result<DeviceLayout> layout = DeviceLayout::compute(plan, terms, reach);
  ASSERT_TRUE(layout.isOk());
  Placed(plan, *layout).expectApart();
  const auto &channels = layout->channels().channels();
  for (uint32_t i = 0; i < channels.size(); ++i) {
    bool onHost =
        channels[i].sourceRank + channels[i].destinationRank == 2 && channels[i].sourceRank != 1;
    EXPECT_EQ(layout->slots(i, Protocol::Ll, 1).onHost, onHost);
    EXPECT_EQ(layout->freed(i, Protocol::Ll, 1).onHost, onHost);
  }
  EXPECT_TRUE(layout->entries(0).onHost);
  EXPECT_FALSE(layout->entries(1).onHost);
  EXPECT_TRUE(layout->entries(2).onHost);
}

TEST(DeviceLayoutTest, GivesStagedChannelsAnEndAProtocol) {
  Plan plan = mixedAllReduce(2);
  Result<DeviceLayout> layout = DeviceLayout::compute(plan, terms, Reach(2));
  ASSERT_TRUE(layout.isOk());
  DeviceLayout::RankEnds ends = layout->endsOf(1);
  size_t expected = 0;
  const auto &channels = layout->channels().channels();
  for (uint32_t i = 0; i < channels.size(); ++i) {
    if (channels[i].sourceRank != 1) {
      EXPECT_EQ(ends.firstSend[i], ~0u);
      continue;
    }
    ASSERT_EQ(ends.firstSend[i], expected);
    EXPECT_EQ(ends.sends[expected].shared, i);
    bool staged = channels[i].transport == Transport::Staged;
    if (staged) {
      EXPECT_EQ(ends.sends[expected + 1].protocol, Protocol::Ll);
    }
    expected += staged ? 2 : 1;
  }
  EXPECT_EQ(ends.sends.size(), expected);
}

TEST(DeviceLayoutTest, ShrinksTilesOfPlansWithManySlots) {
  LayoutTerms large{64, 1 << 20, {Protocol::Simple}};
  Result<DeviceLayout> layout = DeviceLayout::compute(directAllReduce(8), large, Reach(8));
  ASSERT_TRUE(layout.isOk());
  EXPECT_LT(layout->tileBytes(), 1u << 20);
  EXPECT_GE(layout->tileBytes(), 4096u);
  EXPECT_EQ(layout->tileBytes() % 128, 0u);
}

TEST(DeviceLayoutTest, RefusesPlansBeyondReason) {
  Plan plan = scratchAllReduce();
  for (PlanVariant &variant : plan.variants)
    variant.scratchChunks.assign(2, 1u << 24);
  Result<DeviceLayout> layout = DeviceLayout::compute(plan, terms, Reach(2));
  ASSERT_FALSE(layout.isOk());
  EXPECT_EQ(layout.status().code(), StatusCode::InvalidPlan);
}

} // namespace
} // namespace coil::test
