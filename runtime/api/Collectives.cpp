//===- Collectives.cpp - How a communicator runs a collective -------------===//

#include "runtime/api/Communicator.h"

#include <algorithm>
#include <cstdint>

namespace coil {

namespace {
/// True if two runs of bytes have a byte in common.
bool overlap(const std::byte *a, size_t aBytes, const std::byte *b, size_t bBytes) {
  auto aBegin = reinterpret_cast<uintptr_t>(a), bBegin = reinterpret_cast<uintptr_t>(b);
  return aBegin < bBegin + bBytes && bBegin < aBegin + aBytes;
}

bool wraps(const std::byte *pointer, size_t bytes) {
  return bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(pointer);
}

template <typename... Args>
Status invalidArgument(fmt::format_string<Args...> format, Args &&...args) {
  return Status::error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}

Status noPlan(const CollectiveRequest &request) {
  std::string name = request.planName ? fmt::format(" named '{}'", request.planName) : "";
  return Status::error(StatusCode::InvalidUsage,
                       "no plan for {}{} is loaded; compile one with coilc and load it with "
                       "coilCommLoadPlan",
                       nameOf(request.collective), name);
}
} // namespace

Status Communicator::check(const CollectiveRequest &request, const Plan *plan,
                           Checked &checked) const {
  if (request.stream && !gpu)
    return invalidArgument("expected no stream where ranks run on CPUs, found {}", request.stream);
  if (request.type < 0 || request.type >= numDataTypes)
    return invalidArgument("there is no type {}", request.type);
  CallArguments &arguments = checked.arguments;
  arguments.kind = callKind(request.collective);
  arguments.type = static_cast<DataType>(request.type);
  arguments.count = request.count;
  if (combines(request.collective)) {
    constexpr int builtInOps = static_cast<int>(ReduceOp::PreMulSum);
    if (request.op >= 0 && request.op < builtInOps) {
      arguments.op = static_cast<ReduceOp>(request.op);
    } else {
      auto found = std::find_if(preMulSums.begin(), preMulSums.end(),
                                [&](const PreMulSum &op) { return op.handle == request.op; });
      if (found == preMulSums.end())
        return invalidArgument("there is no operator {} in this communicator", request.op);
      if (found->type != arguments.type)
        return invalidArgument("operator {} was made for {}, the call is of {}", request.op,
                               nameOf(found->type), nameOf(arguments.type));
      arguments.op = ReduceOp::PreMulSum;
      checked.scalar = found->scalar.data();
    }
    if (request.collective == Collective::Custom && arguments.op >= ReduceOp::Avg)
      return invalidArgument("expected sum, prod, max or min for a contract of its own, found {}",
                             nameOf(arguments.op));
  }
  if (hasRoot(request.collective)) {
    if (request.root < 0 || request.root >= group.ranks)
      return invalidArgument("expected a root below {}, found {}", group.ranks, request.root);
    arguments.root = static_cast<uint32_t>(request.root);
  }
  checked.elementSize = sizeOf(arguments.type);
  SegmentCounts segments = plan ? plan->segments() : segmentCounts(request.collective, group.ranks);
  uint64_t factor =
      checked.elementSize * static_cast<uint64_t>(std::max(segments.input, segments.output));
  if (request.count > static_cast<uint64_t>(PTRDIFF_MAX) / factor)
    return invalidArgument("{} elements of {} on {} ranks are more than an address space holds",
                           request.count, nameOf(arguments.type), group.ranks);
  bool isRoot = group.rank == request.root;
  segments = plan ? plan->segments(isRoot) : segmentCounts(request.collective, group.ranks, isRoot);
  size_t bytes = request.count * checked.elementSize;
  checked.inputBytes = bytes * static_cast<size_t>(segments.input);
  checked.outputBytes = bytes * static_cast<size_t>(segments.output);
  checked.input = static_cast<const std::byte *>(request.send);
  checked.output = static_cast<std::byte *>(request.receive);
  return request.count == 0 ? Status::ok() : checkBuffers(request, checked);
}

/// For at least one element: pointers may be null otherwise, and nothing is in
/// place.
Status Communicator::checkBuffers(const CollectiveRequest &request, Checked &checked) const {
  bool hasInput = checked.inputBytes != 0, hasOutput = checked.outputBytes != 0;
  if (hasOutput && !checked.output)
    return invalidArgument("the receive buffer is null");
  if (hasInput && !checked.input)
    return invalidArgument("the send buffer is null");
  if (wraps(checked.input, checked.inputBytes) || wraps(checked.output, checked.outputBytes))
    return invalidArgument("a buffer reaches beyond the end of the address space");
  // Nobody accesses a buffer that this rank does not have; its address takes part
  // in the call all the same, and any memory of this rank does.
  if (!hasInput)
    checked.input = checked.output;
  else if (!hasOutput)
    checked.output = const_cast<std::byte *>(checked.input);
  if (!hasInput || !hasOutput)
    return Status::ok();

  size_t own = static_cast<size_t>(group.rank) * request.count * checked.elementSize;
  const std::byte *inPlaceInput = checked.output, *input = checked.input;
  bool hasInPlace = true;
  switch (request.collective) {
  case Collective::AllGather:
  case Collective::Gather:
    inPlaceInput += own;
    break;
  case Collective::ReduceScatter:
  case Collective::Scatter:
    input += own;
    break;
  case Collective::AllToAll:
  case Collective::SendRecv:
  case Collective::Custom:
    hasInPlace = false;
    break;
  default:
    break;
  }
  if (hasInPlace && input == inPlaceInput) {
    // With a root, which alone knows, there is one form for both.
    checked.arguments.inPlace = !hasRoot(request.collective);
    return Status::ok();
  }
  if (!overlap(checked.input, checked.inputBytes, checked.output, checked.outputBytes))
    return Status::ok();
  std::string wrong = hasInPlace
                          ? fmt::format("are not where an in-place {} of rank {} has them",
                                        nameOf(request.collective), group.rank)
                          : fmt::format("{} has no in-place form", nameOf(request.collective));
  return invalidArgument(
      "the send buffer ({} bytes at {}) and the receive buffer ({} bytes at {}) overlap, but {}",
      checked.inputBytes, static_cast<const void *>(checked.input), checked.outputBytes,
      static_cast<const void *>(checked.output), wrong);
}

Result<Communicator::LoadedPlan *> Communicator::find(const CollectiveRequest &request) const {
  if (request.collective != Collective::Custom)
    return plans[static_cast<size_t>(request.collective)].get();
  if (request.planName) {
    auto found = customPlans.find(std::string_view(request.planName));
    return found == customPlans.end() ? nullptr : found->second.get();
  }
  if (customPlans.size() > 1)
    return invalidArgument(
        "expected the name of one of {} plans with contracts of their own, found "
        "none",
        customPlans.size());
  return customPlans.empty() ? nullptr : customPlans.begin()->second.get();
}

Result<SegmentCounts> Communicator::customSegments(const char *planName) const {
  CollectiveRequest request;
  request.collective = Collective::Custom;
  request.planName = planName;
  COIL_ASSIGN_OR_RETURN(LoadedPlan * loaded, find(request));
  if (!loaded)
    return noPlan(request);
  return loaded->plan().segments();
}

Status Communicator::run(const CollectiveRequest &request) {
  if (group.mine().poison.isSet()) [[unlikely]]
    return health();
  Checked checked;
  COIL_ASSIGN_OR_RETURN(LoadedPlan * loaded, find(request));
  COIL_RETURN_IF_ERROR(check(request, loaded ? &loaded->plan() : nullptr, checked));
  if (loaded)
    return gpu ? enqueue(*loaded, checked, request.stream) : runVariants(*loaded, checked);
  if (!gpu) {
    // If another rank is in another call, that is the error to report.
    COIL_RETURN_IF_ERROR(enter(checked.arguments));
    COIL_RETURN_IF_ERROR(meetAll(nullptr, nullptr));
  }
  return noPlan(request);
}

Status Communicator::runVariants(LoadedPlan &loaded, const Checked &checked) {
  cpu::CpuExecutor &executor = *loaded.executor;
  CallArguments arguments = checked.arguments;
  arguments.planDigest = executor.plan().digest;
  cpu::PreparedVariant *staged, *direct;
  auto find = [&] {
    staged = executor.find(arguments.root, arguments.inPlace, Transport::Staged);
    direct = executor.find(arguments.root, arguments.inPlace, Transport::P2P);
  };
  find();
  if (!staged && !direct && arguments.count == 0) {
    arguments.inPlace = true;
    find();
  }

  // All that this depends on is the same on all ranks, or they disagree.
  uint64_t bytes = arguments.count * checked.elementSize;
  bool mayBeDirect = direct && !checked.scalar && (!staged || bytes >= config.directBytes);
  WindowPlace send, receive;
  if (mayBeDirect && bytes != 0) {
    send = windows.locate(checked.input, checked.inputBytes, sendHint);
    receive = windows.locate(checked.output, checked.outputBytes, receiveHint);
  }
  COIL_RETURN_IF_ERROR(enter(arguments, send, receive));

  cpu::PreparedVariant *chosen = staged;
  bool met = mayBeDirect || !staged;
  if (met) {
    COIL_RETURN_IF_ERROR(meetAll(&executor, direct));
    if (mayBeDirect && resolveBuffers(executor, checked))
      chosen = direct;
    if (!chosen)
      return missingVariant(loaded, checked);
  }
  executor.buffersOf(group.rank) = {checked.input, checked.output};
  cpu::Call call{sequence,       fingerprint,  arguments.count,
                 arguments.type, arguments.op, checked.scalar};
  if (Status status = executor.run(*chosen, call); !status.isOk())
    return group.fail(std::move(status));
  // With a root, or under a contract of its own, some ranks hear nothing of some others:
  // without this, two roots would both succeed.
  Collective collective = executor.plan().collective;
  if (!met && (hasRoot(collective) || collective == Collective::Custom))
    return meetAll(&executor, chosen);
  return Status::ok();
}

Status Communicator::enqueue(LoadedPlan &loaded, const Checked &checked, void *stream) {
  cuda::CudaCall call;
  call.arguments = checked.arguments;
  call.send = checked.input;
  call.receive = checked.output;
  call.scalar = checked.scalar;
  const Plan &plan = loaded.onGpu->plan();
  CallArguments &arguments = call.arguments;
  if (arguments.count == 0 && !plan.find(arguments.root, arguments.inPlace, Transport::Staged) &&
      !plan.find(arguments.root, arguments.inPlace, Transport::P2P))
    arguments.inPlace = !arguments.inPlace;
  return gpu->enqueue(*loaded.onGpu, call, static_cast<cuda::DriverStream *>(stream));
}

bool Communicator::resolveBuffers(cpu::CpuExecutor &executor, const Checked &checked) const {
  for (int other = 0; other < group.ranks; ++other) {
    if (other == group.rank || checked.arguments.count == 0)
      continue;
    const EntryRecord &record = group.of(other).recordOf(sequence);
    SegmentCounts segments =
        executor.plan().segments(static_cast<uint32_t>(other) == checked.arguments.root);
    size_t bytes = checked.arguments.count * checked.elementSize;
    const std::byte *input =
        windows.resolve(other, record.send(), bytes * static_cast<size_t>(segments.input));
    std::byte *output =
        windows.resolve(other, record.receive(), bytes * static_cast<size_t>(segments.output));
    if (!input || !output)
      return false;
    executor.buffersOf(other) = {input, output};
  }
  if (checked.arguments.count == 0)
    return true;
  const EntryRecord &own = group.mine().recordOf(sequence);
  return own.send().window != 0 && own.receive().window != 0;
}

Status Communicator::missingVariant(const LoadedPlan &loaded, const Checked &checked) const {
  const Plan &plan = loaded.executor->plan();
  const CallArguments &arguments = checked.arguments;
  std::string form = hasRoot(plan.collective) ? fmt::format("with root {}", arguments.root)
                     : arguments.inPlace      ? "in place"
                                              : "out of place";
  bool hasDirect = plan.find(arguments.root, arguments.inPlace, Transport::P2P);
  if (hasDirect && checked.scalar)
    return Status::error(StatusCode::Unsupported,
                         "plan '{}' runs {} {} between registered buffers only, which an operator "
                         "with a factor cannot use",
                         plan.name, nameOf(plan.collective), form);
  if (hasDirect)
    return Status::error(StatusCode::InvalidUsage,
                         "plan '{}' runs {} {} between registered buffers only, and not all ranks' "
                         "buffers are registered",
                         plan.name, nameOf(plan.collective), form);
  return Status::error(StatusCode::InvalidUsage, "plan '{}' has no variant for {} {}", plan.name,
                       nameOf(plan.collective), form);
}

} // namespace coil
