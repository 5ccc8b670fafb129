//===- RankMain.cpp - What one rank does ----------------------------------===//

#include "tools/coil-run/RankMain.h"

#include "tools/coil-run/Buffers.h"
#include "tools/coil-run/CheckData.h"
#include "tools/coil-run/GpuCheck.h"
#include "tools/coil-run/Sizes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sched.h>

namespace coil::run {

namespace {

/// Wrong elements that are printed, over all ranks and rows.
constexpr uint32_t mostReports = 20;

coilDataType_t apiType(DataType type) {
  static_assert(coilFloat8e5m2 == static_cast<int>(DataType::F8E5M2) &&
                coilBfloat16 == static_cast<int>(DataType::BF16) &&
                coilInt8 == static_cast<int>(DataType::I8));
  return static_cast<coilDataType_t>(type);
}

void say(int rank, const std::string &message) {
  // One call, so that lines of several processes do not mix.
  std::string line = fmt::format("coil-run: rank {}: {}\n", rank, message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// The operator of a call, made and destroyed where it must be.
class Operator {
public:
  Operator() = default;
  Operator(const Operator &) = delete;
  Operator &operator=(const Operator &) = delete;
  ~Operator() {
    if (made)
      coilRedOpDestroy(handle, comm);
  }

  Status make(const Row &row, uint64_t scalarCode, coilComm_t comm) {
    if (row.op != ReduceOp::PreMulSum) {
      static_assert(coilAvg == static_cast<int>(ReduceOp::Avg));
      handle = static_cast<coilRedOp_t>(row.op);
      return Status::ok();
    }
    this->comm = comm;
    // Types are little-endian, so the code's first bytes are the element.
    Status status =
        apiStatus(coilRedOpCreatePreMulSum(&handle, &scalarCode, apiType(row.type), comm),
                  "coilRedOpCreatePreMulSum", comm);
    made = status.isOk();
    return status;
  }
  coilRedOp_t get() const { return handle; }

private:
  coilRedOp_t handle = coilSum;
  coilComm_t comm = nullptr;
  bool made = false;
};

class RankRun {
public:
  RankRun(const Job &job, Board &board, int rank) : job(job), board(board), rank(rank) {}
  RankRun(const RankRun &) = delete;
  RankRun &operator=(const RankRun &) = delete;
  ~RankRun() { coilCommDestroy(comm); }

  Status run() {
    pinToCore();
    COIL_RETURN_IF_ERROR(join());
    for (size_t row = 0; row < job.rows.size();) {
      // Rows of one kind of memory follow each other and share buffers.
      size_t end = row;
      while (end < job.rows.size() && job.rows[end].memory == job.rows[row].memory)
        ++end;
      COIL_RETURN_IF_ERROR(runRows(row, end));
      row = end;
    }
    return meet(0);
  }

  /// After a failure here: no other rank must wait for this one.
  void abort() {
    if (comm)
      coilCommAbort(comm);
  }

private:
  /// The two buffers of a call, as this process sees them, and the region of each.
  /// That of the receive buffer must stay guarded.
  struct Call {
    std::byte *send, *recv;
    Region *sent, *guarded;
    size_t sentBytes, guardedBytes;
  };

  void pinToCore() const {
    if (job.cores.empty())
      return;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(job.cores[static_cast<size_t>(rank)], &cores);
    // For timing only: a rank that cannot be pinned runs all the same.
    sched_setaffinity(0, sizeof(cores), &cores);
  }

  /// Meets the other ranks where up to `bytes` bytes a rank were prepared before,
  /// for which the wait is longer: at least 100 MB/s over all ranks is expected.
  Status meet(uint64_t bytes) {
    uint64_t timeoutMs = job.options.timeoutMs;
    if (timeoutMs > 0)
      timeoutMs += bytes / 100000 * static_cast<uint64_t>(job.ranks);
    return board.meet(rank, timeoutMs);
  }

  Status openGpu(coilConfig_t &config) {
    const Options &options = job.options;
    config.target = coilTargetCuda;
    config.device = rank / options.ranksPerGpu;
    config.instances = options.instances;
    config.threadsPerBlock = options.threadsPerBlock;
    config.protocol = options.protocol;
    config.llBytes = options.llBytes.value_or(config.llBytes);
    if (options.target == Target::CudaEmulated)
      config.cudaLibrary = job.emulatedLibrary.c_str();
    if (!job.nvrtcLibrary.empty())
      config.nvrtcLibrary = job.nvrtcLibrary.c_str();
    auto opened = Gpu::open(job.emulatedLibrary, config.device);
    if (!opened.isOk())
      return std::move(opened).status().withContext(
          fmt::format("--target {}", nameOf(options.target)));
    gpu = *std::move(opened);
    return Status::ok();
  }

  Status join() {
    if (rank == 0)
      COIL_RETURN_IF_ERROR(apiStatus(coilGetUniqueId(&board.id()), "coilGetUniqueId", nullptr));
    COIL_RETURN_IF_ERROR(meet(0));
    coilConfig_t config = COIL_CONFIG_INITIALIZER;
    config.timeoutMs = job.options.timeoutMs;
    config.slotBytes = job.options.slotBytes.value_or(config.slotBytes);
    config.directBytes = job.options.directBytes.value_or(config.directBytes);
    if (job.options.target != Target::Cpu)
      COIL_RETURN_IF_ERROR(openGpu(config));
    COIL_RETURN_IF_ERROR(
        apiStatus(coilCommInitRankConfig(&comm, job.ranks, board.id(), rank, &config),
                  "coilCommInitRankConfig", nullptr));
    const std::vector<uint8_t> &plan = job.planBytes, &cubins = job.cubinBytes;
    if (cubins.empty())
      return apiStatus(coilCommLoadPlan(comm, plan.data(), plan.size()), "coilCommLoadPlan", comm);
    return apiStatus(coilCommLoadPlanTrustingCubins(comm, plan.data(), plan.size(), cubins.data(),
                                                    cubins.size()),
                     "coilCommLoadPlanTrustingCubins", comm);
  }

  CheckData dataOf(const Row &row, uint64_t salt) const {
    DataSpec spec;
    spec.collective = job.plan.collective;
    spec.type = row.type;
    spec.op = row.op;
    spec.kind = job.options.data;
    spec.ranks = job.ranks;
    spec.root = row.root;
    spec.count = row.count;
    if (spec.collective == Collective::Custom)
      spec.contract = &job.plan.contract;
    spec.salt = salt;
    spec.scalar = job.options.scalar;
    return CheckData(spec);
  }

  /// Allocates for the largest of the rows, and runs them.
  Status runRows(size_t begin, size_t end) {
    size_t inputBytes = 0, outputBytes = 0;
    for (size_t i = begin; i < end; ++i) {
      SegmentCounts segments = job.plan.segments();
      size_t segmentBytes = job.rows[i].count * sizeOf(job.rows[i].type);
      inputBytes = std::max(inputBytes, segmentBytes * static_cast<size_t>(segments.input));
      outputBytes = std::max(outputBytes, segmentBytes * static_cast<size_t>(segments.output));
    }
    Region input, output;
    MemoryKind memory = job.rows[begin].memory;
    COIL_RETURN_IF_ERROR(input.allocate(memory, inputBytes, job.options.offset, comm, gpu.get()));
    COIL_RETURN_IF_ERROR(output.allocate(memory, outputBytes, job.options.offset, comm, gpu.get()));
    for (size_t i = begin; i < end; ++i) {
      for (Placement placement : bothPlacements)
        if (job.runs[static_cast<size_t>(placement)])
          COIL_RETURN_IF_ERROR(runRow(i, placement, input, output));
      board.finishRow(i);
    }
    COIL_RETURN_IF_ERROR(input.release(comm));
    return output.release(comm);
  }

  Status runRow(size_t index, Placement placement, Region &input, Region &output) {
    const Row &row = job.rows[index];
    // Salts that no two checked calls share, nor any with timed ones (0).
    uint64_t salt = 2 * index + static_cast<uint64_t>(placement) + 1;
    CheckData timed = dataOf(row, 0), checked = dataOf(row, salt);
    Call call = layOut(row, placement, input, output);
    Operator op;
    COIL_RETURN_IF_ERROR(op.make(row, checked.scalarCode(rank), comm));

    COIL_RETURN_IF_ERROR(prepare(row, placement, timed, call));
    COIL_RETURN_IF_ERROR(meet(row.bytes));
    double warmupSeconds = 0;
    COIL_RETURN_IF_ERROR(repeat(row.warmup, row, call, op, warmupSeconds));
    if (rank == 0)
      board.agreedNumber() = chooseIterations(row, warmupSeconds);
    COIL_RETURN_IF_ERROR(meet(0));
    Outcome &outcome = board.outcome(index, static_cast<size_t>(placement), rank);
    outcome.iterations = board.agreedNumber();
    COIL_RETURN_IF_ERROR(repeat(outcome.iterations, row, call, op, outcome.seconds));
    if (!job.options.check)
      return Status::ok();
    // Not preceded by a meeting: that ranks may come at any time is checked too.
    COIL_RETURN_IF_ERROR(prepare(row, placement, checked, call));
    COIL_RETURN_IF_ERROR(collective(row, call, op.get()));
    COIL_RETURN_IF_ERROR(finishCalls());
    COIL_ASSIGN_OR_RETURN(GpuVerdict verdict, judgeOnGpu(row, placement, checked, call));
    if (verdict == GpuVerdict::Right) {
      COIL_RETURN_IF_ERROR(call.guarded->guardsToHost(call.guardedBytes));
      outcome.wrong = checkGuards(row, placement, call);
      return Status::ok();
    }
    if (call.sent != call.guarded)
      COIL_RETURN_IF_ERROR(call.sent->toHost(call.sentBytes));
    COIL_RETURN_IF_ERROR(call.guarded->toHost(call.guardedBytes));
    uint64_t wrong = check(row, placement, checked, call);
    if (verdict == GpuVerdict::Wrong && wrong == 0)
      return Status::error(StatusCode::InternalError,
                           "the GPU finds elements wrong that the host finds right");
    outcome.wrong = wrong + checkGuards(row, placement, call);
    return Status::ok();
  }

  /// Calls `times` times; `seconds` becomes the mean time of a call.
  Status repeat(uint64_t times, const Row &row, const Call &call, const Operator &op,
                double &seconds) const {
    auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < times; ++i)
      COIL_RETURN_IF_ERROR(collective(row, call, op.get()));
    COIL_RETURN_IF_ERROR(finishCalls());
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    seconds = times > 0 ? elapsed.count() / static_cast<double>(times) : 0;
    return Status::ok();
  }

  /// On a GPU, calls are still running when they return.
  Status finishCalls() const {
    if (!gpu)
      return Status::ok();
    Status ended = gpu->synchronize();
    // Why a call failed matters more than how that shows in the stream.
    coilResult_t result = coilSuccess;
    COIL_RETURN_IF_ERROR(
        apiStatus(coilCommGetAsyncError(comm, &result), "coilCommGetAsyncError", comm));
    COIL_RETURN_IF_ERROR(apiStatus(result, "the call", comm));
    return ended;
  }

  /// What the row says; but where that was not asked for, no more than takes about
  /// a quarter of a second at `warmupSeconds` a call.
  uint64_t chooseIterations(const Row &row, double warmupSeconds) const {
    double fitting = 0.25 / std::max(warmupSeconds, 1e-9);
    if (job.options.iterations > 0 || row.warmup == 0 ||
        fitting >= static_cast<double>(row.iterations))
      return row.iterations;
    return std::max(fewestIterations, static_cast<uint64_t>(fitting));
  }

  Call layOut(const Row &row, Placement placement, Region &input, Region &output) const {
    size_t segment = row.count * sizeOf(row.type), mine = static_cast<size_t>(rank) * segment;
    SegmentCounts segments = job.plan.segments(rank == row.root);
    size_t inputBytes = segment * static_cast<size_t>(segments.input);
    size_t outputBytes = segment * static_cast<size_t>(segments.output);
    // What a rank does not have it gives no address of. Its memory stays guarded.
    std::byte *send = inputBytes != 0 || row.count == 0 ? input.data() : nullptr;
    std::byte *recv = outputBytes != 0 || row.count == 0 ? output.data() : nullptr;
    if (placement == Placement::OutOfPlace || !send || !recv)
      return {send, recv, &input, &output, inputBytes, outputBytes};
    switch (job.plan.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      return {recv + mine, recv, &output, &output, outputBytes, outputBytes};
    case Collective::ReduceScatter:
    case Collective::Scatter:
      return {send, send + mine, &input, &input, inputBytes, inputBytes};
    default:
      return {recv, recv, &output, &output, outputBytes, outputBytes};
    }
  }

  /// Sets the guards, the receive buffer to what is not expected, and the input.
  Status prepare(const Row &row, Placement placement, const CheckData &data,
                 const Call &call) const {
    call.guarded->setGuards(call.guardedBytes);
    std::memset(call.guarded->data(), std::to_integer<int>(unsetByte), call.guardedBytes);
    if (data.hasInput(rank))
      data.fillInput(rank, call.send);
    if (call.sent != call.guarded)
      COIL_RETURN_IF_ERROR(call.sent->toDevice(call.sentBytes));
    return call.guarded->toDevice(call.guardedBytes);
  }

  Status collective(const Row &row, const Call &call, coilRedOp_t op) const {
    coilDataType_t type = apiType(row.type);
    const void *send = call.send ? call.sent->callAddress(call.send) : nullptr;
    void *recv = call.recv ? call.guarded->callAddress(call.recv) : nullptr;
    coilStream_t stream = gpu ? gpu->stream() : nullptr;
    switch (job.plan.collective) {
    case Collective::AllGather:
      return apiStatus(coilAllGather(send, recv, row.count, type, comm, stream), "coilAllGather",
                       comm);
    case Collective::ReduceScatter:
      return apiStatus(coilReduceScatter(send, recv, row.count, type, op, comm, stream),
                       "coilReduceScatter", comm);
    case Collective::Broadcast:
      return apiStatus(coilBroadcast(send, recv, row.count, type, row.root, comm, stream),
                       "coilBroadcast", comm);
    case Collective::Reduce:
      return apiStatus(coilReduce(send, recv, row.count, type, op, row.root, comm, stream),
                       "coilReduce", comm);
    case Collective::Gather:
      return apiStatus(coilGather(send, recv, row.count, type, row.root, comm, stream),
                       "coilGather", comm);
    case Collective::Scatter:
      return apiStatus(coilScatter(send, recv, row.count, type, row.root, comm, stream),
                       "coilScatter", comm);
    case Collective::AllToAll:
      return apiStatus(coilAlltoAll(send, recv, row.count, type, comm, stream), "coilAlltoAll",
                       comm);
    case Collective::SendRecv:
      return apiStatus(coilSendRecv(send, recv, row.count, type, comm, stream), "coilSendRecv",
                       comm);
    case Collective::Barrier:
      return apiStatus(coilBarrier(comm, stream), "coilBarrier", comm);
    case Collective::Custom:
      return apiStatus(
          coilRunCustom(job.plan.name.c_str(), send, recv, row.count, type, op, comm, stream),
          "coilRunCustom", comm);
    default:
      return apiStatus(coilAllReduce(send, recv, row.count, type, op, comm, stream),
                       "coilAllReduce", comm);
    }
  }

  /// Returns the number of wrong elements, and prints the first few.
  uint64_t check(const Row &row, Placement placement, const CheckData &data,
                 const Call &call) const {
    uint64_t wrong = 0;
    auto take = [&](const Comparison &comparison, const char *buffer) {
      wrong += comparison.wrong;
      for (const Mismatch &mismatch : comparison.first)
        complain(row, placement,
                 fmt::format("element {} of the {} buffer: expected {}, found {}", mismatch.index,
                             buffer, mismatch.expected, mismatch.found));
    };
    take(data.checkOutput(rank, call.recv), "receive");
    for (auto [begin, end] : unchangedInput(row, placement, data))
      take(data.checkInput(rank, call.send, begin, end), "send");
    return wrong;
  }

  /// The elements of the send buffer that the call must leave as they are.
  std::vector<std::pair<uint64_t, uint64_t>> unchangedInput(const Row &row, Placement placement,
                                                            const CheckData &data) const {
    uint64_t all = data.inputCount(rank);
    if (all == 0)
      return {};
    // A rank without a receive buffer is never in place.
    if (placement == Placement::OutOfPlace || !data.hasOutput(rank))
      return {{0, all}};
    if (job.plan.collective != Collective::ReduceScatter &&
        job.plan.collective != Collective::Scatter)
      return {};
    // The other ranks' parts are input alone.
    uint64_t mine = static_cast<uint64_t>(rank) * row.count;
    return {{0, mine}, {mine + row.count, all}};
  }

  enum class GpuVerdict : uint8_t { Right, Wrong, OnlyHostCanTell };

  /// Whether the GPU finds all elements right.
  Result<GpuVerdict> judgeOnGpu(const Row &row, Placement placement, const CheckData &data,
                                const Call &call) {
    if (!gpu || !data.isExact())
      return GpuVerdict::OnlyHostCanTell;
    if (!gpuCheck) {
      auto created = GpuCheck::create(*gpu, job.nvrtcLibrary);
      // Kernels compiled ahead of time run without NVRTC: then the host compares.
      if (!created.isOk() && created.status().code() == StatusCode::Unsupported)
        return GpuVerdict::OnlyHostCanTell;
      if (!created.isOk())
        return std::move(created).status();
      gpuCheck = *std::move(created);
    }
    size_t size = sizeOf(row.type);
    auto isRight = [&](const Region &region, std::byte *buffer,
                       const Repetition &expected) -> Result<bool> {
      const std::byte *begin = region.callAddress(buffer + expected.begin * size);
      COIL_ASSIGN_OR_RETURN(uint64_t wrong, gpuCheck->countWrong(begin, expected, size));
      return wrong == 0;
    };
    for (int part = 0; part < data.outputParts(rank); ++part) {
      COIL_ASSIGN_OR_RETURN(bool received,
                            isRight(*call.guarded, call.recv, data.expectedOutput(rank, part)));
      if (!received)
        return GpuVerdict::Wrong;
    }
    for (auto [begin, end] : unchangedInput(row, placement, data)) {
      for (const Repetition &part : data.expectedInput(rank, begin, end)) {
        COIL_ASSIGN_OR_RETURN(bool unchanged, isRight(*call.sent, call.send, part));
        if (!unchanged)
          return GpuVerdict::Wrong;
      }
    }
    return GpuVerdict::Right;
  }

  /// Returns the number of bytes around the receive buffer that were overwritten.
  uint64_t checkGuards(const Row &row, Placement placement, const Call &call) const {
    uint64_t wrong = 0;
    if (uint64_t changed = call.guarded->changedGuardBytes(call.guardedBytes)) {
      wrong += changed;
      complain(row, placement,
               fmt::format("{} of the {} bytes before and after the receive buffer were "
                           "overwritten",
                           changed, 2 * guardBytes));
    }
    return wrong;
  }

  void complain(const Row &row, Placement placement, const std::string &what) const {
    if (!board.mayReport(mostReports))
      return;
    std::string op = combines(job.plan.collective) ? fmt::format(" {}", nameOf(row.op)) : "";
    say(rank, fmt::format("{} ({} of {} {}{}, {})", what, nameOf(job.plan.collective), row.count,
                          nameOf(row.type), op,
                          placement == Placement::InPlace ? "in place" : "out of place"));
  }

  const Job &job;
  Board &board;
  const int rank;
  std::unique_ptr<Gpu> gpu; ///< null on CPUs
  std::unique_ptr<GpuCheck> gpuCheck;
  coilComm_t comm = nullptr;
};

} // namespace

bool runRank(const Job &job, Board &board, int rank) {
  try {
    RankRun run(job, board, rank);
    Status status = run.run();
    if (status.isOk())
      return true;
    // The board's word that the run has failed adds nothing to what was said.
    if (status.code() != StatusCode::Aborted)
      say(rank, status.message());
    board.fail();
    run.abort();
  } catch (const std::exception &error) {
    say(rank, error.what());
    board.fail();
  }
  return false;
}

} // namespace coil::run
