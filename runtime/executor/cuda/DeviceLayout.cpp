//===- DeviceLayout.cpp - Where a plan's channels lie on devices ----------===//

#include "runtime/executor/cuda/DeviceLayout.h"

#include <algorithm>

namespace coil::cuda {

namespace {
/// A rank's slots and scratch grow to this before tiles become smaller.
constexpr uint64_t comfortableBytes = 256 << 20;
/// Smaller tiles would cost more in flags than they save in memory.
constexpr uint64_t smallestTile = 4096;
/// More than this for one rank is a damaged plan, not a need.
constexpr uint64_t largestMemory = uint64_t{4} << 30;
/// What different ranks write is this far apart.
constexpr uint64_t lineBytes = 128;
/// Host memory is registered in pages, which have 64 KiB on some machines.
constexpr uint64_t pageBytes = 64 << 10;

constexpr uint64_t roundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
} // namespace

bool Reach::everywhere() const {
  return std::find(matrix.begin(), matrix.end(), false) == matrix.end();
}

bool Reach::fromAll(uint32_t rank) const {
  auto row = matrix.begin() + static_cast<ptrdiff_t>(size_t{rank} * ranks);
  return std::find(row, row + ranks, false) == row + ranks;
}

Result<DeviceLayout> DeviceLayout::compute(const Plan &plan, const LayoutTerms &terms,
                                           const Reach &reach) {
  DeviceLayout layout;
  layout.sharing = ChannelSharing(plan);
  layout.terms = terms;
  const std::vector<PlanChannel> &channels = layout.sharing.channels();

  // Room in whole tiles, which decides how large a tile may be.
  for (const PlanVariant &variant : plan.variants)
    for (uint32_t chunks : variant.scratchChunks)
      layout.chunksOfScratch = std::max<uint64_t>(layout.chunksOfScratch, chunks);
  uint64_t room = 0; // payload of a slot of each protocol, for tiles of one line
  for (Protocol protocol : terms.protocols)
    room += device::payloadBytes(protocol, lineBytes) / lineBytes;
  std::vector<uint64_t> tiles(plan.ranks, layout.chunksOfScratch * terms.instances);
  for (const PlanChannel &channel : channels)
    tiles[channel.destinationRank] += uint64_t{channel.slots} * terms.instances * room;
  uint64_t most = std::max<uint64_t>(1, *std::max_element(tiles.begin(), tiles.end()));
  uint64_t fitting = std::max(comfortableBytes / most, smallestTile) / lineBytes * lineBytes;
  layout.terms.tileBytes = std::min(terms.tileBytes, fitting);
  if (most > largestMemory / (layout.terms.tileBytes + lineBytes))
    return Status::error(StatusCode::InvalidPlan,
                         "plan '{}' needs {} slots and scratch chunks of {} bytes on one rank, "
                         "more than the {} MiB that a rank may have",
                         plan.name, most, layout.terms.tileBytes, largestMemory >> 20);

  layout.ranks.resize(plan.ranks);
  for (RankPlace &rank : layout.ranks)
    rank.hostBytes = roundUp(sizeof(PlanBoard), lineBytes);
  auto take = [&](uint32_t rank, bool onHost, uint64_t size) {
    RankPlace &place = layout.ranks[rank];
    uint64_t &end = onHost ? place.hostBytes : place.deviceBytes;
    uint64_t offset = end;
    end += roundUp(size, lineBytes);
    return offset;
  };
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    bool onHost = !reach.fromAll(rank);
    layout.ranks[rank].entries = {onHost,
                                  take(rank, onHost, sizeof(device::EntryRecord) * plan.ranks)};
  }
  // Counters first: they share few pages.
  layout.places.resize(channels.size());
  for (size_t i = 0; i < channels.size(); ++i) {
    const PlanChannel &channel = channels[i];
    ChannelPlace &place = layout.places[i];
    place.onHost = !reach.between(channel.sourceRank, channel.destinationRank);
    bool staged = channel.transport == Transport::Staged;
    place.counters = take(staged ? channel.sourceRank : channel.destinationRank, place.onHost,
                          lineBytes * terms.instances * (staged ? terms.protocols.size() : 1));
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    if (channels[i].transport != Transport::Staged)
      continue;
    ChannelPlace &place = layout.places[i];
    for (size_t p = 0; p < terms.protocols.size(); ++p)
      place.slots[p] = take(channels[i].destinationRank, place.onHost,
                            channels[i].slots * uint64_t{terms.instances} *
                                device::slotStride(terms.protocols[p], layout.terms.tileBytes));
  }
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    RankPlace &place = layout.ranks[rank];
    place.scratch =
        take(rank, false, layout.chunksOfScratch * terms.instances * layout.terms.tileBytes);
    place.deviceBytes = std::max(place.deviceBytes, lineBytes);
    place.hostBytes = roundUp(place.hostBytes, pageBytes);
  }
  return layout;
}

uint32_t DeviceLayout::indexOf(Protocol protocol) const {
  auto found = std::find(terms.protocols.begin(), terms.protocols.end(), protocol);
  return static_cast<uint32_t>(found - terms.protocols.begin());
}

DeviceLayout::Place DeviceLayout::slots(uint32_t shared, Protocol protocol,
                                        uint32_t instance) const {
  uint64_t bytes = sharing.channels()[shared].slots * device::slotStride(protocol, terms.tileBytes);
  return {places[shared].onHost, places[shared].slots[indexOf(protocol)] + instance * bytes};
}

DeviceLayout::Place DeviceLayout::freed(uint32_t shared, Protocol protocol,
                                        uint32_t instance) const {
  uint64_t index = uint64_t{indexOf(protocol)} * terms.instances + instance;
  return {places[shared].onHost, places[shared].counters + index * lineBytes};
}

DeviceLayout::Place DeviceLayout::counter(uint32_t shared, uint32_t instance) const {
  return {places[shared].onHost, places[shared].counters + uint64_t{instance} * lineBytes};
}

DeviceLayout::RankEnds DeviceLayout::endsOf(uint32_t rank) const {
  RankEnds ends;
  const std::vector<PlanChannel> &channels = sharing.channels();
  ends.firstSend.assign(channels.size(), ~0u);
  ends.firstReceive.assign(channels.size(), ~0u);
  for (uint32_t i = 0; i < channels.size(); ++i) {
    auto add = [&](std::vector<End> &to, uint32_t &first) {
      first = static_cast<uint32_t>(to.size());
      if (channels[i].transport == Transport::P2P)
        to.push_back({i, Protocol::Simple});
      else
        for (Protocol protocol : terms.protocols)
          to.push_back({i, protocol});
    };
    if (channels[i].sourceRank == rank)
      add(ends.sends, ends.firstSend[i]);
    if (channels[i].destinationRank == rank)
      add(ends.receives, ends.firstReceive[i]);
  }
  return ends;
}

} // namespace coil::cuda
