//===- PlanLoading.cpp - Memory of a plan on all ranks --------------------===//

#include "runtime/executor/cuda/RankInside.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace coil::cuda {

using namespace device;

namespace {
constexpr const char *call = "coilCommLoadPlan";

/// Most workers of a rank in any variant.
uint64_t mostWorkers(const Plan &plan, uint32_t rank) {
  size_t most = 1;
  for (const PlanVariant &variant : plan.variants)
    most = std::max(most, variant.programs[variant.programOfKind[rank]].workers.size());
  return most;
}

bool hasStaged(const Plan &plan) {
  return std::any_of(plan.variants.begin(), plan.variants.end(), [](const PlanVariant &variant) {
    return variant.transport == Transport::Staged;
  });
}

/// Bytes of structures to be copied to a device, with the addresses that they
/// will have there.
class Image {
public:
  template <typename T> uint64_t reserve(size_t count) {
    size_t begin = (bytes.size() + 127) / 128 * 128;
    bytes.resize(begin + count * sizeof(T));
    return begin;
  }
  template <typename T> T *at(uint64_t offset) {
    return reinterpret_cast<T *>(bytes.data() + offset);
  }
  size_t size() const { return bytes.size(); }
  const uint8_t *data() const { return bytes.data(); }

private:
  std::vector<uint8_t> bytes;
};

template <typename T> T *pointer(DevicePointer address) { return reinterpret_cast<T *>(address); }
} // namespace

uint32_t LoadedCudaPlan::State::rank() const { return owner.rank(); }

std::optional<Protocol> LoadedCudaPlan::State::fixedProtocol() const {
  if (owner.config.forceProtocol || !plan.protocol)
    return owner.config.forceProtocol;
  return deviceProtocol(*plan.protocol);
}

Result<LayoutTerms> LoadedCudaPlan::State::terms() const {
  if (plan.ranks != owner.peers->ranks())
    return Status::error(StatusCode::InvalidPlan, "plan '{}' is for {} ranks, found {}", plan.name,
                         plan.ranks, owner.peers->ranks());
  LayoutTerms terms;
  terms.tileBytes = owner.config.tileBytes;
  if (std::optional<Protocol> protocol = fixedProtocol())
    terms.protocols = {*protocol};
  else if (owner.config.llBytes == 0)
    terms.protocols = {Protocol::Simple};
  else
    terms.protocols = {Protocol::Simple, Protocol::Ll};
  if (!owner.peers->reach().everywhere() && !hasStaged(plan))
    return Status::error(StatusCode::Unsupported,
                         "plan '{}' runs between registered buffers only, and not all devices "
                         "reach each other's memory",
                         plan.name);
  // A block a multiprocessor is resident whatever the kernel needs. More may be,
  // which the launch of the kernel finds out.
  uint64_t workers = mostWorkers(plan, rank());
  for (uint32_t other : owner.peers->deviceRanks())
    workers += other == rank() ? 0 : mostWorkers(plan, other);
  if (workers > 1 && !owner.device->hasCooperativeLaunch())
    return Status::error(StatusCode::Unsupported,
                         "{} has no cooperative launch, which {} blocks that wait for each other "
                         "need",
                         owner.device->describe(), workers);
  uint64_t fitting = std::max<uint64_t>(1, owner.device->multiprocessors() / workers);
  terms.instances = static_cast<uint32_t>(std::min<uint64_t>(owner.config.instances, fitting));
  if (!owner.device->hasCooperativeLaunch())
    terms.instances = 1;
  return terms;
}

Status LoadedCudaPlan::State::load() {
  Result<LayoutTerms> mine = terms();
  Result<uint32_t> instances = 0u;
  if (mine.isOk())
    instances = mine->instances;
  else
    instances = Status(mine.status().code(), mine.status().message());
  COIL_ASSIGN_OR_RETURN(std::vector<uint32_t> all,
                        owner.exchange.gather<uint32_t>(call, instances));
  mine->instances = *std::min_element(all.begin(), all.end());
  if (fixedProtocol() == Protocol::Ll128)
    COIL_RETURN_IF_ERROR(owner.requireLl128(call));
  // Every rank finds the same.
  COIL_ASSIGN_OR_RETURN(DeviceLayout found,
                        DeviceLayout::compute(plan, *mine, owner.peers->reach()));
  layout = std::make_unique<DeviceLayout>(std::move(found));
  ends = layout->endsOf(rank());

  memory = std::make_shared<PlanMemory>();
  Result<std::shared_ptr<SharedSegment>> segment = std::shared_ptr<SharedSegment>();
  Result<SharedSegment> made = SharedSegment::create("coil-cuda-plan", layout->hostBytes(rank()));
  if (made.isOk())
    segment = memory->host = std::make_shared<SharedSegment>(*std::move(made));
  else
    segment = std::move(made).status();
  COIL_ASSIGN_OR_RETURN(hosts, owner.exchange.share(call, std::move(segment)));
  COIL_ASSIGN_OR_RETURN(devices, owner.peers->share(call, owner.exchange, allocate()));
  COIL_RETURN_IF_ERROR(owner.exchange.agree(call, prepare()));
  owner.add(*this);
  return Status::ok();
}

Result<MemoryOffer> LoadedCudaPlan::State::allocate() {
  COIL_ASSIGN_OR_RETURN(
      memory->registration,
      HostRegistration::create(owner.device, memory->host->data(), layout->hostBytes(rank())));
  COIL_ASSIGN_OR_RETURN(
      memory->onDevice,
      DeviceBuffer::create(owner.device, layout->deviceBytes(rank()), owner.stream));
  DevicePointer base = memory->onDevice.get(), allocation = base;
  if (!owner.peers->areAllHere()) {
    ContextGuard guard(*owner.device);
    size_t bytes = 0;
    COIL_RETURN_IF_ERROR(
        COIL_CUDA(owner.device->driver(), cuMemGetAddressRange_v2, &allocation, &bytes, base));
  }
  return owner.peers->offer(base, memory->onDevice.size(), allocation, memory);
}

Status LoadedCudaPlan::State::mapHosts() {
  hostAddresses.assign(hosts.size(), 0);
  for (uint32_t other = 0; other < hosts.size(); ++other) {
    if (other != rank() && owner.peers->reach().everywhere())
      continue;
    if (!owner.peers->isHere(other)) {
      COIL_ASSIGN_OR_RETURN(
          HostRegistration registration,
          HostRegistration::create(owner.device, hosts[other].data, layout->hostBytes(other)));
      foreignHosts.push_back(std::move(registration));
    }
    COIL_ASSIGN_OR_RETURN(hostAddresses[other], deviceAddress(*owner.device, hosts[other].data));
  }
  return Status::ok();
}

Result<DevicePointer> LoadedCudaPlan::State::addressOf(uint32_t other,
                                                       DeviceLayout::Place place) const {
  DevicePointer base =
      place.onHost ? hostAddresses[other] : reinterpret_cast<DevicePointer>(devices[other].data);
  if (base == 0)
    return Status::error(StatusCode::InternalError, "rank {} does not reach memory of rank {}",
                         rank(), other);
  return base + place.offset;
}

Status LoadedCudaPlan::State::prepare() {
  COIL_RETURN_IF_ERROR(mapHosts());
  uint32_t ranks = owner.peers->ranks(), instances = layout->instances();
  Image image;
  uint64_t stateAt = image.reserve<RankState>(1);
  uint64_t peerEntriesAt = image.reserve<device::EntryRecord *>(ranks);
  uint64_t scratchAt = image.reserve<u8 *>(ranks);
  uint64_t barriersAt = image.reserve<u64>(mostWorkers(plan, rank()) * instances);
  uint64_t sendsAt = image.reserve<SendEnd>(ends.sends.size() * instances);
  uint64_t receivesAt = image.reserve<ReceiveEnd>(ends.receives.size() * instances);
  COIL_ASSIGN_OR_RETURN(stateMemory,
                        DeviceBuffer::create(owner.device, image.size(), owner.stream));
  DevicePointer base = stateMemory.get();

  for (uint32_t other = 0; other < ranks; ++other) {
    COIL_ASSIGN_OR_RETURN(DevicePointer entries, addressOf(other, layout->entries(other)));
    image.at<device::EntryRecord *>(peerEntriesAt)[other] =
        pointer<device::EntryRecord>(entries) + rank();
    if (devices[other].data)
      image.at<u8 *>(scratchAt)[other] = devices[other].data + layout->scratchOffset(other);
  }
  const std::vector<PlanChannel> &channels = layout->channels().channels();
  for (uint32_t instance = 0; instance < instances; ++instance) {
    // Both kinds of ends name the same places.
    auto fill = [&](auto *to, const DeviceLayout::End &end, uint32_t peer) {
      const PlanChannel &channel = channels[end.shared];
      to->peer = peer;
      if (channel.transport == Transport::P2P) {
        COIL_ASSIGN_OR_RETURN(
            DevicePointer counter,
            addressOf(channel.destinationRank, layout->counter(end.shared, instance)));
        to->counter = pointer<u64>(counter);
        return Status::ok();
      }
      COIL_ASSIGN_OR_RETURN(
          DevicePointer slots,
          addressOf(channel.destinationRank, layout->slots(end.shared, end.protocol, instance)));
      COIL_ASSIGN_OR_RETURN(
          DevicePointer freed,
          addressOf(channel.sourceRank, layout->freed(end.shared, end.protocol, instance)));
      to->slots = pointer<u8>(slots);
      to->freed = pointer<u64>(freed);
      to->slotCount = channel.slots;
      return Status::ok();
    };
    for (size_t i = 0; i < ends.sends.size(); ++i)
      COIL_RETURN_IF_ERROR(fill(image.at<SendEnd>(sendsAt) + instance * ends.sends.size() + i,
                                ends.sends[i], channels[ends.sends[i].shared].destinationRank));
    for (size_t i = 0; i < ends.receives.size(); ++i)
      COIL_RETURN_IF_ERROR(
          fill(image.at<ReceiveEnd>(receivesAt) + instance * ends.receives.size() + i,
               ends.receives[i], channels[ends.receives[i].shared].sourceRank));
  }

  RankState &state = *image.at<RankState>(stateAt);
  state.rank = rank();
  state.ranks = ranks;
  COIL_ASSIGN_OR_RETURN(DevicePointer entries, addressOf(rank(), layout->entries(rank())));
  state.entries = pointer<device::EntryRecord>(entries);
  state.peerEntries = pointer<device::EntryRecord *>(base + peerEntriesAt);
  state.windows = owner.windows->table();
  state.windowCount = owner.windows->capacity();
  state.instances = instances;
  state.scratch = pointer<u8 *>(base + scratchAt);
  state.scratchChunks = layout->scratchChunks();
  state.tileBytes = layout->tileBytes();
  state.barriers = pointer<u64>(base + barriersAt);
  state.sendEnds = pointer<SendEnd>(base + sendsAt);
  state.receiveEnds = pointer<ReceiveEnd>(base + receivesAt);
  state.sendEndCount = static_cast<u32>(ends.sends.size());
  state.receiveEndCount = static_cast<u32>(ends.receives.size());
  state.board = pointer<HostBoard>(hostAddresses[rank()]);
  return copyToDevice(*owner.device, owner.stream, base, image.data(), image.size());
}

Status LoadedCudaPlan::State::writeWindows() {
  RankState changed{};
  changed.windows = owner.windows->table();
  changed.windowCount = owner.windows->capacity();
  auto write = [&](size_t offset, size_t bytes) {
    return copyToDevice(*owner.device, owner.stream, stateMemory.get() + offset,
                        reinterpret_cast<const std::byte *>(&changed) + offset, bytes);
  };
  // The larger table serves a kernel that still has the smaller count.
  COIL_RETURN_IF_ERROR(write(offsetof(RankState, windows), sizeof changed.windows));
  return write(offsetof(RankState, windowCount), sizeof changed.windowCount);
}

Result<const LoadedCudaPlan::State::Binding *> LoadedCudaPlan::State::bind(size_t variant,
                                                                           Protocol protocol) {
  if (auto found = bindings.find({variant, protocol}); found != bindings.end())
    return &found->second;
  Binding binding;
  COIL_ASSIGN_OR_RETURN(binding.text, owner.kernels->text(sourceOf(variant, protocol)));
  const auto &facts = binding.text->ranks[rank()];
  binding.rankClass = facts.rankClass;
  // A rank with nothing to do still counts its calls: a block without ends does.
  size_t workers = std::max<size_t>(1, facts.workers.size());
  binding.workerCount = static_cast<uint32_t>(workers);

  Image image;
  uint64_t workersAt = image.reserve<WorkerTables>(workers);
  uint64_t constantsAt = image.reserve<u32>(facts.constants.size());
  std::copy(facts.constants.begin(), facts.constants.end(), image.at<u32>(constantsAt));
  struct Lists {
    uint64_t sendsAt, receivesAt;
  };
  std::vector<Lists> lists;
  auto addList = [&](const std::vector<uint32_t> &numbers, const std::vector<uint32_t> &first) {
    uint64_t at = image.reserve<u32>(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      uint32_t shared = layout->channels().channelOf(variant, numbers[i]);
      bool staged = layout->channels().channels()[shared].transport == Transport::Staged;
      image.at<u32>(at)[i] = first[shared] + (staged ? layout->indexOf(protocol) : 0);
    }
    return at;
  };
  for (const auto &worker : facts.workers) {
    uint64_t sendsAt = addList(worker.sends, ends.firstSend);
    lists.push_back({sendsAt, addList(worker.receives, ends.firstReceive)});
  }
  COIL_ASSIGN_OR_RETURN(binding.tables,
                        DeviceBuffer::create(owner.device, image.size(), owner.stream));
  DevicePointer base = binding.tables.get();
  for (size_t i = 0; i < lists.size(); ++i)
    image.at<WorkerTables>(workersAt)[i] = {pointer<u32>(base + lists[i].sendsAt),
                                            pointer<u32>(base + lists[i].receivesAt),
                                            static_cast<u32>(facts.workers[i].sends.size()),
                                            static_cast<u32>(facts.workers[i].receives.size())};
  COIL_RETURN_IF_ERROR(copyToDevice(*owner.device, owner.stream, base, image.data(), image.size()));
  binding.workers = pointer<WorkerTables>(base + workersAt);
  binding.constants = pointer<u32>(base + constantsAt);
  return &bindings.emplace(std::pair(variant, protocol), std::move(binding)).first->second;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

LoadedCudaPlan::State::~State() {
  if (!memory || hosts.empty() || !layout)
    return;
  owner.settle(*this);
  owner.remove(*this);
  if (hosts[rank()].data)
    std::atomic_ref(boardOf(rank())->released).store(1, std::memory_order_release);
  // Kernels of other processes may still free slots here or read buffers. Threads
  // of this one hold the memory themselves.
  using Clock = std::chrono::steady_clock;
  constexpr auto afterFailure = std::chrono::seconds(2), longest = std::chrono::seconds(30);
  Clock::time_point start = Clock::now();
  for (uint32_t other = 0; other < hosts.size(); ++other) {
    auto isDone = [&] {
      return owner.peers->isHere(other) || isReleased(other) ||
             finishedCallsOf(other) >= finishedCalls() ||
             owner.group.of(static_cast<int>(other)).departed.load(std::memory_order_acquire) !=
                 0 ||
             owner.group.isLost(static_cast<int>(other));
    };
    while (!isDone() && Clock::now() - start < (owner.poison().isOk() ? longest : afterFailure))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

} // namespace coil::cuda
