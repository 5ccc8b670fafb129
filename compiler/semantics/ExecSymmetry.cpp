//===- ExecSymmetry.cpp - Images of rank programs -------------------------===//

#include "compiler/semantics/ExecSymmetry.h"

#include "compiler/semantics/ExecModel.h"

#include <algorithm>
#include <fmt/format.h>

namespace coil {

namespace {

class Unfolder {
public:
  Unfolder(const ExecPlan &plan, const ExecVariant &variant)
      : variant(variant), symmetry(variant.symmetry),
        shape{plan.collective, plan.ranks, variant.root, plan.chunks, plan.contract} {}

  ExecVariant run() {
    ExecVariant all;
    all.name = variant.name;
    all.root = variant.root;
    all.inPlace = variant.inPlace;
    all.transport = variant.transport;
    all.location = variant.location;
    for (const ExecChannel &channel : variant.channels)
      for (int64_t shift = 0; shift < symmetry.shifts(); ++shift)
        all.channels.push_back(image(channel, shift));
    for (int64_t rank = 0; rank < shape.ranks; ++rank) {
      auto kind = static_cast<size_t>(symmetry.kindOf(rank));
      all.scratch.push_back(variant.scratch[kind]);
      all.programs.push_back(variant.programs[kind]);
      int64_t shift = symmetry.shiftOf(rank);
      for (ExecWorker &worker : all.programs.back())
        for (std::vector<ExecOp> *ops : {&worker.prologue, &worker.body, &worker.epilogue})
          for (ExecOp &op : *ops)
            move(op, rank, shift);
    }
    return all;
  }

private:
  ExecChannel image(ExecChannel channel, int64_t shift) const {
    channel.sourceRank = symmetry.shiftRank(channel.sourceRank, shift);
    channel.destinationRank = symmetry.shiftRank(channel.destinationRank, shift);
    // The name of the representative's says where that one leads.
    channel.name = fmt::format("{}_{}", channel.name, shift);
    return channel;
  }

  /// The number, among those of all ranks, of the channel's image that ends, or else
  /// begins, at `rank`.
  uint32_t channelAt(uint32_t channel, int64_t rank, bool isEnd) const {
    int64_t shift = symmetry.shiftOf(rank);
    if (isEnd)
      shift = symmetry.sum(shift, variant.shiftToEnd(variant.channels[channel]));
    return static_cast<uint32_t>(channel * symmetry.shifts() + shift);
  }

  void move(ExecOp &op, int64_t rank, int64_t shift) const {
    if (movesData(op.kind))
      op.length = symmetry.shiftChunk(op.length, shift);
    if (writesMemory(op.kind))
      op.destination = shiftPlace(shape, symmetry, op.destination, shift);
    for (ExecOperand &operand : op.operands)
      if (operand.isHead)
        operand.channel = channelAt(operand.channel, rank, /*isEnd=*/true);
      else
        operand.place = shiftPlace(shape, symmetry, operand.place, shift);
    switch (op.kind) {
    case ExecOpKind::Send:
    case ExecOpKind::Push:
    case ExecOpKind::Signal:
      op.channel = channelAt(op.channel, rank, /*isEnd=*/false);
      break;
    case ExecOpKind::Wait:
      op.channel = channelAt(op.channel, rank, /*isEnd=*/true);
      break;
    default:
      break;
    }
    for (int64_t &peer : op.peers)
      peer = symmetry.shiftRank(peer, shift);
  }

  const ExecVariant &variant;
  const Symmetry &symmetry;
  CollectiveShape shape;
};

} // namespace

ExecVariant withAllRanks(const ExecPlan &plan, const ExecVariant &variant) {
  if (variant.symmetry.isTrivial())
    return variant;
  return Unfolder(plan, variant).run();
}

} // namespace coil
