//===- ChannelSharing.h - Which channels are one in memory ------*- C++ -*-===//
//
// At most one variant of a plan runs at a time, so variants share: channels with
// the same ends are one channel in memory, whose ordinals go on from call to call.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CHANNEL_CHANNELSHARING_H
#define COIL_RUNTIME_CHANNEL_CHANNELSHARING_H

#include "runtime/plan/Plan.h"

#include <vector>

namespace coil {

class ChannelSharing {
public:
  ChannelSharing() = default;
  /// The same on all ranks. Takes time in proportion to the plan's channels.
  explicit ChannelSharing(const Plan &plan);

  /// The channels in memory, each with as many slots as the variants want at most.
  const std::vector<PlanChannel> &channels() const { return shared; }
  /// Index in channels() of channel `channel` of the plan's variant `variant`.
  uint32_t channelOf(size_t variant, uint32_t channel) const { return sharedOf[variant][channel]; }

private:
  std::vector<PlanChannel> shared;
  std::vector<std::vector<uint32_t>> sharedOf;
};

} // namespace coil

#endif // COIL_RUNTIME_CHANNEL_CHANNELSHARING_H
