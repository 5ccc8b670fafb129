//===- CudaRank.cpp - One rank of a communicator on a GPU -----------------===//

#include "runtime/executor/cuda/CudaRank.h"

#include "runtime/executor/cuda/Ll128Check.h"
#include "runtime/executor/cuda/RankInside.h"
#include "runtime/kernels/device/SharedLayout.h"

namespace coil::cuda {

namespace {
/// Between looks at calls in flight.
constexpr auto lookPeriod = std::chrono::milliseconds(50);

Status copyOf(const Status &status) {
  return status.isOk() ? Status::ok() : Status(status.code(), status.message());
}

Status checkConfig(const CudaConfig &config) {
  auto invalid = [](const char *what, uint64_t low, uint64_t high, uint64_t found) {
    return Status::error(StatusCode::InvalidArgument, "expected {} from {} to {}, found {}", what,
                         low, high, found);
  };
  constexpr uint32_t mostInstances = 1024;
  if (config.instances == 0 || config.instances > mostInstances)
    return invalid("instances", 1, mostInstances, config.instances);
  if (config.threadsPerBlock < 32 || config.threadsPerBlock > device::mostBlockThreads)
    return invalid("threads of a block", 32, device::mostBlockThreads, config.threadsPerBlock);
  if (config.threadsPerBlock % 32 != 0)
    return Status::error(StatusCode::InvalidArgument,
                         "expected a multiple of 32 threads in a block, found {}",
                         config.threadsPerBlock);
  constexpr uint64_t smallestTile = 512, largestTile = 64 << 20;
  if (config.tileBytes < smallestTile || config.tileBytes > largestTile)
    return invalid("bytes of a tile", smallestTile, largestTile, config.tileBytes);
  if (config.tileBytes % 128 != 0)
    return Status::error(StatusCode::InvalidArgument,
                         "expected a multiple of 128 bytes in a tile, found {}", config.tileBytes);
  return Status::ok();
}

/// What decides how calls run, and must be the same everywhere.
struct Terms {
  uint64_t instances, threads, tileBytes, llBytes, directBytes, protocol, peerAccess;

  explicit Terms(const CudaConfig &config)
      : instances(config.instances), threads(config.threadsPerBlock), tileBytes(config.tileBytes),
        llBytes(config.llBytes), directBytes(config.directBytes),
        protocol(config.forceProtocol ? uint64_t{1} + static_cast<uint64_t>(*config.forceProtocol)
                                      : 0),
        peerAccess(config.usePeerAccess) {}
  Terms() : Terms(CudaConfig()) {}
};

Status compareTerms(const std::vector<Terms> &all) {
  struct {
    const char *name;
    uint64_t Terms::*value;
  } const fields[] = {{"instances", &Terms::instances},
                      {"threads of a block", &Terms::threads},
                      {"bytes of a tile", &Terms::tileBytes},
                      {"bytes up to which ll is used", &Terms::llBytes},
                      {"directBytes", &Terms::directBytes},
                      {"the protocol asked for", &Terms::protocol},
                      {"the use of peer access", &Terms::peerAccess}};
  for (size_t other = 1; other < all.size(); ++other)
    for (const auto &field : fields)
      if (all[other].*field.value != all.front().*field.value)
        return Status::error(StatusCode::InvalidUsage,
                             "the ranks differ in {}: rank 0 has {}, rank {} has {}", field.name,
                             all.front().*field.value, other, all[other].*field.value);
  return Status::ok();
}
} // namespace

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

CudaRank::CudaRank(std::unique_ptr<State> state) : state(std::move(state)) {}

CudaRank::~CudaRank() {
  // No look may begin once parts are gone.
  state->watchdog.reset();
}

Result<std::unique_ptr<CudaRank>> CudaRank::create(std::shared_ptr<const Driver> driver,
                                                   int deviceOrdinal, const Group &group,
                                                   SetupExchange &exchange,
                                                   const CudaConfig &config) {
  constexpr const char *call = "coilCommInitRank";
  Result<std::shared_ptr<DeviceContext>> device =
      checkConfig(config).isOk() ? DeviceContext::open(driver, deviceOrdinal) : checkConfig(config);
  Result<Terms> mine = Terms(config);
  if (!device.isOk())
    mine = Status(device.status().code(), device.status().message());
  COIL_ASSIGN_OR_RETURN(std::vector<Terms> all, exchange.gather<Terms>(call, mine));
  COIL_RETURN_IF_ERROR(compareTerms(all));
  auto state = std::make_unique<State>(*std::move(device), group, exchange, config);
  COIL_RETURN_IF_ERROR(state->meet());
  return std::unique_ptr<CudaRank>(new CudaRank(std::move(state)));
}

Status CudaRank::State::meet() {
  constexpr const char *call = "coilCommInitRank";
  COIL_ASSIGN_OR_RETURN(Peers met,
                        Peers::meet(call, group, exchange, device, config.usePeerAccess));
  peers = std::make_unique<Peers>(std::move(met));

  Result<std::shared_ptr<SharedSegment>> segment = std::shared_ptr<SharedSegment>();
  Result<SharedSegment> made = SharedSegment::create("coil-cuda-calls", sizeof(CallLog));
  if (made.isOk())
    segment = std::make_shared<SharedSegment>(*std::move(made));
  else
    segment = std::move(made).status();
  COIL_ASSIGN_OR_RETURN(logSegments, exchange.share(call, std::move(segment)));
  for (const PeerSegment &each : logSegments)
    logs.push_back(reinterpret_cast<const CallLog *>(each.data));
  log = reinterpret_cast<CallLog *>(logSegments[rank()].data);

  auto prepare = [&]() -> Status {
    COIL_ASSIGN_OR_RETURN(stream, Stream::create(device));
    COIL_ASSIGN_OR_RETURN(DeviceWindows table,
                          DeviceWindows::create(device, stream, peers->ranks()));
    windows = std::make_unique<DeviceWindows>(std::move(table));
    if (peers->deviceRanks().size() > 1) {
      COIL_ASSIGN_OR_RETURN(
          sharedLaunch, SharedLaunch::find(peers->communicatorId(), device, peers->deviceRanks()));
    }
    kernels = KernelStore::find(device, config);
    return Status::ok();
  };
  COIL_RETURN_IF_ERROR(exchange.agree(call, prepare()));
  if (config.forceProtocol == Protocol::Ll128)
    COIL_RETURN_IF_ERROR(requireLl128(call));
  watchdog = std::make_unique<Watchdog>(lookPeriod, [this] { return look(); });
  return Status::ok();
}

Status CudaRank::State::requireLl128(const char *call) {
  if (!ll128Works)
    COIL_RETURN_IF_ERROR(checkLl128(call, *peers, exchange, device, stream, *kernels));
  ll128Works = true;
  return Status::ok();
}

Result<std::unique_ptr<LoadedCudaPlan>>
CudaRank::loadPlan(Plan plan, std::shared_ptr<const nvrtc::CubinBundle> trusted) {
  auto loaded =
      std::make_unique<LoadedCudaPlan::State>(*state, std::move(plan), std::move(trusted));
  COIL_RETURN_IF_ERROR(loaded->load());
  return std::unique_ptr<LoadedCudaPlan>(new LoadedCudaPlan(std::move(loaded)));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result<uint32_t> CudaRank::registerMemory(void *pointer, size_t bytes) {
  constexpr const char *call = "coilCommRegister";
  const Driver &driver = state->device->driver();
  auto address = reinterpret_cast<DevicePointer>(pointer);
  auto offer = [&]() -> Result<MemoryOffer> {
    if (bytes == 0)
      return MemoryOffer();
    ContextGuard guard(*state->device);
    COIL_RETURN_IF_ERROR(copyOf(guard.status()));
    auto type = MemoryType::Host;
    int ordinal = -1;
    if (driver.functions.cuPointerGetAttribute(&type, PointerAttribute::MemoryType, address) !=
            DriverResult::Success ||
        type != MemoryType::Device)
      return Status::error(StatusCode::InvalidArgument,
                           "expected memory of a device, found {} bytes of other memory at {}",
                           bytes, pointer);
    COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuPointerGetAttribute, &ordinal,
                                   PointerAttribute::DeviceOrdinal, address));
    if (ordinal != state->device->ordinal())
      return Status::error(StatusCode::InvalidArgument,
                           "expected memory of device {}, found memory of device {}",
                           state->device->ordinal(), ordinal);
    DevicePointer base = 0;
    size_t size = 0;
    COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuMemGetAddressRange_v2, &base, &size, address));
    if (bytes > size - (address - base))
      return Status::error(StatusCode::InvalidArgument,
                           "expected {} bytes at {}, of which its allocation holds {}", bytes,
                           pointer, size - (address - base));
    return state->peers->offer(address, bytes, base, nullptr);
  };
  COIL_ASSIGN_OR_RETURN(std::vector<PeerMemory> parts,
                        state->peers->share(call, state->exchange, offer()));
  bool moved = false;
  Result<uint32_t> window = state->windows->add(state->stream, bytes == 0 ? nullptr : pointer,
                                                bytes, std::move(parts), moved);
  Status written = copyOf(window.status());
  if (written.isOk() && moved)
    written = state->writeWindows();
  Status agreed = state->exchange.agree(call, written);
  if (!agreed.isOk()) {
    if (window.isOk())
      (void)state->windows->remove(state->stream, *window);
    return agreed;
  }
  return *window;
}

Status CudaRank::deregister(uint32_t window) {
  return state->exchange.agree("coilCommDeregister", state->windows->remove(state->stream, window));
}

Result<void *> CudaRank::memAlloc(size_t bytes) {
  ContextGuard guard(*state->device);
  COIL_RETURN_IF_ERROR(copyOf(guard.status()));
  DevicePointer pointer = 0;
  COIL_RETURN_IF_ERROR(COIL_CUDA(state->device->driver(), cuMemAlloc_v2, &pointer, bytes)
                           .withContext(fmt::format("cannot allocate {} bytes on {}", bytes,
                                                    state->device->describe())));
  return reinterpret_cast<void *>(pointer);
}

Status CudaRank::memFree(void *pointer) {
  ContextGuard guard(*state->device);
  COIL_RETURN_IF_ERROR(copyOf(guard.status()));
  return COIL_CUDA(state->device->driver(), cuMemFree_v2, reinterpret_cast<DevicePointer>(pointer));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Status CudaRank::prepare(LoadedCudaPlan &plan, const CudaCall &call) {
  COIL_ASSIGN_OR_RETURN(CallChoice choice, plan.state->choose(call));
  return plan.state->part(call, choice).status();
}

Status CudaRank::enqueue(LoadedCudaPlan &plan, const CudaCall &call, DriverStream *stream) {
  if (state->group.mine().poison.isSet())
    return health();
  LoadedCudaPlan::State &loaded = *plan.state;
  Result<CallChoice> choice = loaded.choose(call);
  if (!choice.isOk()) {
    // Other ranks, whose buffers may be registered, would wait.
    bool isAlone = choice.status().code() == StatusCode::InvalidUsage &&
                   loaded.plan.find(call.arguments.root, call.arguments.inPlace, Transport::P2P);
    return isAlone ? state->group.fail(std::move(choice).status()) : std::move(choice).status();
  }
  Result<LaunchPart> made = loaded.part(call, *choice);
  if (!made.isOk())
    return state->group.fail(std::move(made).status());
  LaunchPart &part = *made;
  part.stream = stream;
  auto capture = StreamCaptureStatus::None;
  if (stream) {
    ContextGuard guard(*state->device);
    COIL_RETURN_IF_ERROR(copyOf(guard.status()));
    COIL_RETURN_IF_ERROR(COIL_CUDA(state->device->driver(), cuStreamIsCapturing, stream, &capture));
  }
  part.isCaptured = capture == StreamCaptureStatus::Active;
  // Before the launch: a kernel that finds a disagreement looks the calls up.
  state->log->append(part.call.fingerprint, choice->facts, part.isCaptured);
  if (part.isCaptured)
    loaded.captured.store(true, std::memory_order_release);
  else
    loaded.launched.fetch_add(1, std::memory_order_acq_rel);
  Status launched =
      state->sharedLaunch
          ? state->sharedLaunch->join(state->group, part, [this] { return state->poison(); })
          : launch(*state->device, {&part, 1}, stream);
  if (!launched.isOk()) {
    if (!part.isCaptured)
      loaded.launched.fetch_sub(1, std::memory_order_acq_rel);
    // The others have launched theirs, or will: without this one they would wait.
    return state->group.fail(std::move(launched));
  }
  state->watchdog->wake();
  return Status::ok();
}

Status CudaRank::health() {
  (void)state->look();
  return state->poison();
}

Status CudaRank::waitIdle() {
  state->settle();
  return health();
}

void CudaRank::abort() {
  state->group.mine().poison.set(StatusCode::Aborted, "the communicator was aborted");
  std::string text = fmt::format("rank {} aborted the communicator", state->rank());
  for (ControlBlock *block : state->group.control)
    block->poison.set(StatusCode::RemoteError, text);
  state->abortAll();
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

LoadedCudaPlan::LoadedCudaPlan(std::unique_ptr<State> state) : state(std::move(state)) {}
LoadedCudaPlan::~LoadedCudaPlan() = default;

const Plan &LoadedCudaPlan::plan() const { return state->plan; }
uint32_t LoadedCudaPlan::instances() const { return state->layout->instances(); }
uint64_t LoadedCudaPlan::tileBytes() const { return state->layout->tileBytes(); }

} // namespace coil::cuda
