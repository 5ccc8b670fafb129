//===- coil.cpp - The C API -----------------------------------------------===//

#include "runtime/include/coil/coil.h"

#include "runtime/api/Communicator.h"
#include "runtime/memory/SharedAllocations.h"
#include "runtime/plan/PlanFile.h"

#include <exception>
#include <new>

using namespace coil;

/// A communicator as the user holds it.
struct coilComm {
  std::unique_ptr<Communicator> communicator;
};

//===----------------------------------------------------------------------===//
// The C API's values are the runtime's own.
//===----------------------------------------------------------------------===//

#define COIL_SAME(a, b) static_assert(static_cast<int>(a) == static_cast<int>(b))
COIL_SAME(coilSuccess, StatusCode::Ok);
COIL_SAME(coilSystemError, StatusCode::SystemError);
COIL_SAME(coilInternalError, StatusCode::InternalError);
COIL_SAME(coilInvalidArgument, StatusCode::InvalidArgument);
COIL_SAME(coilInvalidUsage, StatusCode::InvalidUsage);
COIL_SAME(coilInvalidPlan, StatusCode::InvalidPlan);
COIL_SAME(coilRemoteError, StatusCode::RemoteError);
COIL_SAME(coilTimeout, StatusCode::Timeout);
COIL_SAME(coilAborted, StatusCode::Aborted);
COIL_SAME(coilUnsupported, StatusCode::Unsupported);
COIL_SAME(coilInt8, DataType::I8);
COIL_SAME(coilUint8, DataType::U8);
COIL_SAME(coilInt32, DataType::I32);
COIL_SAME(coilUint32, DataType::U32);
COIL_SAME(coilInt64, DataType::I64);
COIL_SAME(coilUint64, DataType::U64);
COIL_SAME(coilFloat16, DataType::F16);
COIL_SAME(coilFloat32, DataType::F32);
COIL_SAME(coilFloat64, DataType::F64);
COIL_SAME(coilBfloat16, DataType::BF16);
COIL_SAME(coilFloat8e4m3, DataType::F8E4M3);
COIL_SAME(coilFloat8e5m2, DataType::F8E5M2);
COIL_SAME(coilSum, ReduceOp::Sum);
COIL_SAME(coilProd, ReduceOp::Prod);
COIL_SAME(coilMax, ReduceOp::Max);
COIL_SAME(coilMin, ReduceOp::Min);
COIL_SAME(coilAvg, ReduceOp::Avg);
COIL_SAME(coilRedOpCount, ReduceOp::PreMulSum);
COIL_SAME(coilProtocolSimple - coilProtocolSimple, cuda::Protocol::Simple);
COIL_SAME(coilProtocolLl - coilProtocolSimple, cuda::Protocol::Ll);
COIL_SAME(coilProtocolLl128 - coilProtocolSimple, cuda::Protocol::Ll128);
COIL_SAME(coilCollAllReduce, Collective::AllReduce);
COIL_SAME(coilCollAllGather, Collective::AllGather);
COIL_SAME(coilCollReduceScatter, Collective::ReduceScatter);
COIL_SAME(coilCollBroadcast, Collective::Broadcast);
COIL_SAME(coilCollReduce, Collective::Reduce);
COIL_SAME(coilCollGather, Collective::Gather);
COIL_SAME(coilCollScatter, Collective::Scatter);
COIL_SAME(coilCollAlltoAll, Collective::AllToAll);
COIL_SAME(coilCollSendRecv, Collective::SendRecv);
COIL_SAME(coilCollBarrier, Collective::Barrier);
COIL_SAME(coilCollCustom, Collective::Custom);
#undef COIL_SAME

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {

std::string &threadError() {
  static thread_local std::string text;
  return text;
}

/// Keeps the error's sentence where coilGetLastError finds it.
coilResult_t report(coilComm_t comm, StatusCode code, const char *text) noexcept {
  try {
    if (comm)
      comm->communicator->setLastError(text);
    else
      threadError() = text;
  } catch (...) {
    // No memory for a sentence: the code must do.
  }
  return static_cast<coilResult_t>(code);
}

/// Runs the body of a call, which returns a Status. Nothing is thrown beyond.
template <typename Body> coilResult_t guarded(coilComm_t comm, Body body) noexcept {
  try {
    Status status = body();
    if (status.isOk()) [[likely]]
      return coilSuccess;
    return report(comm, status.code(), status.message().c_str());
  } catch (const std::bad_alloc &) {
    // What a collective call has left half done must not go on.
    if (comm)
      comm->communicator->abort();
    return report(comm, StatusCode::SystemError, "out of memory");
  } catch (const std::exception &exception) {
    if (comm)
      comm->communicator->abort();
    return report(comm, StatusCode::InternalError, exception.what());
  }
}

/// The same for calls that need the communicator for themselves.
template <typename Body> coilResult_t guardedUse(coilComm_t comm, Body body) noexcept {
  if (!comm)
    return report(nullptr, StatusCode::InvalidArgument, "the communicator is null");
  Communicator::Use use(*comm->communicator);
  return guarded(comm, [&]() -> Status {
    if (!use.isGot()) [[unlikely]]
      return use.status();
    return body(*comm->communicator);
  });
}

Status nullArgument(const char *name) {
  return Status::error(StatusCode::InvalidArgument, "{} is null", name);
}

/// Checks a configuration and gives it to the runtime's own types.
Result<CommunicatorConfig> readConfig(const coilConfig_t &config) {
  auto invalid = [](const char *format, auto... arguments) {
    return Status::error(StatusCode::InvalidArgument, fmt::runtime(format), arguments...);
  };
  if (config.size != sizeof(coilConfig_t) || config.version / 10000 != COIL_VERSION_MAJOR)
    return invalid("the configuration has {} bytes and version {}, expected {} and {}; begin with "
                   "COIL_CONFIG_INITIALIZER",
                   config.size, config.version, sizeof(coilConfig_t), COIL_VERSION);
  constexpr uint64_t largestSlot = uint64_t{1} << 30;
  if (config.slotBytes != COIL_CHOOSE &&
      (config.slotBytes == 0 || config.slotBytes % 64 != 0 || config.slotBytes > largestSlot))
    return invalid("expected slotBytes to be a multiple of 64 up to {}, found {}", largestSlot,
                   config.slotBytes);
  CommunicatorConfig read;
  read.timeoutMs = config.timeoutMs;
  auto choose = [](uint64_t given, uint64_t &kept) {
    if (given != COIL_CHOOSE)
      kept = given;
  };
  choose(config.slotBytes, read.slotBytes);
  choose(config.directBytes, read.directBytes);
  if (config.target == coilTargetCpu)
    return read;

  if (config.target != coilTargetCuda)
    return invalid("there is no target {}", static_cast<int>(config.target));
  cuda::CudaConfig &device = read.cuda.emplace();
  device.timeoutMs = config.timeoutMs;
  choose(config.slotBytes, device.tileBytes);
  choose(config.directBytes, device.directBytes);
  choose(config.llBytes, device.llBytes);
  if (config.instances != 0)
    device.instances = config.instances;
  if (config.threadsPerBlock != 0)
    device.threadsPerBlock = config.threadsPerBlock;
  if (config.protocol < coilProtocolAuto || config.protocol > coilProtocolLl128)
    return invalid("there is no protocol {}", static_cast<int>(config.protocol));
  if (config.protocol != coilProtocolAuto)
    device.forceProtocol = static_cast<cuda::Protocol>(config.protocol - coilProtocolSimple);
  if (config.cudaLibrary)
    device.driverLibrary = config.cudaLibrary;
  if (config.nvrtcLibrary)
    device.nvrtcLibrary = config.nvrtcLibrary;
  read.device = config.device;
  return read;
}

} // namespace

coilResult_t coilGetVersion(int *version) {
  return guarded(nullptr, [&] {
    if (!version)
      return nullArgument("version");
    *version = COIL_VERSION;
    return Status::ok();
  });
}

const char *coilGetErrorString(coilResult_t result) {
  return statusCodeName(static_cast<StatusCode>(result));
}

const char *coilGetLastError(coilComm_t comm) {
  return comm ? comm->communicator->lastError() : threadError().c_str();
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

coilResult_t coilGetUniqueId(coilUniqueId *id) {
  return guarded(nullptr, [&]() -> Status {
    if (!id)
      return nullArgument("id");
    COIL_ASSIGN_OR_RETURN(UniqueId made, UniqueId::make());
    std::string text = made.text();
    static_assert(COIL_UNIQUE_ID_BYTES == sizeof id->internal);
    std::memset(id->internal, 0, sizeof id->internal);
    std::memcpy(id->internal, text.data(), std::min(text.size(), sizeof id->internal));
    return Status::ok();
  });
}

coilResult_t coilCommInitRank(coilComm_t *comm, int ranks, coilUniqueId id, int rank) {
  coilConfig_t config = COIL_CONFIG_INITIALIZER;
  return coilCommInitRankConfig(comm, ranks, id, rank, &config);
}

coilResult_t coilCommInitRankConfig(coilComm_t *comm, int ranks, coilUniqueId id, int rank,
                                    const coilConfig_t *config) {
  return guarded(nullptr, [&]() -> Status {
    if (!comm)
      return nullArgument("comm");
    *comm = nullptr;
    if (!config)
      return nullArgument("config");
    COIL_ASSIGN_OR_RETURN(CommunicatorConfig read, readConfig(*config));
    if (ranks < 1 || rank < 0 || rank >= ranks)
      return Status::error(StatusCode::InvalidArgument,
                           "expected at least 1 rank and a rank below that, found rank {} of {}",
                           rank, ranks);
    COIL_ASSIGN_OR_RETURN(UniqueId parsed, UniqueId::parse({id.internal, sizeof id.internal}));
    auto made = std::make_unique<coilComm>();
    COIL_ASSIGN_OR_RETURN(made->communicator, Communicator::create(parsed, rank, ranks, read));
    *comm = made.release();
    return Status::ok();
  });
}

coilResult_t coilCommDestroy(coilComm_t comm) {
  if (!comm)
    return coilSuccess;
  {
    Communicator::Use use(*comm->communicator);
    if (!use.isGot())
      return guarded(comm, [&] { return use.status(); });
  }
  return guarded(nullptr, [&] {
    delete comm;
    return Status::ok();
  });
}

coilResult_t coilCommAbort(coilComm_t comm) {
  return guarded(nullptr, [&] {
    if (!comm)
      return nullArgument("comm");
    comm->communicator->abort();
    return Status::ok();
  });
}

coilResult_t coilCommGetAsyncError(coilComm_t comm, coilResult_t *result) {
  return guarded(nullptr, [&] {
    if (!comm || !result)
      return nullArgument(comm ? "result" : "comm");
    Status health = comm->communicator->health();
    *result = static_cast<coilResult_t>(health.code());
    if (!health.isOk())
      comm->communicator->setLastError(health.message());
    return Status::ok();
  });
}

coilResult_t coilCommCount(coilComm_t comm, int *ranks) {
  return guarded(nullptr, [&] {
    if (!comm || !ranks)
      return nullArgument(comm ? "ranks" : "comm");
    *ranks = comm->communicator->ranks();
    return Status::ok();
  });
}

coilResult_t coilCommUserRank(coilComm_t comm, int *rank) {
  return guarded(nullptr, [&] {
    if (!comm || !rank)
      return nullArgument(comm ? "rank" : "comm");
    *rank = comm->communicator->rank();
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// Plans, memory, operators
//===----------------------------------------------------------------------===//

// What is wrong with a plan or its cubins on one rank is told to all: see
// loadPlan().
namespace {

Result<Plan> planOf(const void *bytes, size_t size) {
  if (!bytes)
    return nullArgument("the plan");
  return readPlan({static_cast<const uint8_t *>(bytes), size});
}

Result<Plan> planOf(const char *path) {
  if (!path)
    return nullArgument("the plan's path");
  return readPlanFile(path);
}

Result<Communicator::TrustedCubins> share(Result<nvrtc::CubinBundle> read) {
  COIL_ASSIGN_OR_RETURN(nvrtc::CubinBundle cubins, std::move(read));
  return std::make_shared<const nvrtc::CubinBundle>(std::move(cubins));
}

Result<Communicator::TrustedCubins> cubinsOf(const void *bytes, size_t size) {
  if (!bytes)
    return nullArgument("the bundle of cubins");
  return share(nvrtc::readCubinBundle({static_cast<const uint8_t *>(bytes), size}));
}

Result<Communicator::TrustedCubins> cubinsOf(const char *path) {
  if (!path)
    return nullArgument("the cubins' path");
  return share(nvrtc::readCubinBundleFile(path));
}

} // namespace

coilResult_t coilCommLoadPlan(coilComm_t comm, const void *bytes, size_t size) {
  return guardedUse(
      comm, [&](Communicator &communicator) { return communicator.loadPlan(planOf(bytes, size)); });
}

coilResult_t coilCommLoadPlanFile(coilComm_t comm, const char *path) {
  return guardedUse(
      comm, [&](Communicator &communicator) { return communicator.loadPlan(planOf(path)); });
}

coilResult_t coilCommLoadPlanTrustingCubins(coilComm_t comm, const void *bytes, size_t size,
                                            const void *cubins, size_t cubinsSize) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.loadPlan(planOf(bytes, size), cubinsOf(cubins, cubinsSize));
  });
}

coilResult_t coilCommLoadPlanFileTrustingCubins(coilComm_t comm, const char *path,
                                                const char *cubinsPath) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.loadPlan(planOf(path), cubinsOf(cubinsPath));
  });
}

coilResult_t coilMemAlloc(void **pointer, size_t bytes) {
  return guarded(nullptr, [&]() -> Status {
    if (!pointer)
      return nullArgument("pointer");
    *pointer = nullptr;
    COIL_ASSIGN_OR_RETURN(*pointer, allocateShared(bytes));
    return Status::ok();
  });
}

coilResult_t coilMemFree(void *pointer) {
  return guarded(nullptr, [&]() -> Status {
    // Memory of peers' mappings would live on behind the address.
    if (std::optional<SharedRange> range = findShared(pointer, 1);
        range && range->base == pointer && isRegistered(range->id))
      return Status::error(StatusCode::InvalidUsage,
                           "the memory at {} is registered with a communicator; deregister it or "
                           "destroy the communicator first",
                           pointer);
    return freeShared(pointer);
  });
}

coilResult_t coilCommRegister(coilComm_t comm, void *pointer, size_t bytes, coilWindow_t *window) {
  return guardedUse(comm, [&](Communicator &communicator) -> Status {
    if (!window)
      return nullArgument("window");
    *window = nullptr;
    COIL_ASSIGN_OR_RETURN(const Window *made, communicator.registerMemory(pointer, bytes));
    *window = reinterpret_cast<coilWindow_t>(const_cast<Window *>(made));
    return Status::ok();
  });
}

coilResult_t coilCommDeregister(coilComm_t comm, coilWindow_t window) {
  return guardedUse(comm,
                    [&](Communicator &communicator) { return communicator.deregister(window); });
}

coilResult_t coilRedOpCreatePreMulSum(coilRedOp_t *op, const void *scalar, coilDataType_t type,
                                      coilComm_t comm) {
  return guardedUse(comm, [&](Communicator &communicator) -> Status {
    if (!op)
      return nullArgument("op");
    COIL_ASSIGN_OR_RETURN(int handle, communicator.createPreMulSum(scalar, type));
    *op = static_cast<coilRedOp_t>(handle);
    return Status::ok();
  });
}

coilResult_t coilRedOpDestroy(coilRedOp_t op, coilComm_t comm) {
  return guardedUse(comm,
                    [&](Communicator &communicator) { return communicator.destroyReduceOp(op); });
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

coilResult_t coilAllReduce(const void *send, void *recv, size_t count, coilDataType_t type,
                           coilRedOp_t op, coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run({Collective::AllReduce, send, recv, count, type, op, 0, stream});
  });
}

coilResult_t coilAllGather(const void *send, void *recv, size_t sendCount, coilDataType_t type,
                           coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run(
        {Collective::AllGather, send, recv, sendCount, type, coilSum, 0, stream});
  });
}

coilResult_t coilReduceScatter(const void *send, void *recv, size_t recvCount, coilDataType_t type,
                               coilRedOp_t op, coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run(
        {Collective::ReduceScatter, send, recv, recvCount, type, op, 0, stream});
  });
}

coilResult_t coilBroadcast(const void *send, void *recv, size_t count, coilDataType_t type,
                           int root, coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run(
        {Collective::Broadcast, send, recv, count, type, coilSum, root, stream});
  });
}

coilResult_t coilReduce(const void *send, void *recv, size_t count, coilDataType_t type,
                        coilRedOp_t op, int root, coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run({Collective::Reduce, send, recv, count, type, op, root, stream});
  });
}

coilResult_t coilGather(const void *send, void *recv, size_t sendCount, coilDataType_t type,
                        int root, coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run(
        {Collective::Gather, send, recv, sendCount, type, coilSum, root, stream});
  });
}

coilResult_t coilScatter(const void *send, void *recv, size_t recvCount, coilDataType_t type,
                         int root, coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run(
        {Collective::Scatter, send, recv, recvCount, type, coilSum, root, stream});
  });
}

coilResult_t coilAlltoAll(const void *send, void *recv, size_t count, coilDataType_t type,
                          coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run({Collective::AllToAll, send, recv, count, type, coilSum, 0, stream});
  });
}

coilResult_t coilSendRecv(const void *send, void *recv, size_t count, coilDataType_t type,
                          coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run({Collective::SendRecv, send, recv, count, type, coilSum, 0, stream});
  });
}

coilResult_t coilBarrier(coilComm_t comm, coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    // Messages without bytes are sent and awaited as any.
    return communicator.run(
        {Collective::Barrier, nullptr, nullptr, 0, coilUint8, coilMax, 0, stream});
  });
}

coilResult_t coilRunCustom(const char *name, const void *send, void *recv, size_t count,
                           coilDataType_t type, coilRedOp_t op, coilComm_t comm,
                           coilStream_t stream) {
  return guardedUse(comm, [&](Communicator &communicator) {
    return communicator.run({Collective::Custom, send, recv, count, type, op, 0, stream, name});
  });
}

coilResult_t coilCommCustomSegments(coilComm_t comm, const char *name, size_t *send, size_t *recv) {
  return guardedUse(comm, [&](Communicator &communicator) -> Status {
    if (!send || !recv)
      return nullArgument(send ? "recv" : "send");
    COIL_ASSIGN_OR_RETURN(SegmentCounts segments, communicator.customSegments(name));
    *send = static_cast<size_t>(segments.input);
    *recv = static_cast<size_t>(segments.output);
    return Status::ok();
  });
}
