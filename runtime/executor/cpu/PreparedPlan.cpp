//===- PreparedPlan.cpp - A plan made ready to run on one rank ------------===//

#include "runtime/executor/cpu/PreparedPlan.h"

#include <algorithm>

namespace coil::cpu {

namespace {

/// Tiles start at whole lines of cache in every chunk that starts at one.
constexpr uint64_t tileGranule = 64;

/// Bytes of a tile for chunks of `chunkBytes` bytes.
uint64_t chooseTileBytes(Transport transport, uint64_t chunkBytes, uint64_t largest) {
  if (transport == Transport::P2P) {
    // A tile of all chunks stays in the second-level cache between the operations
    // of one round.
    constexpr uint64_t cacheable = 128 << 10;
    return std::min(largest, cacheable);
  }
  // Sender and receiver overlap when a chunk takes a few tiles, but each tile
  // costs an exchange of flags.
  constexpr uint64_t smallest = 64 << 10;
  constexpr uint64_t tilesWanted = 4;
  return std::min(largest, std::max(smallest, chunkBytes / tilesWanted));
}

bool isFor(OpKind kind, Transport transport) {
  switch (kind) {
  case OpKind::Put:
  case OpKind::Get:
  case OpKind::GetReduce:
    return transport == Transport::P2P;
  case OpKind::Push:
  case OpKind::Pop:
  case OpKind::PopReduce:
    return transport == Transport::Staged;
  default:
    return true;
  }
}

} // namespace

Result<std::unique_ptr<PreparedPlan>> PreparedPlan::prepare(Plan plan,
                                                            const PlanSegmentLayout &layout,
                                                            std::vector<std::byte *> segments,
                                                            uint32_t rank) {
  std::unique_ptr<PreparedPlan> prepared(
      new PreparedPlan(std::move(plan), layout, std::move(segments), rank));
  prepared->prepareChannels();
  for (size_t i = 0; i < prepared->source.variants.size(); ++i)
    COIL_RETURN_IF_ERROR(prepared->prepareVariant(i));
  return prepared;
}

/// The position of `chunk` in `variant.chunks`, to which it is added if missing.
uint32_t PreparedPlan::internChunk(uint32_t chunk, PreparedVariant &variant) {
  auto [found, isNew] =
      chunkPositions.try_emplace(chunk, static_cast<uint32_t>(variant.chunks.size()));
  if (isNew)
    variant.chunks.push_back(chunk);
  return found->second;
}

void PreparedPlan::prepareChannels() {
  const auto &channels = layout.channels();
  ends.resize(channels.size());
  for (uint32_t i = 0; i < channels.size(); ++i) {
    const PlanChannel &channel = channels[i].channel;
    bool staged = channel.transport == Transport::Staged;
    if (channel.sourceRank == self) {
      if (staged)
        ends[i].sender = &senders.emplace_back(layout.fifo(i, segments));
      else
        ends[i].signaller = &signallers.emplace_back(layout.counter(i, segments));
    }
    if (channel.destinationRank == self) {
      if (staged)
        ends[i].receiver = &receivers.emplace_back(layout.fifo(i, segments));
      else
        ends[i].signalled = &waiters.emplace_back(layout.counter(i, segments));
    }
  }
}

Status PreparedPlan::prepareVariant(size_t number) {
  const PlanVariant &from = source.variants[number];
  PreparedVariant &variant = variants.emplace_back();
  variant.transport = from.transport;
  chunkPositions.clear();
  const PlanProgram &program = from.programs[from.programOfKind[self]];
  variant.workers.resize(program.workers.size());
  for (size_t i = 0; i < program.workers.size(); ++i)
    COIL_RETURN_IF_ERROR(prepareWorker(number, program.workers[i], variant, variant.workers[i]));
  variant.bounds.resize(variant.chunks.size());
  size_t at = indexOf(from.root, from.inPlace, from.transport);
  if (index.size() <= at)
    index.resize(at + 1);
  index[at] = &variant;
  return Status::ok();
}

PreparedPlace PreparedPlan::preparePlace(size_t variantNumber, const PlanOperand &operand,
                                         PreparedVariant &variant) {
  PreparedPlace place;
  place.kind = operand.kind;
  place.rank = operand.rank;
  switch (operand.kind) {
  case OperandKind::Input:
  case OperandKind::Output:
    place.segment = operand.index / source.chunks;
    place.chunk = internChunk(operand.index % source.chunks, variant);
    break;
  case OperandKind::Scratch:
    place.scratch = segments[operand.rank] + layout.scratchOffset(operand.rank, operand.index);
    break;
  case OperandKind::Slot: {
    uint32_t shared = layout.channelOf(variantNumber, operand.index);
    place.slot = ends[shared].receiver;
    place.source = layout.channels()[shared].channel.sourceRank;
    break;
  }
  }
  return place;
}

Status PreparedPlan::prepareWorker(size_t variantNumber, const PlanWorker &from,
                                   PreparedVariant &variant, PreparedWorker &worker) {
  // Operations point at their operands, which therefore must not move.
  size_t operands = 0;
  for (const auto *section : {&from.prologue, &from.body, &from.epilogue})
    for (const PlanOp &op : *section)
      operands += op.operandCount;
  worker.places.reserve(operands);
  worker.ops.reserve(from.prologue.size() + from.body.size() + from.epilogue.size());

  for (const auto *section : {&from.prologue, &from.body, &from.epilogue})
    for (const PlanOp &op : *section) {
      if (!isFor(op.kind, variant.transport))
        return Status::error(StatusCode::InvalidPlan, "variant {} of plan '{}' is {}, but has a {}",
                             variantNumber, source.name, nameOf(variant.transport),
                             nameOf(op.kind));
      PreparedOp &prepared = worker.ops.emplace_back();
      prepared.kind = op.kind;
      prepared.complete = op.complete;
      prepared.location = op.location;
      prepared.operandCount = op.operandCount;
      prepared.operands = worker.places.data() + worker.places.size();
      size_t inputs = 0;
      for (uint32_t i = 0; i < op.operandCount; ++i) {
        const PlanOperand &operand = from.operands[op.firstOperand + i];
        worker.places.push_back(preparePlace(variantNumber, operand, variant));
        inputs += operand.kind == OperandKind::Input && operand.rank == self;
      }
      largestOperandCount = std::max<size_t>(largestOperandCount, op.operandCount);
      largestInputCount = std::max(largestInputCount, inputs);

      bool moves = op.kind <= OpKind::PopReduce;
      if (moves)
        prepared.length = internChunk(op.length, variant);
      if (moves && op.kind != OpKind::Push)
        prepared.destination = preparePlace(variantNumber, op.destination, variant);
      if (op.kind == OpKind::Push || op.kind == OpKind::Signal || op.kind == OpKind::Wait) {
        uint32_t shared = layout.channelOf(variantNumber, op.channel);
        const PlanChannel &channel = layout.channels()[shared].channel;
        prepared.sender = ends[shared].sender;
        prepared.signaller = ends[shared].signaller;
        prepared.signalled = ends[shared].signalled;
        prepared.peer = op.kind == OpKind::Wait ? channel.sourceRank : channel.destinationRank;
      }
    }
  const PreparedOp *first = worker.ops.data();
  worker.bounds = {first, first + from.prologue.size(),
                   first + from.prologue.size() + from.body.size(), first + worker.ops.size()};
  return Status::ok();
}

void PreparedPlan::reshape(PreparedVariant &variant, uint64_t count, size_t elementSize) const {
  uint64_t chunks = source.chunks;
  for (size_t i = 0; i < variant.chunks.size(); ++i) {
    uint64_t begin = chunkBegin(count, chunks, variant.chunks[i]);
    variant.bounds[i] = {begin, chunkBegin(count, chunks, uint64_t{variant.chunks[i]} + 1) - begin};
  }
  uint64_t longest = longestChunk(count, chunks);
  uint64_t largest = layout.tileBytes() / elementSize;
  uint64_t elements =
      chooseTileBytes(variant.transport, longest * elementSize, layout.tileBytes()) / elementSize;
  elements = std::max(elements / tileGranule * tileGranule, std::min(tileGranule, largest));
  variant.shape = {count, elementSize, elements, tileCount(count, chunks, elements)};
}

} // namespace coil::cpu
