//===- DeviceRanks.cpp - Ranks with one worker each, by hand --------------===//

#include "test/unit/device/DeviceRanks.h"

#include <algorithm>
#include <numeric>

namespace coil::test {

using namespace coil::device;

DeviceRanks::DeviceRanks(const RanksOptions &options,
                         const std::vector<std::pair<u32, u32>> &channels)
    : fingerprints(options.ranks, 77), present(options.ranks, true), options(options),
      sendNumbers(options.ranks), receiveNumbers(options.ranks), tables(options.ranks),
      peerEntries(options.ranks), windows(options.ranks) {
  auto allocate = [&](size_t bytes) -> ZeroedMemory & { return memory.emplace_back(bytes); };
  const u32 ranks = options.ranks;
  for (u32 rank = 0; rank < ranks; ++rank) {
    auto endsOf = [&](auto member) {
      return static_cast<u32>(std::count_if(channels.begin(), channels.end(), [&](auto &channel) {
        return channel.*member == rank;
      }));
    };
    states.push_back(std::make_unique<RankState>());
    RankState &state = *states.back();
    state.rank = rank;
    state.ranks = ranks;
    state.instances = options.instances;
    state.entries = allocate(ranks * sizeof(EntryRecord)).as<EntryRecord>();
    state.scratchChunks = options.scratchChunks;
    state.tileBytes = options.tileBytes;
    scratch.push_back(
        allocate(options.instances * options.scratchChunks * options.tileBytes).as<u8>());
    state.barriers = allocate(options.workers * options.instances * sizeof(u64)).as<u64>();
    state.sendEndCount = endsOf(&std::pair<u32, u32>::first);
    state.receiveEndCount = endsOf(&std::pair<u32, u32>::second);
    state.sendEnds =
        allocate(options.instances * state.sendEndCount * sizeof(SendEnd)).as<SendEnd>();
    state.receiveEnds =
        allocate(options.instances * state.receiveEndCount * sizeof(ReceiveEnd)).as<ReceiveEnd>();
    state.board = allocate(sizeof(HostBoard)).as<HostBoard>();
    boards.push_back(state.board);
    auto numbered = [](std::vector<u32> &numbers, u32 count) {
      numbers.resize(count);
      std::iota(numbers.begin(), numbers.end(), 0u);
      return numbers.data();
    };
    u32 *sends = numbered(sendNumbers[rank], state.sendEndCount);
    u32 *receives = numbered(receiveNumbers[rank], state.receiveEndCount);
    tables[rank].assign(options.workers,
                        {sends, receives, state.sendEndCount, state.receiveEndCount});
  }
  for (u32 rank = 0; rank < ranks; ++rank) {
    for (u32 other = 0; other < ranks; ++other)
      peerEntries[rank].push_back(states[other]->entries + rank);
    states[rank]->peerEntries = peerEntries[rank].data();
    states[rank]->scratch = scratch.data();
  }
  std::vector<u32> nextSend(ranks), nextReceive(ranks);
  for (auto [from, to] : channels) {
    RankState &sender = *states[from], &receiver = *states[to];
    u32 send = nextSend[from]++, receive = nextReceive[to]++;
    for (u32 instance = 0; instance < options.instances; ++instance) {
      u64 *counter = allocate(128).as<u64>(), *freed = allocate(128).as<u64>();
      *counter = *freed = options.firstOrdinal;
      u8 *slots =
          allocate(options.slots * slotStride(options.protocol, options.tileBytes)).as<u8>();
      sender.sendEnds[instance * sender.sendEndCount + send] = {
          counter, slots, freed, options.firstOrdinal, options.slots, to};
      receiver.receiveEnds[instance * receiver.receiveEndCount + receive] = {
          counter, slots, freed, options.firstOrdinal, options.slots, from};
    }
  }
}

WindowPlace DeviceRanks::placeOf(const void *buffer, u32 rank) const {
  const u8 *address = static_cast<const u8 *>(buffer);
  const Window &window = windows[rank];
  if (!window.base || address < window.base || address > window.base + window.bytes)
    return {};
  return {1, 0, static_cast<u64>(address - window.base)};
}

std::vector<emulation::Problem> DeviceRanks::call(Kernel kernel, const CallOptions &call) {
  u64 tileElements = options.tileBytes / call.elementBytes;
  u64 longest = call.count / call.chunks + (call.count % call.chunks != 0);
  std::vector<emulation::KernelLaunch> launches;
  for (u32 rank = 0; rank < options.ranks; ++rank) {
    if (!present[rank])
      continue;
    states[rank]->windows = windows.data();
    states[rank]->windowCount = 1;
    Launch launch = {};
    launch.count = call.count;
    launch.tileElements = tileElements;
    launch.tiles = std::max<u64>(1, (longest + tileElements - 1) / tileElements);
    launch.timeoutNanoseconds = call.timeoutNanoseconds;
    launch.rankCount = 1;
    RankCall &part = launch.ranks[0];
    part.state = states[rank].get();
    part.workers = tables[rank].data();
    part.input = static_cast<const u8 *>(call.inputs[rank]);
    part.output = static_cast<u8 *>(call.outputs[rank]);
    part.inputPlace = placeOf(call.inputs[rank], rank);
    part.outputPlace = placeOf(call.outputs[rank], rank);
    part.fingerprint = fingerprints[rank];
    part.scalar = call.scalar;
    part.workerCount = options.workers;
    part.instances = options.instances;
    emulation::KernelLaunch &emulated = launches.emplace_back();
    emulated.blocks = options.workers * options.instances;
    emulated.threads = call.threads;
    emulated.sharedBytes = sharedBytes(states[rank]->sendEndCount, states[rank]->receiveEndCount,
                                       options.ranks, call.threads);
    emulated.device = rank;
    emulated.body = [kernel, launch] { kernel(launch); };
  }
  return emulation::run(std::move(launches), call.secondsLimit);
}

} // namespace coil::test
