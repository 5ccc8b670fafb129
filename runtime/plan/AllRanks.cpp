//===- AllRanks.cpp - A program for every rank ----------------------------===//

#include "runtime/plan/AllRanks.h"

namespace coil {

namespace {

uint64_t countOperations(const PlanVariant &variant) {
  uint64_t count = 0;
  for (uint32_t program : variant.programOfKind)
    for (const PlanWorker &worker : variant.programs[program].workers)
      count += worker.prologue.size() + worker.body.size() + worker.epilogue.size();
  return count;
}

class Unfolder {
public:
  Unfolder(const Plan &plan, const PlanVariant &variant)
      : plan(plan), variant(variant), symmetry(plan.ranks, variant.digits) {}

  PlanVariant run() {
    PlanVariant all;
    all.root = variant.root;
    all.inPlace = variant.inPlace;
    all.transport = variant.transport;
    for (const PlanChannel &channel : variant.channels)
      for (int64_t shift = 0; shift < symmetry.shifts(); ++shift)
        all.channels.push_back(image(channel, shift));
    for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
      auto kind = static_cast<size_t>(symmetry.kindOf(rank));
      all.scratchChunks.push_back(variant.scratchChunks[kind]);
      all.programOfKind.push_back(rank);
      all.programs.push_back(variant.programs[variant.programOfKind[kind]]);
      for (PlanWorker &worker : all.programs.back().workers)
        moveTo(rank, worker);
    }
    return all;
  }

private:
  uint32_t shiftRank(uint32_t rank, int64_t shift) const {
    return static_cast<uint32_t>(symmetry.shiftRank(rank, shift));
  }

  PlanChannel image(PlanChannel channel, int64_t shift) const {
    channel.sourceRank = shiftRank(channel.sourceRank, shift);
    channel.destinationRank = shiftRank(channel.destinationRank, shift);
    return channel;
  }

  /// The number, among those of all ranks, of the channel's image that begins, or ends,
  /// at the rank.
  uint32_t channelAt(uint32_t channel, uint32_t rank, bool isEnd) const {
    int64_t shift = symmetry.shiftOf(rank);
    if (isEnd)
      shift = symmetry.sum(
          shift, symmetry.inverse(symmetry.shiftOf(variant.channels[channel].destinationRank)));
    return static_cast<uint32_t>(channel * symmetry.shifts() + shift);
  }

  PlanOperand image(PlanOperand operand, uint32_t rank) const {
    int64_t shift = symmetry.shiftOf(rank);
    switch (operand.kind) {
    case OperandKind::Slot:
      operand.index = channelAt(operand.index, rank, /*isEnd=*/true);
      break;
    case OperandKind::Input:
    case OperandKind::Output: {
      SegmentCounts segments = plan.segments();
      int64_t count = operand.kind == OperandKind::Input ? segments.input : segments.output;
      operand.index = static_cast<uint32_t>(
          count > 1 ? symmetry.shiftSegmented(operand.index, plan.chunks, shift)
                    : symmetry.shiftChunk(operand.index, shift));
      break;
    }
    case OperandKind::Scratch:
      break;
    }
    operand.rank = shiftRank(operand.rank, shift);
    return operand;
  }

  void moveTo(uint32_t rank, PlanWorker &worker) const {
    for (std::vector<PlanOp> *ops : {&worker.prologue, &worker.body, &worker.epilogue})
      for (PlanOp &op : *ops)
        moveTo(rank, op, worker.operands);
  }

  void moveTo(uint32_t rank, PlanOp &op, std::vector<PlanOperand> &operands) const {
    bool isMeeting = op.kind == OpKind::Meet;
    for (uint32_t i = 0; i < op.operandCount; ++i) {
      PlanOperand &operand = operands[op.firstOperand + i];
      // Of those to meet there is the rank alone.
      if (isMeeting)
        operand.rank = shiftRank(operand.rank, symmetry.shiftOf(rank));
      else
        operand = image(operand, rank);
    }
    switch (op.kind) {
    case OpKind::Signal:
      op.channel = channelAt(op.channel, rank, /*isEnd=*/false);
      return;
    case OpKind::Wait:
      op.channel = channelAt(op.channel, rank, /*isEnd=*/true);
      return;
    case OpKind::Meet:
    case OpKind::Barrier:
      return;
    case OpKind::Push:
      op.channel = channelAt(op.channel, rank, /*isEnd=*/false);
      break;
    default:
      op.destination = image(op.destination, rank);
      break;
    }
    op.length = static_cast<uint32_t>(symmetry.shiftChunk(op.length, symmetry.shiftOf(rank)));
  }

  const Plan &plan;
  const PlanVariant &variant;
  Symmetry symmetry;
};

} // namespace

Result<Plan> withAllRanks(const Plan &plan) {
  uint64_t operations = 0;
  for (const PlanVariant &variant : plan.variants)
    operations += countOperations(variant) *
                  static_cast<uint64_t>(Symmetry(plan.ranks, variant.digits).shifts());
  if (operations > maxOperationsOfAllRanks)
    return Status::error(StatusCode::Unsupported,
                         "plan {} has {} operations on {} ranks; at most {} can be run", plan.name,
                         operations, plan.ranks, maxOperationsOfAllRanks);
  Plan all = plan;
  for (PlanVariant &variant : all.variants)
    if (!variant.digits.empty())
      variant = Unfolder(plan, PlanVariant(variant)).run();
  return all;
}

} // namespace coil
