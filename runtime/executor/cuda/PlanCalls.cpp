//===- PlanCalls.cpp - How a plan runs a call -----------------------------===//

#include "runtime/base/ChunkBounds.h"
#include "runtime/executor/cuda/RankInside.h"

#include <algorithm>
#include <cstring>

namespace coil::cuda {

using namespace device;

namespace {

/// Elements of a tile: chunks start at whole 128-byte lines in every tile, and each
/// instance gets a few tiles if there is enough for that.
uint64_t chooseTile(uint64_t longest, size_t elementSize, uint64_t tileBytes, uint32_t instances) {
  constexpr uint64_t lineBytes = 128, smallest = 2048, tilesWanted = 2;
  uint64_t line = lineBytes / elementSize;
  uint64_t most = tileBytes / lineBytes * line;
  uint64_t wanted = longest / (uint64_t{instances} * tilesWanted) + 1;
  wanted = std::max((wanted + line - 1) / line * line, smallest / elementSize);
  return std::min(wanted, most);
}

Status noVariant(const Plan &plan, const CallArguments &arguments, bool hasDirect, bool hasScalar) {
  std::string form = hasRoot(plan.collective) ? fmt::format("with root {}", arguments.root)
                     : arguments.inPlace      ? "in place"
                                              : "out of place";
  if (hasDirect && hasScalar)
    return Status::error(StatusCode::Unsupported,
                         "plan '{}' runs {} {} between registered buffers only, which an operator "
                         "with a factor cannot use",
                         plan.name, nameOf(plan.collective), form);
  if (hasDirect)
    return Status::error(StatusCode::InvalidUsage,
                         "plan '{}' runs {} {} between registered buffers only, and this rank's "
                         "buffers are not registered",
                         plan.name, nameOf(plan.collective), form);
  return Status::error(StatusCode::InvalidUsage, "plan '{}' has no variant for {} {}", plan.name,
                       nameOf(plan.collective), form);
}

} // namespace

Result<CallChoice> LoadedCudaPlan::State::choose(const CudaCall &call) {
  const CallArguments &arguments = call.arguments;
  const CudaConfig &config = owner.config;
  const PlanVariant *staged = plan.find(arguments.root, arguments.inPlace, Transport::Staged);
  const PlanVariant *direct = plan.find(arguments.root, arguments.inPlace, Transport::P2P);
  size_t elementSize = sizeOf(arguments.type);
  uint64_t bytes = arguments.count * elementSize;

  CallChoice choice;
  CallFacts &facts = choice.facts;
  facts.arguments = arguments;
  facts.arguments.planDigest = plan.digest;
  const PlanVariant *chosen = staged;
  if (direct && !call.scalar && owner.peers->reach().everywhere() &&
      (!staged || bytes >= config.directBytes)) {
    // A buffer that this rank does not have needs no window.
    SegmentCounts segments = plan.segments(rank() == arguments.root);
    auto locate = [&](const void *pointer, int64_t count, size_t &hint) {
      return owner.windows->locate(pointer, bytes * static_cast<uint64_t>(count), hint);
    };
    auto input = locate(call.send, segments.input, owner.sendHint);
    auto output = locate(call.receive, segments.output, owner.receiveHint);
    if (input && output) {
      choice.input = *input;
      choice.output = *output;
      chosen = direct;
    }
  }
  if (!chosen)
    return noVariant(plan, arguments, direct, call.scalar);
  choice.variant = static_cast<size_t>(chosen - plan.variants.data());
  facts.transport = chosen->transport;
  if (chosen->transport == Transport::Staged)
    facts.protocol = fixedProtocol().value_or(
        bytes <= config.llBytes && config.llBytes != 0 ? Protocol::Ll : Protocol::Simple);
  uint64_t longest = longestChunk(arguments.count, plan.chunks);
  facts.tileElements = chooseTile(longest, elementSize, layout->tileBytes(), layout->instances());
  choice.tiles = tileCount(arguments.count, plan.chunks, facts.tileElements);
  facts.instances = static_cast<uint32_t>(std::min<uint64_t>(layout->instances(), choice.tiles));
  return choice;
}

KernelSource LoadedCudaPlan::State::sourceOf(size_t variant, Protocol protocol) const {
  // What was compiled ahead of time has the programs of all ranks.
  static const std::vector<uint32_t> all;
  return {plan, variant, protocol, bundle ? all : owner.peers->ranksHere(), bundle.get()};
}

Result<std::shared_ptr<const LoadedKernel>>
LoadedCudaPlan::State::kernel(const CallChoice &choice) {
  const CallFacts &facts = choice.facts;
  // As coilc chooses what it compiles ahead of time.
  KernelInstance instance =
      kernelInstance(plan.collective, facts.arguments.type, facts.arguments.op);
  std::shared_ptr<const LoadedKernel> &known = kernels[{choice.variant, facts.protocol, instance}];
  if (!known) {
    COIL_ASSIGN_OR_RETURN(known,
                          owner.kernels->load(sourceOf(choice.variant, facts.protocol), instance));
  }
  return known;
}

Result<LaunchPart> LoadedCudaPlan::State::part(const CudaCall &call, const CallChoice &choice) {
  LaunchPart part;
  COIL_ASSIGN_OR_RETURN(part.kernel, kernel(choice));
  COIL_ASSIGN_OR_RETURN(const Binding *binding, bind(choice.variant, choice.facts.protocol));
  part.rank = rank();
  part.facts = choice.facts;
  part.tiles = choice.tiles;
  part.timeoutNanoseconds = owner.config.timeoutMs * 1'000'000;
  RankCall &rankCall = part.call;
  rankCall.state = reinterpret_cast<RankState *>(stateMemory.get());
  rankCall.workers = binding->workers;
  rankCall.constants = binding->constants;
  rankCall.input = static_cast<const u8 *>(call.send);
  rankCall.output = static_cast<u8 *>(call.receive);
  rankCall.inputPlace = choice.input;
  rankCall.outputPlace = choice.output;
  rankCall.fingerprint = fingerprintOf(choice.facts);
  if (call.scalar)
    std::memcpy(&rankCall.scalar, call.scalar, sizeOf(choice.facts.arguments.type));
  rankCall.rankClass = binding->rankClass;
  rankCall.workerCount = binding->workerCount;
  rankCall.instances = choice.facts.instances;
  return part;
}

//===----------------------------------------------------------------------===//
// What boards say
//===----------------------------------------------------------------------===//

uint64_t LoadedCudaPlan::State::finishedCallsOf(uint32_t other) const {
  return std::atomic_ref(boardOf(other)->board.finishedCalls).load(std::memory_order_acquire);
}

bool LoadedCudaPlan::State::isReleased(uint32_t other) const {
  return std::atomic_ref(boardOf(other)->released).load(std::memory_order_acquire) != 0;
}

FailureKind LoadedCudaPlan::State::failureKind() const {
  return std::atomic_ref(board().report.kind).load(std::memory_order_acquire);
}

void LoadedCudaPlan::State::abort() const {
  std::atomic_ref(board().abort).store(1, std::memory_order_release);
}

} // namespace coil::cuda
