//===- CallLog.cpp - What a rank has enqueued -----------------------------===//

#include "runtime/executor/cuda/CallLog.h"

namespace coil::cuda {

namespace {
uint64_t packHow(const CallFacts &facts) {
  return static_cast<uint64_t>(facts.transport) | static_cast<uint64_t>(facts.protocol) << 8 |
         static_cast<uint64_t>(facts.instances) << 32;
}

CallFacts unpack(uint64_t facts, uint64_t count, uint64_t digest, uint64_t how, uint64_t tile) {
  CallFacts result;
  CallArguments &arguments = result.arguments;
  arguments.kind = static_cast<CallKind>(facts & 0xff);
  arguments.type = static_cast<DataType>(facts >> 8 & 0xff);
  arguments.op = static_cast<ReduceOp>(facts >> 16 & 0xff);
  arguments.inPlace = (facts >> 24 & 0xff) != 0;
  arguments.root = static_cast<uint32_t>(facts >> 32);
  arguments.count = count;
  arguments.planDigest = digest;
  result.transport = static_cast<Transport>(how & 0xff);
  result.protocol = static_cast<Protocol>(how >> 8 & 0xff);
  result.instances = static_cast<uint32_t>(how >> 32);
  result.tileElements = tile;
  return result;
}

const char *howItRuns(const CallFacts &facts) {
  if (facts.transport == Transport::P2P)
    return "between registered buffers";
  switch (facts.protocol) {
  case Protocol::Ll:
    return "through staged messages (ll)";
  case Protocol::Ll128:
    return "through staged messages (ll128)";
  default:
    return "through staged messages";
  }
}
} // namespace

uint64_t fingerprintOf(const CallFacts &facts) {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15;
  auto mix = [](uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * multiplier;
    return hash ^ (hash >> 29);
  };
  uint64_t hash = coil::fingerprintOf(0, facts.arguments);
  return mix(mix(hash, packHow(facts)), facts.tileElements);
}

Status disagreement(uint32_t rank, const CallFacts &mine, uint32_t other, const CallFacts &theirs) {
  // All ranks that look say it with the same words: lower rank first.
  bool swap = other < rank;
  uint32_t low = swap ? other : rank, high = swap ? rank : other;
  const CallFacts &first = swap ? theirs : mine, &second = swap ? mine : theirs;
  if (!(first.arguments == second.arguments)) {
    const char *plans = first.arguments.planDigest != second.arguments.planDigest &&
                                first.arguments.kind == second.arguments.kind
                            ? ", with another plan"
                            : "";
    return Status::error(StatusCode::InvalidUsage,
                         "the ranks disagree on a call: rank {} called {}, rank {} called {}{}",
                         low, describe(first.arguments), high, describe(second.arguments), plans);
  }
  if (first.transport != second.transport)
    return Status::error(StatusCode::InvalidUsage,
                         "the ranks disagree on how to run {}: rank {} runs it {}, rank {} {}; "
                         "register the buffers of all ranks or of none",
                         describe(first.arguments), low, howItRuns(first), high, howItRuns(second));
  return Status::error(StatusCode::InvalidUsage,
                       "the ranks disagree on how to run {}: rank {} runs it {} with {} instances "
                       "and {} elements a tile, rank {} {} with {} and {}",
                       describe(first.arguments), low, howItRuns(first), first.instances,
                       first.tileElements, high, howItRuns(second), second.instances,
                       second.tileElements);
}

void CallLog::append(uint64_t fingerprint, const CallFacts &facts, bool captured) {
  uint64_t number = count.load(std::memory_order_relaxed) + 1;
  Record &record = records[number % capacity];
  // A reader that sees a word of this call sees that the record has changed.
  record[Number].store(0, std::memory_order_relaxed);
  record[Fingerprint].store(fingerprint, std::memory_order_release);
  record[Facts].store(packFacts(facts.arguments), std::memory_order_release);
  record[Count].store(facts.arguments.count, std::memory_order_release);
  record[PlanDigest].store(facts.arguments.planDigest, std::memory_order_release);
  record[How].store(packHow(facts), std::memory_order_release);
  record[TileElements].store(facts.tileElements, std::memory_order_release);
  record[Number].store(number, std::memory_order_release);
  if (captured)
    captures.store(1, std::memory_order_release);
  count.store(number, std::memory_order_release);
}

std::optional<CallLog::Entry> CallLog::at(uint64_t number) const {
  const Record &record = records[number % capacity];
  if (number == 0 || record[Number].load(std::memory_order_acquire) != number)
    return std::nullopt;
  auto get = [&](Word word) { return record[word].load(std::memory_order_acquire); };
  Entry entry{get(Fingerprint),
              unpack(get(Facts), get(Count), get(PlanDigest), get(How), get(TileElements))};
  if (record[Number].load(std::memory_order_relaxed) != number)
    return std::nullopt;
  return entry;
}

std::optional<CallFacts> CallLog::find(uint64_t fingerprint) const {
  uint64_t last = enqueued();
  for (uint64_t number = last; number > 0 && last - number < capacity; --number)
    if (std::optional<Entry> entry = at(number); entry && entry->fingerprint == fingerprint)
      return entry->facts;
  return std::nullopt;
}

} // namespace coil::cuda
