//===- Ll128Check.cpp - Whether devices can use the ll128 protocol --------===//

#include "runtime/executor/cuda/Ll128Check.h"

#include "runtime/kernels/device/SelfTestLayout.h"
#include "runtime/kernels/device/SharedLayout.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace coil::cuda {

using namespace device;

namespace {

constexpr const char *kernelName = "coilLl128SelfTest";
constexpr const char *kernelText =
    "#include \"runtime/kernels/device/Ll128SelfTest.h\"\n"
    "\n"
    "COIL_KERNEL void coilLl128SelfTest(\n"
    "    COIL_GRID_CONSTANT const coil::device::SelfTestLaunch launch) {\n"
    "  coil::device::runLl128SelfTest(launch);\n"
    "}\n";
/// Of a wait: all devices begin at about the same time.
constexpr std::chrono::seconds timeout(30);

/// One rank's part. Only the first rank of each device has anything to do.
class Check {
public:
  Check(const Peers &peers, const std::shared_ptr<DeviceContext> &device, const Stream &stream)
      : device(device), stream(stream), ranks(peers.firstOfDevices()) {
    auto found = std::find(ranks.begin(), ranks.end(), peers.rank());
    takesPart = found != ranks.end();
    self = static_cast<u32>(found - ranks.begin());
  }

  Result<MemoryOffer> allocate(const Peers &peers);
  Status prepare(const std::vector<PeerMemory> &memories, KernelStore &kernels);
  /// Runs the rounds up to `last`; the seconds that they took.
  Result<double> run(u64 last);
  /// Unsupported for torn lines.
  Status judge() const;

private:
  u32 devices() const { return static_cast<u32>(ranks.size()); }
  Status judgeReport() const;

  std::shared_ptr<DeviceContext> device;
  const Stream &stream;
  std::vector<uint32_t> ranks; ///< of the devices
  bool takesPart;
  u32 self; ///< among the devices
  u64 roundsRun = 0;
  std::shared_ptr<DeviceBuffer> piece;
  DeviceBuffer table;
  std::optional<SharedSegment> board;
  HostRegistration registration; ///< of `board`: goes before it
  std::shared_ptr<const LoadedKernel> kernel;
};

Result<MemoryOffer> Check::allocate(const Peers &peers) {
  if (!takesPart)
    return MemoryOffer();
  COIL_ASSIGN_OR_RETURN(DeviceBuffer made,
                        DeviceBuffer::create(device, selfTestBytes(devices()), stream));
  piece = std::make_shared<DeviceBuffer>(std::move(made));
  DevicePointer base = piece->get(), allocation = base;
  if (!peers.areAllHere()) {
    ContextGuard guard(*device);
    size_t bytes = 0;
    COIL_RETURN_IF_ERROR(
        COIL_CUDA(device->driver(), cuMemGetAddressRange_v2, &allocation, &bytes, base));
  }
  return peers.offer(base, piece->size(), allocation, piece);
}

Status Check::prepare(const std::vector<PeerMemory> &memories, KernelStore &kernels) {
  if (!takesPart)
    return Status::ok();
  COIL_ASSIGN_OR_RETURN(kernel, kernels.loadText(kernelName, kernelText, sharedBytes(0, 0, 0, 0)));
  if (uint32_t blocks = 2 * devices(); blocks > kernel->residentBlocks)
    return Status::error(StatusCode::Unsupported,
                         "{} holds {} blocks of ll128's self-test at a time, and {} must run "
                         "together",
                         device->describe(), kernel->residentBlocks, blocks);
  if (!device->hasCooperativeLaunch())
    return Status::error(StatusCode::Unsupported,
                         "{} has no cooperative launch, which ll128's self-test needs",
                         device->describe());
  std::vector<DevicePointer> pieces;
  for (uint32_t rank : ranks)
    pieces.push_back(reinterpret_cast<DevicePointer>(memories[rank].data));
  size_t bytes = pieces.size() * sizeof pieces.front();
  COIL_ASSIGN_OR_RETURN(table, DeviceBuffer::create(device, bytes, stream));
  COIL_RETURN_IF_ERROR(copyToDevice(*device, stream, table.get(), pieces.data(), bytes));
  constexpr size_t pageBytes = 4096;
  COIL_ASSIGN_OR_RETURN(board, SharedSegment::create("coil-cuda-self-test", pageBytes));
  COIL_ASSIGN_OR_RETURN(registration, HostRegistration::create(device, board->data(), pageBytes));
  return Status::ok();
}

Result<double> Check::run(u64 last) {
  if (!takesPart)
    return 0.0;
  COIL_ASSIGN_OR_RETURN(DevicePointer boardAddress, deviceAddress(*device, board->data()));
  SelfTestLaunch launch{};
  launch.pieces = reinterpret_cast<u8 *const *>(table.get());
  launch.board = reinterpret_cast<HostBoard *>(boardAddress);
  launch.timeoutNanoseconds = std::chrono::nanoseconds(timeout).count();
  launch.firstRound = roundsRun + 1;
  launch.lastRound = roundsRun = last;
  launch.devices = devices();
  launch.self = self;
  auto start = std::chrono::steady_clock::now();
  {
    ContextGuard guard(*device);
    if (!guard.status().isOk())
      return Status(guard.status().code(), guard.status().message());
    void *parameters[] = {&launch};
    COIL_RETURN_IF_ERROR(COIL_CUDA(device->driver(), cuLaunchCooperativeKernel, kernel->function,
                                   2 * devices(), 1, 1, kernel->threads, 1, 1, kernel->sharedBytes,
                                   stream.get(), parameters));
  }
  COIL_RETURN_IF_ERROR(stream.synchronize());
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  COIL_RETURN_IF_ERROR(judgeReport());
  return took.count();
}

Status Check::judgeReport() const {
  const FailureReport &report = reinterpret_cast<const HostBoard *>(board->data())->report;
  if (report.kind == FailureKind::None)
    return Status::ok();
  return Status::error(StatusCode::Timeout,
                       "ll128's self-test on {} waited for the device of rank {} for {} s at round "
                       "{}, found {}",
                       device->describe(), ranks[report.peer], timeout.count(), report.expected,
                       report.found);
}

Status Check::judge() const {
  for (u32 other = 0; takesPart && other < devices(); ++other) {
    u64 torn = 0;
    COIL_RETURN_IF_ERROR(copyToHost(*device, stream, &torn,
                                    piece->get() + selfTestTornAt(devices(), other), sizeof torn));
    if (torn != 0)
      return Status::error(StatusCode::Unsupported,
                           "lines of 128 bytes do not arrive whole at {} from the device of rank "
                           "{}: {} of {} were torn; the ll128 protocol cannot be used, simple and "
                           "ll can",
                           device->describe(), ranks[other], torn, roundsRun * selfTestLines);
  }
  return Status::ok();
}
} // namespace

Status checkLl128(const char *call, const Peers &peers, SetupExchange &exchange,
                  const std::shared_ptr<DeviceContext> &device, const Stream &stream,
                  KernelStore &kernels) {
  // All ranks know the same of who reaches whom.
  for (uint32_t a = 0; a < peers.ranks(); ++a)
    for (uint32_t b = a + 1; b < peers.ranks(); ++b)
      if (!peers.reach().between(a, b))
        return Status::error(StatusCode::Unsupported,
                             "the ll128 protocol needs devices that reach each other's memory, "
                             "which those of ranks {} and {} do not",
                             a, b);
  Check check(peers, device, stream);
  COIL_ASSIGN_OR_RETURN(std::vector<PeerMemory> memories,
                        peers.share(call, exchange, check.allocate(peers)));
  COIL_RETURN_IF_ERROR(exchange.agree(call, check.prepare(memories, kernels)));
  // A few rounds tell how many more there is time for.
  constexpr u64 firstRounds = 4, mostRounds = 1000;
  constexpr double seconds = 0.005;
  COIL_ASSIGN_OR_RETURN(std::vector<double> took,
                        exchange.gather<double>(call, check.run(firstRounds)));
  double longest = std::max(*std::max_element(took.begin(), took.end()), 1e-9);
  auto more = static_cast<u64>(std::min<double>(mostRounds, seconds / longest * firstRounds));
  if (more != 0)
    COIL_RETURN_IF_ERROR(exchange.agree(call, check.run(firstRounds + more).status()));
  return exchange.agree(call, check.judge());
}

} // namespace coil::cuda
