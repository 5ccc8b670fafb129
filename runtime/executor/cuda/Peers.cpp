//===- Peers.cpp - Where the ranks of a communicator run ------------------===//

#include "runtime/executor/cuda/Peers.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <map>
#include <random>
#include <unistd.h>

namespace coil::cuda {

namespace {

uint64_t randomNumber() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

/// Tells this process from all others, also from one that forked it.
uint64_t processNumber() {
  static const uint64_t number = randomNumber();
  return number ^ static_cast<uint64_t>(getpid()) << 40;
}

bool operator==(const DeviceUuid &a, const DeviceUuid &b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// What keeps offered memory alive, for ranks of the same process to find.
class Keepers {
public:
  static uint64_t add(const std::shared_ptr<const void> &keeper) {
    std::lock_guard lock(mutex);
    std::erase_if(table, [](const auto &entry) { return entry.second.expired(); });
    table.emplace(++lastId, keeper);
    return lastId;
  }
  static std::shared_ptr<const void> find(uint64_t id) {
    std::lock_guard lock(mutex);
    auto found = table.find(id);
    return found == table.end() ? nullptr : found->second.lock();
  }

private:
  static inline std::mutex mutex;
  static inline uint64_t lastId = 0;
  static inline std::map<uint64_t, std::weak_ptr<const void>> table;
};

/// Another process's allocation, mapped here. The driver maps one only once in a
/// context, so all ranks of this process share the mapping.
class IpcMapping {
public:
  static Result<std::shared_ptr<IpcMapping>> open(std::shared_ptr<DeviceContext> device,
                                                  const IpcMemHandle &handle) {
    static std::mutex mutex;
    static std::map<std::pair<const DeviceContext *, std::string>, std::weak_ptr<IpcMapping>> known;
    std::string bytes(handle.reserved, sizeof handle.reserved);
    std::lock_guard lock(mutex);
    std::erase_if(known, [](const auto &entry) { return entry.second.expired(); });
    std::weak_ptr<IpcMapping> &entry = known[{device.get(), std::move(bytes)}];
    if (std::shared_ptr<IpcMapping> mapping = entry.lock())
      return mapping;
    ContextGuard guard(*device);
    if (!guard.status().isOk())
      return Status(guard.status().code(), guard.status().message());
    auto mapping = std::make_shared<IpcMapping>();
    COIL_RETURN_IF_ERROR(COIL_CUDA(device->driver(), cuIpcOpenMemHandle_v2, &mapping->base, handle,
                                   ipcMemLazyEnablePeerAccess));
    mapping->device = std::move(device);
    entry = mapping;
    return mapping;
  }
  IpcMapping() = default;
  IpcMapping(const IpcMapping &) = delete;
  IpcMapping &operator=(const IpcMapping &) = delete;
  ~IpcMapping() {
    if (!device)
      return;
    ContextGuard guard(*device);
    (void)device->driver().functions.cuIpcCloseMemHandle(base);
  }
  DevicePointer address() const { return base; }

private:
  std::shared_ptr<DeviceContext> device;
  DevicePointer base = 0;
};

} // namespace

Status Peers::findDeviceRanks() {
  // All ranks look at all devices, so that all give the same error.
  for (uint32_t rank = 0; rank < places.size(); ++rank) {
    uint32_t count = 0;
    for (uint32_t other = 0; other < places.size(); ++other) {
      if (!(places[other].device == places[rank].device))
        continue;
      ++count;
      if (places[other].process != places[rank].process)
        return Status::error(StatusCode::Unsupported,
                             "ranks {} and {} are processes of their own on one device; ranks that "
                             "share a device must be threads of one process",
                             rank, other);
      if (rank == self)
        onThisDevice.push_back(other);
    }
    if (count > device::maxRanksPerLaunch)
      return Status::error(StatusCode::Unsupported,
                           "{} ranks share the device of rank {}, at most {} can", count, rank,
                           device::maxRanksPerLaunch);
  }
  return Status::ok();
}

Result<bool> Peers::connect(uint32_t other) {
  const Place &place = places[other];
  if (place.device == device->uuid())
    return true;
  int ordinal = place.ordinal;
  if (!isHere(other)) {
    // Device numbers differ between processes.
    COIL_ASSIGN_OR_RETURN(ordinal, findDevice(device->driver(), place.device));
    if (ordinal < 0)
      return false;
  }
  COIL_ASSIGN_OR_RETURN(bool can, device->canAccess(ordinal));
  if (!can || !isHere(other))
    return can;
  COIL_ASSIGN_OR_RETURN(std::shared_ptr<DeviceContext> context,
                        DeviceContext::open(device->driverPointer(), ordinal));
  COIL_RETURN_IF_ERROR(device->enableAccess(*context));
  others.push_back(std::move(context));
  return true;
}

Result<Peers> Peers::meet(const char *what, const Group &group, SetupExchange &exchange,
                          std::shared_ptr<DeviceContext> device, bool usePeerAccess) {
  Peers peers(device, static_cast<uint32_t>(group.rank), static_cast<uint32_t>(group.ranks));
  struct Greeting {
    Place place;
    uint64_t number;
  };
  Greeting mine{{processNumber(), device->uuid(), device->ordinal()}, randomNumber()};
  COIL_ASSIGN_OR_RETURN(std::vector<Greeting> greetings, exchange.gather<Greeting>(what, mine));
  for (const Greeting &greeting : greetings)
    peers.places.push_back(greeting.place);
  peers.identity = greetings.front().number;
  for (uint32_t other = 0; other < greetings.size(); ++other)
    if (peers.isHere(other))
      peers.threads.push_back(other);

  using Row = std::bitset<mostCudaRanks>;
  Result<Row> row = Row();
  if (greetings.size() > mostCudaRanks)
    row = Status::error(StatusCode::Unsupported, "found {} ranks, GPUs run at most {}",
                        greetings.size(), mostCudaRanks);
  else if (Status status = peers.findDeviceRanks(); !status.isOk())
    row = std::move(status);
  for (uint32_t other = 0; row.isOk() && other < greetings.size(); ++other) {
    bool sameDevice = peers.places[other].device == device->uuid();
    Result<bool> reached = usePeerAccess || sameDevice ? peers.connect(other) : Result<bool>(false);
    if (reached.isOk())
      row->set(other, *reached);
    else
      row = std::move(reached).status();
  }
  COIL_ASSIGN_OR_RETURN(std::vector<Row> rows, exchange.gather<Row>(what, row));
  for (uint32_t a = 0; a < rows.size(); ++a)
    for (uint32_t b = 0; b < rows.size(); ++b)
      if (!rows[a][b])
        peers.reachable.remove(a, b);
  return peers;
}

std::vector<uint32_t> Peers::firstOfDevices() const {
  std::vector<uint32_t> first;
  for (uint32_t rank = 0; rank < places.size(); ++rank)
    if (std::none_of(first.begin(), first.end(),
                     [&](uint32_t other) { return places[other].device == places[rank].device; }))
      first.push_back(rank);
  return first;
}

Result<MemoryOffer> Peers::offer(uint64_t address, uint64_t bytes, uint64_t base,
                                 const std::shared_ptr<const void> &keeper) const {
  MemoryOffer offer;
  if (bytes == 0)
    return offer;
  offer.address = address;
  offer.bytes = bytes;
  offer.offset = address - base;
  if (keeper)
    offer.keeperId = Keepers::add(keeper);
  if (areAllHere())
    return offer;
  ContextGuard guard(*device);
  if (!guard.status().isOk())
    return Status(guard.status().code(), guard.status().message());
  Status exported = COIL_CUDA(device->driver(), cuIpcGetMemHandle, &offer.handle, base);
  if (!exported.isOk())
    return Status::error(StatusCode::Unsupported,
                         "the memory at {:#x} cannot be shared with other processes, as memory of "
                         "cuMemAlloc or cudaMalloc can: {}",
                         address, exported.message());
  return offer;
}

Result<PeerMemory> Peers::map(uint32_t other, const MemoryOffer &theirs) const {
  PeerMemory memory;
  memory.bytes = theirs.bytes;
  if (theirs.bytes == 0 || !reachable.between(self, other))
    return memory;
  if (isHere(other)) {
    memory.data = reinterpret_cast<uint8_t *>(theirs.address);
    if (theirs.keeperId == 0)
      return memory;
    memory.keeper = Keepers::find(theirs.keeperId);
    if (!memory.keeper)
      return Status::error(StatusCode::InternalError, "memory {} is not of this process",
                           theirs.keeperId);
    return memory;
  }
  COIL_ASSIGN_OR_RETURN(std::shared_ptr<IpcMapping> mapping,
                        IpcMapping::open(device, theirs.handle));
  memory.data = reinterpret_cast<uint8_t *>(mapping->address() + theirs.offset);
  memory.keeper = std::move(mapping);
  return memory;
}

Result<std::vector<PeerMemory>> Peers::share(const char *what, SetupExchange &exchange,
                                             const Result<MemoryOffer> &mine) const {
  COIL_ASSIGN_OR_RETURN(std::vector<MemoryOffer> offers, exchange.gather<MemoryOffer>(what, mine));
  std::vector<PeerMemory> memories;
  Status mapped;
  for (uint32_t other = 0; other < offers.size() && mapped.isOk(); ++other) {
    Result<PeerMemory> memory = map(other, offers[other]);
    if (memory.isOk())
      memories.push_back(*std::move(memory));
    else
      mapped = std::move(memory).status().withContext(
          fmt::format("cannot map memory of rank {}", other));
  }
  // Owners keep what they offered until all have it.
  COIL_RETURN_IF_ERROR(exchange.agree(what, mapped));
  return memories;
}

} // namespace coil::cuda
