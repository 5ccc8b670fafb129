//===- TestPlans.cpp - Small plans made by hand ---------------------------===//

#include "test/unit/plan/TestPlans.h"

namespace coil {

PlanOperand inputOf(uint32_t rank, uint32_t index) { return {OperandKind::Input, rank, index}; }
PlanOperand outputOf(uint32_t rank, uint32_t index) { return {OperandKind::Output, rank, index}; }
PlanOperand scratchOf(uint32_t rank, uint32_t index) { return {OperandKind::Scratch, rank, index}; }
PlanOperand slotOf(uint32_t rank, uint32_t channel) { return {OperandKind::Slot, rank, channel}; }

PlanOp &addMove(PlanWorker &worker, std::vector<PlanOp> &section, OpKind kind, uint32_t length,
                std::initializer_list<PlanOperand> operands, PlanOperand destination) {
  PlanOp &op = section.emplace_back();
  op.kind = kind;
  op.length = length;
  op.destination = destination;
  op.firstOperand = static_cast<uint32_t>(worker.operands.size());
  op.operandCount = static_cast<uint32_t>(operands.size());
  worker.operands.insert(worker.operands.end(), operands);
  return op;
}

PlanOp &addSync(std::vector<PlanOp> &section, OpKind kind, uint32_t channel) {
  PlanOp &op = section.emplace_back();
  op.kind = kind;
  op.channel = channel;
  return op;
}

PlanOp &addMeet(PlanWorker &worker, std::initializer_list<uint32_t> ranks) {
  PlanOp &op = worker.prologue.emplace_back();
  op.kind = OpKind::Meet;
  op.firstOperand = static_cast<uint32_t>(worker.operands.size());
  op.operandCount = static_cast<uint32_t>(ranks.size());
  for (uint32_t rank : ranks)
    worker.operands.push_back({OperandKind::Input, rank, 0});
  return op;
}

PlanOp &addBarrier(std::vector<PlanOp> &section) {
  PlanOp &op = section.emplace_back();
  op.kind = OpKind::Barrier;
  return op;
}

namespace {

Plan emptyPlan(const char *name, Collective collective, uint32_t ranks, uint32_t chunks) {
  Plan plan;
  plan.name = name;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.chunks = chunks;
  plan.producer = "coil 0.1.0";
  plan.locations = {{"test.coil", 3, 5}, {"test.coil", 4, 7}};
  return plan;
}

/// A variant with one program a rank and no scratch.
PlanVariant emptyVariant(const Plan &plan, bool inPlace, Transport transport, size_t workers) {
  PlanVariant variant;
  variant.inPlace = inPlace;
  variant.transport = transport;
  variant.programs.resize(plan.ranks);
  variant.scratchChunks.resize(plan.ranks);
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    variant.programOfKind.push_back(rank);
    variant.programs[rank].workers.resize(workers);
  }
  return variant;
}

PlanChannel stagedChannel(uint32_t from, uint32_t to, uint32_t slots) {
  return {from, 0, to, 0, Transport::Staged, slots};
}

PlanVariant directVariant(const Plan &plan, bool inPlace) {
  PlanVariant variant = emptyVariant(plan, inPlace, Transport::P2P, 1);
  variant.channels = {{0, 0, 1, 0, Transport::P2P, 0}, {1, 0, 0, 0, Transport::P2P, 0}};
  for (uint32_t rank = 0; rank < 2; ++rank) {
    uint32_t peer = 1 - rank;
    PlanWorker &worker = variant.programs[rank].workers[0];
    addMeet(worker, {peer});
    addMove(worker, worker.body, OpKind::GetReduce, rank, {inputOf(0, rank), inputOf(1, rank)},
            outputOf(rank, rank))
        .complete = true;
    addSync(worker.body, OpKind::Signal, rank);
    addSync(worker.body, OpKind::Wait, peer);
    addMove(worker, worker.body, OpKind::Get, peer, {outputOf(peer, peer)}, outputOf(rank, peer))
        .location = 1;
    addSync(worker.epilogue, OpKind::Signal, rank);
    addSync(worker.epilogue, OpKind::Wait, peer);
  }
  return variant;
}

PlanVariant chainVariant(const Plan &plan, uint32_t root) {
  PlanVariant variant = emptyVariant(plan, false, Transport::Staged, 1);
  variant.root = root;
  for (uint32_t hop = 0; hop < 2; ++hop)
    variant.channels.push_back(stagedChannel((root + hop) % 3, (root + hop + 1) % 3, 4));
  for (uint32_t hop = 0; hop < 3; ++hop) {
    uint32_t rank = (root + hop) % 3;
    PlanWorker &worker = variant.programs[rank].workers[0];
    if (hop == 0)
      addMove(worker, worker.body, OpKind::Copy, 0, {inputOf(rank, 0)}, outputOf(rank, 0));
    else
      addMove(worker, worker.body, OpKind::Pop, 0, {slotOf(rank, hop - 1)}, outputOf(rank, 0));
    if (hop < 2)
      addMove(worker, worker.body, OpKind::Push, 0, {outputOf(rank, 0)}).channel = hop;
  }
  return variant;
}

} // namespace

Plan directAllReduce() {
  Plan plan = emptyPlan("direct", Collective::AllReduce, 2, 2);
  plan.variants = {directVariant(plan, false), directVariant(plan, true)};
  return plan;
}

Plan stagedAllReduce() {
  Plan plan = emptyPlan("exchange", Collective::AllReduce, 2, 1);
  PlanVariant variant = emptyVariant(plan, false, Transport::Staged, 1);
  variant.channels = {stagedChannel(0, 1, 2), stagedChannel(1, 0, 2)};
  for (uint32_t rank = 0; rank < 2; ++rank) {
    PlanWorker &worker = variant.programs[rank].workers[0];
    PlanOperand own = inputOf(rank, 0), other = slotOf(rank, 1 - rank);
    addMove(worker, worker.body, OpKind::Push, 0, {own}).channel = rank;
    addMove(worker, worker.body, OpKind::PopReduce, 0,
            {rank == 0 ? own : other, rank == 0 ? other : own}, outputOf(rank, 0))
        .complete = true;
  }
  plan.variants = {variant};
  return plan;
}

Plan chainBroadcast() {
  Plan plan = emptyPlan("chain", Collective::Broadcast, 3, 1);
  plan.variants = {chainVariant(plan, 0), chainVariant(plan, 1)};
  return plan;
}

Plan everyOperation() {
  Plan plan = emptyPlan("every", Collective::AllReduce, 2, 2);

  PlanVariant direct = emptyVariant(plan, false, Transport::P2P, 2);
  direct.scratchChunks = {3, 2};
  direct.channels = {{0, 0, 1, 0, Transport::P2P, 0},
                     {1, 0, 0, 0, Transport::P2P, 0},
                     {0, 0, 0, 1, Transport::P2P, 0},
                     {1, 0, 1, 1, Transport::P2P, 0}};
  for (uint32_t rank = 0; rank < 2; ++rank) {
    uint32_t peer = 1 - rank;
    PlanWorker &first = direct.programs[rank].workers[0];
    PlanWorker &second = direct.programs[rank].workers[1];
    addMeet(first, {peer});
    addBarrier(first.prologue);
    addBarrier(second.prologue);
    addMove(first, first.body, OpKind::Put, 0, {inputOf(rank, 0)}, scratchOf(peer, 0));
    addSync(first.body, OpKind::Signal, rank);
    addSync(first.body, OpKind::Wait, peer);
    addMove(first, first.body, OpKind::Reduce, 0, {inputOf(rank, 0), scratchOf(rank, 0)},
            outputOf(rank, 0))
        .complete = true;
    addSync(first.body, OpKind::Signal, 2 + rank);
    addSync(second.body, OpKind::Wait, 2 + rank);
    addMove(second, second.body, OpKind::Get, 1, {inputOf(peer, 1)}, scratchOf(rank, 1));
    addMove(second, second.body, OpKind::Copy, 1, {scratchOf(rank, 1)}, outputOf(rank, 1));
    addMove(second, second.body, OpKind::GetReduce, 1, {inputOf(0, 1), inputOf(1, 1)},
            outputOf(rank, 1))
        .complete = true;
    addSync(first.epilogue, OpKind::Signal, rank);
    addSync(first.epilogue, OpKind::Wait, peer);
  }

  PlanVariant staged = emptyVariant(plan, false, Transport::Staged, 1);
  staged.channels = {stagedChannel(0, 1, 2), stagedChannel(1, 0, 2)};
  for (uint32_t rank = 0; rank < 2; ++rank) {
    PlanWorker &worker = staged.programs[rank].workers[0];
    addMove(worker, worker.body, OpKind::Push, 0, {inputOf(rank, 0)}).channel = rank;
    addMove(worker, worker.body, OpKind::PopReduce, 0, {inputOf(rank, 0), slotOf(rank, 1 - rank)},
            outputOf(rank, 0));
    addMove(worker, worker.body, OpKind::Push, 1, {inputOf(rank, 1)}).channel = rank;
    addMove(worker, worker.body, OpKind::Pop, 1, {slotOf(rank, 1 - rank)}, outputOf(rank, 1));
  }
  plan.variants = {direct, staged};
  return plan;
}

Plan ownContract() {
  Plan plan = emptyPlan("own", Collective::Custom, 2, 2);
  plan.contract = {2, 3, {{0, 2, 0, 1}, {1, 0, 1, 2}}, {{1, 1}, {0, 0}, {1, 0}}};
  PlanVariant variant = emptyVariant(plan, false, Transport::Staged, 1);
  variant.channels = {stagedChannel(0, 1, 2), stagedChannel(1, 0, 2)};
  PlanWorker &first = variant.programs[0].workers[0], &second = variant.programs[1].workers[0];
  for (uint32_t chunk = 0; chunk < 2; ++chunk) {
    addMove(first, first.body, OpKind::Push, chunk, {inputOf(0, chunk)}).channel = 0;
    addMove(second, second.body, OpKind::Push, chunk, {inputOf(1, 2 + chunk)}).channel = 1;
  }
  for (uint32_t chunk = 0; chunk < 2; ++chunk) {
    addMove(first, first.body, OpKind::Pop, chunk, {slotOf(0, 1)}, outputOf(0, 4 + chunk));
    addMove(second, second.body, OpKind::PopReduce, chunk, {slotOf(1, 0), inputOf(1, chunk)},
            outputOf(1, chunk));
  }
  plan.variants = {variant};
  return plan;
}

Plan symmetricRing() {
  Plan plan = emptyPlan("ring", Collective::AllReduce, 3, 3);
  PlanVariant variant;
  variant.digits = {{1, 3, 1}};
  variant.programOfKind = {0};
  variant.scratchChunks = {0};
  variant.programs.resize(1);
  variant.programs[0].workers.resize(1);

  PlanVariant &staged = plan.variants.emplace_back(variant);
  staged.transport = Transport::Staged;
  staged.channels = {stagedChannel(0, 1, 2)};
  PlanWorker &fifo = staged.programs[0].workers[0];
  addMove(fifo, fifo.body, OpKind::Push, 0, {inputOf(0, 0)}).channel = 0;
  for (uint32_t chunk : {2, 1}) {
    addMove(fifo, fifo.body, OpKind::PopReduce, chunk, {inputOf(0, chunk), slotOf(0, 0)},
            outputOf(0, chunk))
        .complete = chunk == 1;
    addMove(fifo, fifo.body, OpKind::Push, chunk, {outputOf(0, chunk)});
  }
  addMove(fifo, fifo.body, OpKind::Pop, 0, {slotOf(0, 0)}, outputOf(0, 0));
  addMove(fifo, fifo.body, OpKind::Push, 0, {outputOf(0, 0)});
  addMove(fifo, fifo.body, OpKind::Pop, 2, {slotOf(0, 0)}, outputOf(0, 2));

  PlanVariant &direct = plan.variants.emplace_back(variant);
  direct.channels = {{0, 0, 1, 0, Transport::P2P, 0}, {0, 0, 2, 0, Transport::P2P, 0}};
  PlanWorker &reader = direct.programs[0].workers[0];
  addMeet(reader, {2});
  addMove(reader, reader.body, OpKind::GetReduce, 2, {inputOf(0, 2), inputOf(2, 2)},
          outputOf(0, 2));
  addSync(reader.body, OpKind::Signal, 0);
  addSync(reader.body, OpKind::Wait, 0);
  addMove(reader, reader.body, OpKind::GetReduce, 1, {inputOf(0, 1), outputOf(2, 1)},
          outputOf(0, 1))
      .complete = true;
  for (uint32_t chunk : {0, 2}) {
    addSync(reader.body, OpKind::Signal, 0);
    addSync(reader.body, OpKind::Wait, 0);
    addMove(reader, reader.body, OpKind::Get, chunk, {outputOf(2, chunk)}, outputOf(0, chunk));
  }
  addSync(reader.epilogue, OpKind::Signal, 1);
  addSync(reader.epilogue, OpKind::Wait, 1);
  return plan;
}

std::vector<std::pair<const char *, Plan>> allTestPlans() {
  return {{"direct", directAllReduce()}, {"staged", stagedAllReduce()}, {"chain", chainBroadcast()},
          {"every", everyOperation()},   {"own", ownContract()},        {"ring", symmetricRing()}};
}

} // namespace coil
