//===- PlanSegment.h - Where a plan's channels and scratch lie --*- C++ -*-===//
//
// Each rank has one segment of shared memory a loaded plan: the slots and signal
// counters of channels that end at it, the counters of freed slots of channels
// that begin at it, and its scratch. All ranks compute the same layout.
//
// Variants share channels (ChannelSharing.h) and scratch, which is as large as
// the largest variant's.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CHANNEL_PLANSEGMENT_H
#define COIL_RUNTIME_CHANNEL_PLANSEGMENT_H

#include "runtime/base/Status.h"
#include "runtime/channel/ChannelSharing.h"
#include "runtime/channel/Fifo.h"
#include "runtime/plan/Plan.h"

#include <vector>

namespace coil {

class PlanSegmentLayout {
public:
  /// `largestSlot` bytes a slot (a multiple of 64), or fewer where a plan has so
  /// many slots that a rank's segment would grow beyond reason. InvalidPlan if
  /// even small slots are too much.
  static Result<PlanSegmentLayout> compute(const Plan &plan, size_t largestSlot);

  /// Bytes of a slot's payload and of a scratch chunk: a tile is no larger.
  size_t tileBytes() const { return slotBytes; }
  size_t segmentBytes(uint32_t rank) const { return bytes[rank]; }

  /// One channel in memory, which channels of several variants share.
  struct SharedChannel {
    PlanChannel channel;
    size_t atDestination = 0; ///< slots or signal counter, in the destination's segment
    size_t atSource = 0;      ///< counter of freed slots, in the source's segment
  };
  const std::vector<SharedChannel> &channels() const { return sharedChannels; }
  /// Index in channels() of channel `channel` of the plan's variant `variant`.
  uint32_t channelOf(size_t variant, uint32_t channel) const {
    return sharing.channelOf(variant, channel);
  }
  /// `segments` are every rank's segments as mapped here.
  FifoPlace fifo(uint32_t shared, const std::vector<std::byte *> &segments) const;
  SharedCounter *counter(uint32_t shared, const std::vector<std::byte *> &segments) const;
  /// Scratch chunk `index` of a rank, in its segment.
  size_t scratchOffset(uint32_t rank, uint32_t index) const {
    return scratchBegin[rank] + size_t{index} * slotBytes;
  }

private:
  size_t slotBytes = 0;
  ChannelSharing sharing;
  std::vector<SharedChannel> sharedChannels;
  std::vector<size_t> scratchBegin;
  std::vector<size_t> bytes;
};

} // namespace coil

#endif // COIL_RUNTIME_CHANNEL_PLANSEGMENT_H
