//===- ExportPlan.cpp - From rank programs to a plan ----------------------===//

#include "compiler/target/plan/ExportPlan.h"

#include "compiler/target/plan/PlanWriter.h"

#include <limits>

#ifndef COIL_VERSION_STRING
#error "the build defines COIL_VERSION_STRING"
#endif

namespace coil {

namespace {

class Exporter {
public:
  Result<Plan> run(const ExecPlan &programs, std::vector<PlanLocation> locations) {
    Plan plan;
    plan.name = programs.name;
    plan.collective = programs.collective;
    plan.ranks = number(programs.ranks);
    plan.chunks = number(programs.chunks);
    plan.producer = "coilc " COIL_VERSION_STRING;
    plan.locations = std::move(locations);
    if (programs.contract)
      plan.contract = *programs.contract;
    plan.protocol = programs.protocol;
    for (const ExecVariant &variant : programs.variants) {
      if (variant.transport == ExecTransport::Matched)
        return Status::error(StatusCode::InvalidPlan,
                             "variant {} has no transport yet; expected p2p or staged",
                             variant.name);
      plan.variants.push_back(exportVariant(variant));
    }
    if (!fits)
      return Status::error(StatusCode::Unsupported,
                           "plan {} has a number that does not fit in 32 bits", plan.name);
    return plan;
  }

private:
  uint32_t number(int64_t value) {
    fits &= value >= 0 && value <= std::numeric_limits<uint32_t>::max();
    return static_cast<uint32_t>(value);
  }

  PlanVariant exportVariant(const ExecVariant &variant) {
    PlanVariant result;
    result.root = number(variant.root);
    result.inPlace = variant.inPlace;
    result.transport = variant.transport == ExecTransport::P2P ? Transport::P2P : Transport::Staged;
    for (const ExecChannel &channel : variant.channels)
      result.channels.push_back({number(channel.sourceRank), number(channel.sourceWorker),
                                 number(channel.destinationRank), number(channel.destinationWorker),
                                 channel.slots > 0 ? Transport::Staged : Transport::P2P,
                                 number(channel.slots)});
    for (int64_t chunks : variant.scratch)
      result.scratchChunks.push_back(number(chunks));
    result.digits = variant.symmetry.shiftedDigits();
    for (size_t kind = 0; kind < variant.programs.size(); ++kind) {
      uint32_t rank = number(variant.symmetry.representative(static_cast<int64_t>(kind)));
      PlanProgram program;
      for (const ExecWorker &worker : variant.programs[kind])
        program.workers.push_back(exportWorker(worker, rank));
      result.programOfKind.push_back(static_cast<uint32_t>(kind));
      result.programs.push_back(std::move(program));
    }
    shareEqualPrograms(result);
    return result;
  }

  PlanWorker exportWorker(const ExecWorker &worker, uint32_t rank) {
    PlanWorker result;
    for (auto [from, to] :
         {std::pair(&worker.prologue, &result.prologue), std::pair(&worker.body, &result.body),
          std::pair(&worker.epilogue, &result.epilogue)})
      for (const ExecOp &op : *from)
        to->push_back(exportOp(op, rank, result.operands));
    return result;
  }

  PlanOperand exportPlace(const ExecPlace &place) {
    return {static_cast<OperandKind>(place.buffer), number(place.rank), number(place.index)};
  }

  PlanOp exportOp(const ExecOp &op, uint32_t rank, std::vector<PlanOperand> &operands) {
    PlanOp result;
    result.kind = kindOf(op.kind);
    result.complete = op.complete;
    result.length = number(op.length);
    result.location = op.location;
    if (!op.operands.empty() || !op.peers.empty())
      result.firstOperand = number(static_cast<int64_t>(operands.size()));
    result.operandCount = number(static_cast<int64_t>(op.operands.size() + op.peers.size()));
    for (const ExecOperand &operand : op.operands)
      operands.push_back(operand.isHead ? PlanOperand{OperandKind::Slot, rank, operand.channel}
                                        : exportPlace(operand.place));
    for (int64_t peer : op.peers)
      operands.push_back({OperandKind::Input, number(peer), 0});
    switch (op.kind) {
    case ExecOpKind::Push:
    case ExecOpKind::Signal:
    case ExecOpKind::Wait:
      result.channel = op.channel;
      break;
    case ExecOpKind::Meet:
    case ExecOpKind::Barrier:
      break;
    default:
      result.destination = exportPlace(op.destination);
    }
    return result;
  }

  static OpKind kindOf(ExecOpKind kind) {
    switch (kind) {
    case ExecOpKind::Copy:
      return OpKind::Copy;
    case ExecOpKind::Reduce:
      return OpKind::Reduce;
    case ExecOpKind::Put:
      return OpKind::Put;
    case ExecOpKind::Get:
      return OpKind::Get;
    case ExecOpKind::GetReduce:
      return OpKind::GetReduce;
    case ExecOpKind::Send: // matched operations were refused before
    case ExecOpKind::Push:
      return OpKind::Push;
    case ExecOpKind::Recv:
    case ExecOpKind::Pop:
      return OpKind::Pop;
    case ExecOpKind::RecvReduce:
    case ExecOpKind::PopReduce:
      return OpKind::PopReduce;
    case ExecOpKind::Signal:
      return OpKind::Signal;
    case ExecOpKind::Wait:
      return OpKind::Wait;
    case ExecOpKind::Meet:
      return OpKind::Meet;
    case ExecOpKind::Barrier:
      return OpKind::Barrier;
    }
    return OpKind::Barrier;
  }

  bool fits = true;
};

} // namespace

Result<Plan> exportPlan(const ExecPlan &programs, std::vector<PlanLocation> locations) {
  return Exporter().run(programs, std::move(locations));
}

} // namespace coil
