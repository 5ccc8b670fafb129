//===- PlanSegment.cpp - Where a plan's channels and scratch lie ----------===//

#include "runtime/channel/PlanSegment.h"

#include <algorithm>

namespace coil {

namespace {
/// A rank's slots and scratch grow to this before tiles become smaller.
constexpr uint64_t comfortableBytes = 32 << 20;
/// Smaller tiles would cost more in flags than they save in memory.
constexpr uint64_t smallestTile = 4096;
/// More than this for one rank is a damaged plan, not a need.
constexpr uint64_t largestSegment = uint64_t{1} << 30;
} // namespace

Result<PlanSegmentLayout> PlanSegmentLayout::compute(const Plan &plan, size_t largestSlot) {
  PlanSegmentLayout layout;
  layout.sharing = ChannelSharing(plan);
  for (const PlanChannel &channel : layout.sharing.channels())
    layout.sharedChannels.push_back({channel});

  // Room for whole tiles, which decides how large a tile may be.
  std::vector<uint64_t> scratch(plan.ranks), tiles(plan.ranks);
  for (const PlanVariant &variant : plan.variants)
    for (uint32_t rank = 0; rank < plan.ranks; ++rank)
      scratch[rank] = std::max<uint64_t>(scratch[rank], variant.scratchChunks[rank]);
  tiles = scratch;
  for (const SharedChannel &shared : layout.sharedChannels)
    tiles[shared.channel.destinationRank] += shared.channel.slots;
  uint64_t most = std::max<uint64_t>(1, *std::max_element(tiles.begin(), tiles.end()));
  uint64_t fitting = std::max(comfortableBytes / most, smallestTile) / 64 * 64;
  layout.slotBytes = static_cast<size_t>(std::min<uint64_t>(largestSlot, fitting));

  uint64_t stride = slotStride(layout.slotBytes);
  if (most > largestSegment / stride)
    return Status::error(StatusCode::InvalidPlan,
                         "plan '{}' needs {} slots and scratch chunks of {} bytes on one rank, "
                         "more than the {} MiB that a rank may have",
                         plan.name, most, layout.slotBytes, largestSegment >> 20);

  std::vector<uint64_t> end(plan.ranks);
  auto take = [&](uint32_t rank, uint64_t size) {
    uint64_t offset = end[rank];
    end[rank] += (size + lineBytes - 1) / lineBytes * lineBytes;
    return static_cast<size_t>(offset);
  };
  // Counters first: they share few pages.
  for (SharedChannel &shared : layout.sharedChannels) {
    if (shared.channel.transport == Transport::Staged)
      shared.atSource = take(shared.channel.sourceRank, sizeof(SharedCounter));
    else
      shared.atDestination = take(shared.channel.destinationRank, sizeof(SharedCounter));
  }
  for (SharedChannel &shared : layout.sharedChannels)
    if (shared.channel.transport == Transport::Staged)
      shared.atDestination = take(shared.channel.destinationRank, shared.channel.slots * stride);
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    layout.scratchBegin.push_back(take(rank, scratch[rank] * layout.slotBytes));
    // A segment is never empty.
    layout.bytes.push_back(std::max<size_t>(static_cast<size_t>(end[rank]), lineBytes));
  }
  return layout;
}

FifoPlace PlanSegmentLayout::fifo(uint32_t shared, const std::vector<std::byte *> &segments) const {
  const SharedChannel &channel = sharedChannels[shared];
  return {
      segments[channel.channel.destinationRank] + channel.atDestination,
      reinterpret_cast<SharedCounter *>(segments[channel.channel.sourceRank] + channel.atSource),
      channel.channel.slots, slotStride(slotBytes)};
}

SharedCounter *PlanSegmentLayout::counter(uint32_t shared,
                                          const std::vector<std::byte *> &segments) const {
  const SharedChannel &channel = sharedChannels[shared];
  return reinterpret_cast<SharedCounter *>(segments[channel.channel.destinationRank] +
                                           channel.atDestination);
}

} // namespace coil
