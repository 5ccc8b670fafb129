//===- Communicator.cpp - One rank's end of a communicator ----------------===//

#include "runtime/api/Communicator.h"

#include "runtime/include/coil/coil.h"
#include "runtime/memory/SharedAllocations.h"
#include "runtime/plan/AllRanks.h"

#include <algorithm>
#include <sched.h>
#include <thread>

namespace coil {

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<Communicator>> Communicator::create(const UniqueId &id, int rank, int ranks,
                                                           const CommunicatorConfig &config) {
  std::unique_ptr<Communicator> communicator(new Communicator(config));
  COIL_RETURN_IF_ERROR(communicator->connect(id, rank, ranks));
  return communicator;
}

Status Communicator::connect(const UniqueId &id, int rank, int ranks) {
  COIL_ASSIGN_OR_RETURN(bootstrap, Bootstrap::connect(id, rank, ranks, config.timeoutMs));
  group.rank = rank;
  group.ranks = ranks;
  group.timeoutMs = config.timeoutMs;
  for (int other = 0; other < ranks; ++other)
    group.processIds.push_back(bootstrap->peer(other).pid);
  group.isLost = [this](int other) { return bootstrap->findLostPeer(other) == other; };
  exchange = std::make_unique<SetupExchange>(*bootstrap, group);

  // What decides how calls run must be the same everywhere.
  struct Terms {
    uint64_t version, slotBytes, directBytes, onGpu;
    cpu_set_t processors;
  };
  Terms mine{COIL_VERSION, config.slotBytes, config.directBytes, config.cuda.has_value(), {}};
  // On failure (more processors than the set holds) the set stays empty.
  (void)sched_getaffinity(0, sizeof mine.processors, &mine.processors);
  COIL_ASSIGN_OR_RETURN(std::vector<Terms> terms,
                        exchange->gather<Terms>("coilCommInitRank", mine));
  cpu_set_t processors{};
  for (const Terms &each : terms)
    CPU_OR(&processors, &processors, &each.processors);
  group.processors = CPU_COUNT(&processors) > 0
                         ? CPU_COUNT(&processors)
                         : static_cast<int>(std::thread::hardware_concurrency());
  for (size_t other = 1; other < terms.size(); ++other) {
    auto differs = [&](const char *what, uint64_t first, uint64_t second) {
      return Status::error(StatusCode::InvalidUsage,
                           "the ranks differ in {}: rank 0 has {}, rank {} has {}", what, first,
                           other, second);
    };
    const Terms &first = terms.front(), &theirs = terms[other];
    if (first.version != theirs.version)
      return differs("Coil's version", first.version, theirs.version);
    if (first.onGpu != theirs.onGpu)
      return Status::error(StatusCode::InvalidUsage,
                           "the ranks differ in what they run on: rank 0 on {}, rank {} on {}",
                           first.onGpu ? "GPUs" : "CPUs", other, theirs.onGpu ? "GPUs" : "CPUs");
    if (first.slotBytes != theirs.slotBytes)
      return differs("slotBytes", first.slotBytes, theirs.slotBytes);
    if (first.directBytes != theirs.directBytes)
      return differs("directBytes", first.directBytes, theirs.directBytes);
  }

  Result<std::shared_ptr<SharedSegment>> control = std::shared_ptr<SharedSegment>();
  Result<SharedSegment> segment = SharedSegment::create("coil-control", sizeof(ControlBlock));
  if (segment.isOk())
    control = std::make_shared<SharedSegment>(*std::move(segment));
  else
    control = std::move(segment).status();
  COIL_ASSIGN_OR_RETURN(controlSegments, exchange->share("coilCommInitRank", std::move(control)));
  for (const PeerSegment &each : controlSegments)
    group.control.push_back(reinterpret_cast<ControlBlock *>(each.data));
  patience = std::make_unique<Patience>(group);
  return config.cuda ? connectGpu() : Status::ok();
}

Status Communicator::connectGpu() {
  Result<std::shared_ptr<const cuda::Driver>> driver =
      cuda::Driver::load(config.cuda->driverLibrary);
  COIL_RETURN_IF_ERROR(exchange->agree("coilCommInitRank", driver.status()));
  COIL_ASSIGN_OR_RETURN(gpu, cuda::CudaRank::create(*std::move(driver), config.device, group,
                                                    *exchange, *config.cuda));
  return Status::ok();
}

Communicator::~Communicator() {
  // Kernels end before what they use goes.
  for (std::unique_ptr<LoadedPlan> &plan : plans)
    plan.reset();
  customPlans.clear();
  gpu.reset();
  // Before the connections close: leaving is not dying.
  if (!group.control.empty())
    group.mine().departed.store(1, std::memory_order_release);
}

Status Communicator::Use::status() const {
  if (got)
    return Status::ok();
  return {StatusCode::InvalidUsage, "another thread is in a call on this communicator"};
}

void Communicator::abort() {
  if (gpu)
    gpu->abort();
  group.mine().poison.set(StatusCode::Aborted, "the communicator was aborted");
  std::string text = fmt::format("rank {} aborted the communicator", group.rank);
  for (ControlBlock *block : group.control)
    block->poison.set(StatusCode::RemoteError, text);
}

void Communicator::setLastError(const std::string &text) {
  std::lock_guard lock(errorMutex);
  errors[++errorCount % errors.size()] = text;
}

const char *Communicator::lastError() const {
  std::lock_guard lock(errorMutex);
  return errors[errorCount % errors.size()].c_str();
}

//===----------------------------------------------------------------------===//
// Entering calls
//===----------------------------------------------------------------------===//

namespace {
/// Waits for other ranks to enter a call.
class Arrival final : public Obstacle {
public:
  Arrival(const Group &group, uint64_t sequence, const cpu::CpuExecutor *executor = nullptr,
          const cpu::PreparedVariant *variant = nullptr)
      : group(group), sequence(sequence), executor(executor), variant(variant) {}

  bool isComplete() {
    while (next < group.ranks && group.of(next).recordOf(sequence).isOf(sequence))
      ++next;
    return next == group.ranks;
  }
  bool waitsFor(int rank) const override {
    return !group.of(rank).recordOf(sequence).isOf(sequence);
  }
  std::string describe() const override {
    return fmt::format("for rank {} in {}", next,
                       variant ? executor->describeStart(*variant) : "the entry of the call");
  }

private:
  const Group &group;
  uint64_t sequence;
  const cpu::CpuExecutor *executor;
  const cpu::PreparedVariant *variant;
  int next = 0;
};
} // namespace

Status Communicator::enter(const CallArguments &arguments, WindowPlace send, WindowPlace receive) {
  ++sequence;
  if (sequence % ControlBlock::recordCheckInterval == 0 &&
      sequence > ControlBlock::recordCheckInterval) {
    uint64_t settled = sequence - ControlBlock::recordCheckInterval;
    Arrival arrival(group, settled);
    patience->begin(settled);
    Status waited = waitUntil(*patience, arrival, [&] { return arrival.isComplete(); });
    if (!waited.isOk())
      return group.fail(std::move(waited));
  }
  fingerprint = fingerprintOf(sequence, arguments);
  group.mine().recordOf(sequence).publish(sequence, fingerprint, arguments, send, receive);
  return Status::ok();
}

Status Communicator::enterSetup(CallKind kind) {
  COIL_RETURN_IF_ERROR(health());
  CallArguments arguments;
  arguments.kind = kind;
  COIL_RETURN_IF_ERROR(enter(arguments));
  exchange->begin(sequence);
  return Status::ok();
}

Status Communicator::meetAll(const cpu::CpuExecutor *executor,
                             const cpu::PreparedVariant *variant) {
  Arrival arrival(group, sequence, executor, variant);
  patience->begin(sequence);
  Status waited = waitUntil(*patience, arrival, [&] { return arrival.isComplete(); });
  if (waited.isOk())
    waited = group.checkAgreement(sequence);
  return waited.isOk() ? Status::ok() : group.fail(std::move(waited));
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

Status Communicator::preparePlan(Plan plan, const PlanSegmentLayout &layout, LoadedPlan &loaded) {
  std::vector<std::byte *> bases;
  for (const PeerSegment &segment : loaded.segments)
    bases.push_back(segment.data);
  COIL_ASSIGN_OR_RETURN(std::unique_ptr<cpu::PreparedPlan> prepared,
                        cpu::PreparedPlan::prepare(std::move(plan), layout, std::move(bases),
                                                   static_cast<uint32_t>(group.rank)));
  loaded.executor = std::make_unique<cpu::CpuExecutor>(group, std::move(prepared));
  return Status::ok();
}

Status Communicator::loadPlan(Result<Plan> plan, Result<TrustedCubins> cubins) {
  constexpr const char *call = "coilCommLoadPlan";
  COIL_RETURN_IF_ERROR(enterSetup(CallKind::LoadPlan));

  struct Facts {
    uint64_t digest;
  };
  Result<Facts> facts = Facts{};
  Result<PlanSegmentLayout> layout = PlanSegmentLayout();
  if (!plan.isOk())
    facts = std::move(plan).status();
  else if (plan->ranks != static_cast<uint32_t>(group.ranks))
    facts =
        Status::error(StatusCode::InvalidPlan, "plan '{}' is for {} ranks, the communicator has {}",
                      plan->name, plan->ranks, group.ranks);
  else if (!(plan = withAllRanks(*plan)).isOk())
    facts = std::move(plan).status();
  else if (!cubins.isOk())
    facts = std::move(cubins).status();
  else if (*cubins && (*cubins)->planDigest != plan->digest)
    facts =
        Status::error(StatusCode::InvalidPlan,
                      "the cubins are for the plan with checksum {:016x}, plan '{}' has {:016x}",
                      (*cubins)->planDigest, plan->name, plan->digest);
  else if (!gpu && !(layout = PlanSegmentLayout::compute(*plan, config.slotBytes)).isOk())
    facts = std::move(layout).status();
  else
    facts = Facts{plan->digest};
  COIL_ASSIGN_OR_RETURN(std::vector<Facts> all, exchange->gather(call, facts));
  for (size_t other = 1; other < all.size(); ++other)
    if (all[other].digest != all.front().digest)
      return Status::error(StatusCode::InvalidUsage,
                           "the ranks load different plans: rank 0 has one with checksum {:016x}, "
                           "rank {} one with {:016x}",
                           all.front().digest, other, all[other].digest);

  Collective collective = plan->collective;
  std::string name = plan->name;
  std::unique_ptr<LoadedPlan> loaded;
  if (gpu) {
    loaded = std::make_unique<LoadedPlan>();
    COIL_ASSIGN_OR_RETURN(loaded->onGpu, gpu->loadPlan(*std::move(plan), *std::move(cubins)));
  } else {
    COIL_ASSIGN_OR_RETURN(loaded, loadOnCpu(*std::move(plan), *layout));
  }
  // All ranks have left all calls of the plan that this one replaces.
  if (collective == Collective::Custom)
    customPlans[std::move(name)] = std::move(loaded);
  else
    plans[static_cast<size_t>(collective)] = std::move(loaded);
  return Status::ok();
}

Result<std::unique_ptr<Communicator::LoadedPlan>>
Communicator::loadOnCpu(Plan plan, const PlanSegmentLayout &layout) {
  constexpr const char *call = "coilCommLoadPlan";
  auto loaded = std::make_unique<LoadedPlan>();
  Result<std::shared_ptr<SharedSegment>> segment = std::shared_ptr<SharedSegment>();
  Result<SharedSegment> made =
      SharedSegment::create("coil-plan", layout.segmentBytes(static_cast<uint32_t>(group.rank)));
  if (made.isOk())
    segment = std::make_shared<SharedSegment>(*std::move(made));
  else
    segment = std::move(made).status();
  COIL_ASSIGN_OR_RETURN(loaded->segments, exchange->share(call, std::move(segment)));
  COIL_RETURN_IF_ERROR(exchange->agree(call, preparePlan(std::move(plan), layout, *loaded)));
  return loaded;
}

//===----------------------------------------------------------------------===//
// Registered memory
//===----------------------------------------------------------------------===//

Result<const Window *> Communicator::registerMemory(void *pointer, size_t bytes) {
  constexpr const char *call = "coilCommRegister";
  COIL_RETURN_IF_ERROR(enterSetup(CallKind::Register));
  if (gpu)
    return registerOnGpu(pointer, bytes);
  auto window = std::make_unique<Window>();
  struct Part {
    uint64_t offset, bytes;
  };
  Result<Part> mine = Part{};
  SegmentOffer offer;
  if (bytes != 0) {
    if (std::optional<SharedRange> range = findShared(pointer, bytes)) {
      mine = Part{range->offset, bytes};
      offer = {static_cast<std::byte *>(range->base), range->allocationBytes, range->fd, range->id};
      window->own = static_cast<std::byte *>(pointer);
      window->ownBytes = bytes;
      window->allocation = range->id;
    } else {
      mine = Status::error(StatusCode::InvalidArgument,
                           "the {} bytes at {} do not lie in one allocation of coilMemAlloc", bytes,
                           pointer);
    }
  }
  COIL_ASSIGN_OR_RETURN(std::vector<Part> parts, exchange->gather(call, mine));
  COIL_ASSIGN_OR_RETURN(std::vector<PeerSegment> segments,
                        exchange->shareUserMemory(call, offer, [&](int rank, uint64_t id) {
                          return windows.mappingOf(rank, id);
                        }));
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    std::byte *data = segments[rank].data ? segments[rank].data + parts[rank].offset : nullptr;
    window->parts.push_back({data, parts[rank].bytes, std::move(segments[rank])});
  }
  return windows.add(std::move(window));
}

Result<const Window *> Communicator::registerOnGpu(void *pointer, size_t bytes) {
  auto window = std::make_unique<Window>();
  COIL_ASSIGN_OR_RETURN(window->onGpu, gpu->registerMemory(pointer, bytes));
  window->parts.resize(static_cast<size_t>(group.ranks));
  return windows.add(std::move(window));
}

Status Communicator::deregister(const void *handle) {
  constexpr const char *call = "coilCommDeregister";
  COIL_RETURN_IF_ERROR(enterSetup(CallKind::Deregister));
  const Window *window = windows.find(handle);
  Result<uint32_t> number =
      window ? Result<uint32_t>(window->number)
             : Status(StatusCode::InvalidArgument, "the window is not one of this communicator's");
  COIL_ASSIGN_OR_RETURN(std::vector<uint32_t> numbers, exchange->gather(call, number));
  for (size_t other = 1; other < numbers.size(); ++other)
    if (numbers[other] != numbers.front())
      return Status::error(StatusCode::InvalidUsage,
                           "the ranks deregister different windows: rank 0 number {}, rank {} "
                           "number {}",
                           numbers.front(), other, numbers[other]);
  if (gpu)
    COIL_RETURN_IF_ERROR(gpu->deregister(window->onGpu));
  windows.remove(window);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Result<int> Communicator::createPreMulSum(const void *scalar, int type) {
  if (type < 0 || type >= numDataTypes)
    return Status::error(StatusCode::InvalidArgument, "there is no type {}", type);
  if (!scalar)
    return Status(StatusCode::InvalidArgument, "the scalar is null");
  // Handles are never given twice, so that a stale or foreign one is found out.
  static std::atomic<int> lastHandle = coilRedOpCount - 1;
  int last = lastHandle.load(std::memory_order_relaxed);
  do
    if (last == coilRedOpMax)
      return Status(StatusCode::Unsupported, "this process has made too many operators");
  while (!lastHandle.compare_exchange_weak(last, last + 1, std::memory_order_relaxed));
  PreMulSum op{last + 1, static_cast<DataType>(type), {}};
  std::memcpy(op.scalar.data(), scalar, sizeOf(op.type));
  preMulSums.push_back(op);
  return op.handle;
}

Status Communicator::destroyReduceOp(int handle) {
  if (std::erase_if(preMulSums, [&](const PreMulSum &op) { return op.handle == handle; }) == 0)
    return Status::error(StatusCode::InvalidArgument,
                         "operator {} was not made by coilRedOpCreatePreMulSum for this "
                         "communicator, or is destroyed",
                         handle);
  return Status::ok();
}

} // namespace coil
