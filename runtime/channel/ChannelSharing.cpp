//===- ChannelSharing.cpp - Which channels are one in memory --------------===//

#include "runtime/channel/ChannelSharing.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace coil {

ChannelSharing::ChannelSharing(const Plan &plan) {
  using Ends = std::tuple<Transport, uint32_t, uint32_t, uint32_t, uint32_t>;
  std::map<Ends, std::vector<uint32_t>> known;
  for (const PlanVariant &variant : plan.variants) {
    std::map<Ends, size_t> used;
    std::vector<uint32_t> &numbers = sharedOf.emplace_back();
    for (const PlanChannel &channel : variant.channels) {
      Ends ends{channel.transport, channel.sourceRank, channel.sourceWorker,
                channel.destinationRank, channel.destinationWorker};
      std::vector<uint32_t> &candidates = known[ends];
      size_t number = used[ends]++;
      if (number == candidates.size()) {
        candidates.push_back(static_cast<uint32_t>(shared.size()));
        shared.push_back(channel);
      }
      PlanChannel &target = shared[candidates[number]];
      target.slots = std::max(target.slots, channel.slots);
      numbers.push_back(candidates[number]);
    }
  }
}

} // namespace coil
