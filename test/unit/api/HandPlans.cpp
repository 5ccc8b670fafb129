//===- HandPlans.cpp - Small plans for any number of ranks ----------------===//

#include "test/unit/api/HandPlans.h"

#include "compiler/target/plan/PlanWriter.h"

#include <cstdio>
#include <cstdlib>

namespace coil::test {

namespace {

PlanOperand input(uint32_t rank, uint32_t index) { return {OperandKind::Input, rank, index}; }
PlanOperand output(uint32_t rank, uint32_t index) { return {OperandKind::Output, rank, index}; }
PlanOperand scratch(uint32_t rank, uint32_t index) { return {OperandKind::Scratch, rank, index}; }

/// Builds one variant, a program a rank.
class VariantBuilder {
public:
  VariantBuilder(Plan &plan, bool inPlace, Transport transport, uint32_t root = 0,
                 uint32_t workers = 1)
      : plan(plan) {
    variant.root = root;
    variant.inPlace = inPlace;
    variant.transport = transport;
    variant.programs.resize(plan.ranks);
    variant.scratchChunks.resize(plan.ranks);
    for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
      variant.programOfKind.push_back(rank);
      variant.programs[rank].workers.resize(workers);
    }
  }
  ~VariantBuilder() { plan.variants.push_back(std::move(variant)); }

  /// Operations go to this worker from now on.
  VariantBuilder &on(uint32_t rank, uint32_t worker = 0) {
    currentRank = rank;
    currentWorker = worker;
    section = &here().body;
    return *this;
  }
  VariantBuilder &prologue() {
    section = &here().prologue;
    return *this;
  }
  VariantBuilder &body() {
    section = &here().body;
    return *this;
  }
  VariantBuilder &epilogue() {
    section = &here().epilogue;
    return *this;
  }

  uint32_t staged(uint32_t from, uint32_t to, uint32_t fromWorker = 0, uint32_t toWorker = 0,
                  uint32_t slots = 3) {
    variant.channels.push_back({from, fromWorker, to, toWorker, Transport::Staged, slots});
    return static_cast<uint32_t>(variant.channels.size() - 1);
  }
  uint32_t p2p(uint32_t from, uint32_t to, uint32_t fromWorker = 0, uint32_t toWorker = 0) {
    variant.channels.push_back({from, fromWorker, to, toWorker, Transport::P2P, 0});
    return static_cast<uint32_t>(variant.channels.size() - 1);
  }
  PlanOperand slot(uint32_t channel) { return {OperandKind::Slot, currentRank, channel}; }

  void move(OpKind kind, PlanOperand from, PlanOperand to, uint32_t length = 0) {
    add({kind, false, length, to, 0, 0, 0, 0}, {from});
  }
  void push(PlanOperand from, uint32_t channel, uint32_t length = 0) {
    add({OpKind::Push, false, length, {}, 0, 0, channel, 0}, {from});
  }
  void combine(OpKind kind, std::vector<PlanOperand> from, PlanOperand to, bool complete,
               uint32_t length = 0) {
    add({kind, complete, length, to, 0, 0, 0, 0}, std::move(from));
  }
  void signal(uint32_t channel) { add({OpKind::Signal, false, 0, {}, 0, 0, channel, 0}, {}); }
  void wait(uint32_t channel) { add({OpKind::Wait, false, 0, {}, 0, 0, channel, 0}, {}); }
  void barrier() { add({OpKind::Barrier, false, 0, {}, 0, 0, 0, 0}, {}); }
  void meetOthers() {
    std::vector<PlanOperand> others;
    for (uint32_t rank = 0; rank < plan.ranks; ++rank)
      if (rank != currentRank)
        others.push_back(input(rank, 0));
    if (!others.empty())
      add({OpKind::Meet, false, 0, {}, 0, 0, 0, 0}, std::move(others));
  }
  void setScratch(uint32_t chunks) { variant.scratchChunks.assign(plan.ranks, chunks); }

  /// All ranks tell all others, at the place in their programs where they are.
  struct Mesh {
    std::vector<std::vector<uint32_t>> channels;
  };
  Mesh mesh(Transport transport) {
    Mesh mesh;
    mesh.channels.assign(plan.ranks, std::vector<uint32_t>(plan.ranks));
    for (uint32_t from = 0; from < plan.ranks; ++from)
      for (uint32_t to = 0; to < plan.ranks; ++to)
        if (from != to)
          mesh.channels[from][to] = transport == Transport::P2P ? p2p(from, to) : staged(from, to);
    return mesh;
  }
  void signalOthers(const Mesh &mesh) {
    for (uint32_t other = 0; other < plan.ranks; ++other)
      if (other != currentRank)
        signal(mesh.channels[currentRank][other]);
  }
  void waitForOthers(const Mesh &mesh) {
    for (uint32_t other = 0; other < plan.ranks; ++other)
      if (other != currentRank)
        wait(mesh.channels[other][currentRank]);
  }

private:
  PlanWorker &here() { return variant.programs[currentRank].workers[currentWorker]; }
  void add(PlanOp op, std::vector<PlanOperand> operands) {
    op.firstOperand = operands.empty() ? 0 : static_cast<uint32_t>(here().operands.size());
    op.operandCount = static_cast<uint32_t>(operands.size());
    here().operands.insert(here().operands.end(), operands.begin(), operands.end());
    op.location = static_cast<uint32_t>(plan.locations.size());
    plan.locations.push_back({plan.name + ".coil", op.location + 1, 3});
    section->push_back(op);
  }

  Plan &plan;
  PlanVariant variant;
  uint32_t currentRank = 0, currentWorker = 0;
  std::vector<PlanOp> *section = nullptr;
};

Plan makePlan(const char *name, Collective collective, uint32_t ranks, uint32_t chunks) {
  Plan plan;
  plan.name = name;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.chunks = chunks;
  plan.producer = "by hand";
  return plan;
}

/// Chunk `chunk`, pushed by all ranks to all others.
void addDirect(Plan &plan, bool inPlace) {
  VariantBuilder build(plan, inPlace, Transport::Staged);
  auto mesh = build.mesh(Transport::Staged);
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    build.on(rank);
    for (uint32_t chunk = 0; chunk < plan.chunks; ++chunk) {
      for (uint32_t step = 1; step < plan.ranks; ++step) {
        uint32_t other = (rank + step) % plan.ranks;
        build.push(input(rank, chunk), mesh.channels[rank][other], chunk);
      }
      if (plan.ranks == 1) {
        build.move(OpKind::Copy, input(0, chunk), output(0, chunk), chunk);
        continue;
      }
      std::vector<PlanOperand> operands;
      for (uint32_t from = 0; from < plan.ranks; ++from)
        operands.push_back(from == rank ? input(rank, chunk)
                                        : build.slot(mesh.channels[from][rank]));
      build.combine(OpKind::PopReduce, operands, output(rank, chunk), true, chunk);
    }
  }
}

void addSymmetric(Plan &plan, bool inPlace) {
  VariantBuilder build(plan, inPlace, Transport::P2P);
  auto reduced = build.mesh(Transport::P2P), done = build.mesh(Transport::P2P);
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    build.on(rank).prologue().meetOthers();
    build.body();
    std::vector<PlanOperand> operands;
    for (uint32_t from = 0; from < plan.ranks; ++from)
      operands.push_back(input(from, rank));
    build.combine(plan.ranks == 1 ? OpKind::Reduce : OpKind::GetReduce, operands,
                  output(rank, rank), true, rank);
    build.signalOthers(reduced);
    for (uint32_t step = 1; step < plan.ranks; ++step) {
      uint32_t owner = (rank + step) % plan.ranks;
      build.wait(reduced.channels[owner][rank]);
      build.move(OpKind::Get, output(owner, owner), output(rank, owner), owner);
    }
    build.epilogue().signalOthers(done);
    build.waitForOthers(done);
  }
}

} // namespace

Plan directAllReduce(uint32_t ranks) {
  Plan plan = makePlan("direct", Collective::AllReduce, ranks, 1);
  addDirect(plan, false);
  addDirect(plan, true);
  return plan;
}

Plan symmetricAllReduce(uint32_t ranks) {
  Plan plan = makePlan("symmetric", Collective::AllReduce, ranks, ranks);
  addSymmetric(plan, false);
  addSymmetric(plan, true);
  return plan;
}

Plan mixedAllReduce(uint32_t ranks) {
  Plan plan = symmetricAllReduce(ranks);
  plan.name = "mixed";
  addDirect(plan, false);
  addDirect(plan, true);
  return plan;
}

Plan ringAllReduce(uint32_t ranks) {
  Plan plan = makePlan("ring", Collective::AllReduce, ranks, ranks);
  for (bool inPlace : {false, true}) {
    VariantBuilder build(plan, inPlace, Transport::Staged);
    std::vector<uint32_t> toNext;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      toNext.push_back(ranks == 1 ? 0 : build.staged(rank, (rank + 1) % ranks));
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      build.on(rank);
      if (ranks == 1) {
        build.move(OpKind::Copy, input(0, 0), output(0, 0));
        continue;
      }
      uint32_t fromPrevious = toNext[(rank + ranks - 1) % ranks];
      build.push(input(rank, rank), toNext[rank], rank);
      for (uint32_t step = 1; step < ranks; ++step) {
        uint32_t chunk = (rank + ranks - step) % ranks;
        build.combine(OpKind::PopReduce, {build.slot(fromPrevious), input(rank, chunk)},
                      output(rank, chunk), step == ranks - 1, chunk);
        build.push(output(rank, chunk), toNext[rank], chunk);
      }
      for (uint32_t step = 0; step + 1 < ranks; ++step) {
        uint32_t chunk = (rank + ranks - step) % ranks;
        build.move(OpKind::Pop, build.slot(fromPrevious), output(rank, chunk), chunk);
        if (step + 2 < ranks)
          build.push(output(rank, chunk), toNext[rank], chunk);
      }
    }
  }
  return plan;
}

Plan scratchAllReduce() {
  Plan plan = makePlan("scratch", Collective::AllReduce, 2, 1);
  for (bool inPlace : {false, true}) {
    {
      VariantBuilder build(plan, inPlace, Transport::Staged);
      build.setScratch(2);
      auto mesh = build.mesh(Transport::Staged);
      for (uint32_t rank : {0u, 1u}) {
        build.on(rank);
        build.move(OpKind::Copy, input(rank, 0), scratch(rank, rank));
        build.push(scratch(rank, rank), mesh.channels[rank][1 - rank]);
        build.move(OpKind::Pop, build.slot(mesh.channels[1 - rank][rank]), scratch(rank, 1 - rank));
        build.combine(OpKind::Reduce, {scratch(rank, 0), scratch(rank, 1)}, output(rank, 0), true);
      }
    }
    VariantBuilder build(plan, inPlace, Transport::P2P);
    build.setScratch(3);
    auto full = build.mesh(Transport::P2P), empty = build.mesh(Transport::P2P);
    for (uint32_t rank : {0u, 1u}) {
      build.on(rank).prologue().meetOthers();
      build.body();
      build.move(OpKind::Put, input(rank, 0), scratch(1 - rank, 2));
      build.signalOthers(full);
      build.waitForOthers(full);
      std::vector<PlanOperand> operands{input(rank, 0), scratch(rank, 2)};
      if (rank == 1)
        std::swap(operands[0], operands[1]);
      build.combine(OpKind::Reduce, operands, output(rank, 0), true);
      build.signalOthers(empty);
      build.waitForOthers(empty);
    }
  }
  return plan;
}

Plan workersAllReduce() {
  Plan plan = makePlan("workers", Collective::AllReduce, 2, 2);
  for (bool inPlace : {false, true}) {
    VariantBuilder build(plan, inPlace, Transport::Staged, 0, 2);
    for (uint32_t rank : {0u, 1u}) {
      // Each worker sends its chunk to the other rank's other worker, which
      // combines and hands the sum to its fellow to copy out.
      build.setScratch(2);
      (void)rank;
    }
    uint32_t channels[2][2], handOver[2][2];
    for (uint32_t rank : {0u, 1u})
      for (uint32_t worker : {0u, 1u}) {
        channels[rank][worker] = build.staged(rank, 1 - rank, worker, 1 - worker, 1);
        handOver[rank][worker] = build.p2p(rank, rank, worker, 1 - worker);
      }
    for (uint32_t rank : {0u, 1u})
      for (uint32_t worker : {0u, 1u}) {
        build.on(rank, worker);
        uint32_t own = worker, other = 1 - worker;
        build.push(input(rank, own), channels[rank][worker], own);
        std::vector<PlanOperand> operands{input(rank, other),
                                          build.slot(channels[1 - rank][other])};
        if (rank == 1)
          std::swap(operands[0], operands[1]);
        build.combine(OpKind::PopReduce, operands, scratch(rank, other), true, other);
        build.signal(handOver[rank][worker]);
        build.wait(handOver[rank][other]);
        build.move(OpKind::Copy, scratch(rank, own), output(rank, own), own);
        build.barrier();
      }
  }
  return plan;
}

Plan allGather(uint32_t ranks) {
  Plan plan = makePlan("gather", Collective::AllGather, ranks, 1);
  for (bool inPlace : {false, true}) {
    {
      VariantBuilder build(plan, inPlace, Transport::Staged);
      auto mesh = build.mesh(Transport::Staged);
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        build.on(rank);
        for (uint32_t other = 0; other < ranks; ++other)
          if (other != rank)
            build.push(input(rank, 0), mesh.channels[rank][other]);
        if (!inPlace)
          build.move(OpKind::Copy, input(rank, 0), output(rank, rank));
        for (uint32_t other = 0; other < ranks; ++other)
          if (other != rank)
            build.move(OpKind::Pop, build.slot(mesh.channels[other][rank]), output(rank, other));
      }
    }
    VariantBuilder build(plan, inPlace, Transport::P2P);
    auto done = build.mesh(Transport::P2P);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      build.on(rank).prologue().meetOthers();
      build.body();
      if (!inPlace)
        build.move(OpKind::Copy, input(rank, 0), output(rank, rank));
      for (uint32_t other = 0; other < ranks; ++other)
        if (other != rank)
          build.move(OpKind::Get, input(other, 0), output(rank, other));
      build.epilogue().signalOthers(done);
      build.waitForOthers(done);
    }
  }
  return plan;
}

Plan reduceScatter(uint32_t ranks) {
  Plan plan = makePlan("scatter", Collective::ReduceScatter, ranks, 1);
  for (bool inPlace : {false, true}) {
    {
      VariantBuilder build(plan, inPlace, Transport::Staged);
      auto mesh = build.mesh(Transport::Staged);
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        build.on(rank);
        std::vector<PlanOperand> operands;
        for (uint32_t other = 0; other < ranks; ++other) {
          if (other != rank)
            build.push(input(rank, other), mesh.channels[rank][other]);
          operands.push_back(other == rank ? input(rank, rank)
                                           : build.slot(mesh.channels[other][rank]));
        }
        build.combine(ranks == 1 ? OpKind::Reduce : OpKind::PopReduce, operands, output(rank, 0),
                      true);
      }
    }
    VariantBuilder build(plan, inPlace, Transport::P2P);
    auto done = build.mesh(Transport::P2P);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      build.on(rank).prologue().meetOthers();
      build.body();
      std::vector<PlanOperand> operands;
      for (uint32_t other = 0; other < ranks; ++other)
        operands.push_back(input(other, rank));
      build.combine(ranks == 1 ? OpKind::Reduce : OpKind::GetReduce, operands, output(rank, 0),
                    true);
      build.epilogue().signalOthers(done);
      build.waitForOthers(done);
    }
  }
  return plan;
}

Plan broadcast(uint32_t ranks) {
  Plan plan = makePlan("chain", Collective::Broadcast, ranks, 1);
  for (uint32_t root = 0; root < ranks; ++root) {
    {
      VariantBuilder build(plan, false, Transport::Staged, root);
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        build.on(rank);
        if (rank == root)
          build.move(OpKind::Copy, input(root, 0), output(root, 0));
      }
      for (uint32_t step = 1; step < ranks; ++step) {
        uint32_t from = (root + step - 1) % ranks, to = (root + step) % ranks;
        uint32_t channel = build.staged(from, to);
        build.on(from).push(from == root ? input(root, 0) : output(from, 0), channel);
        build.on(to).move(OpKind::Pop, build.slot(channel), output(to, 0));
      }
    }
    VariantBuilder build(plan, false, Transport::P2P, root);
    auto done = build.mesh(Transport::P2P);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      build.on(rank).prologue().meetOthers();
      build.body();
      if (rank == root)
        build.move(OpKind::Copy, input(root, 0), output(root, 0));
      else
        build.move(OpKind::Get, input(root, 0), output(rank, 0));
      build.epilogue().signalOthers(done);
      build.waitForOthers(done);
    }
  }
  return plan;
}

namespace {

/// One variant a transport in which chunks go straight from inputs to outputs.
/// `sourceOf(rank, index)` is what output chunk `index` of `rank` is; a rank has
/// `outputs(rank)` of them.
template <typename Outputs, typename SourceOf>
void addDirectMoves(Plan &plan, uint32_t root, Outputs outputs, SourceOf sourceOf,
                    uint32_t firstOutput = 0) {
  auto forEachOutput = [&](auto visit) {
    for (uint32_t rank = 0; rank < plan.ranks; ++rank)
      for (uint32_t index = firstOutput; index < firstOutput + outputs(rank); ++index)
        visit(rank, index, sourceOf(rank, index));
  };
  {
    VariantBuilder build(plan, false, Transport::Staged, root);
    auto mesh = build.mesh(Transport::Staged);
    forEachOutput([&](uint32_t rank, uint32_t, PlanOperand from) {
      if (from.rank != rank)
        build.on(from.rank).push(from, mesh.channels[from.rank][rank]);
    });
    forEachOutput([&](uint32_t rank, uint32_t index, PlanOperand from) {
      build.on(rank);
      if (from.rank == rank)
        build.move(OpKind::Copy, from, output(rank, index));
      else
        build.move(OpKind::Pop, build.slot(mesh.channels[from.rank][rank]), output(rank, index));
    });
  }
  VariantBuilder build(plan, false, Transport::P2P, root);
  auto done = build.mesh(Transport::P2P);
  for (uint32_t rank = 0; rank < plan.ranks; ++rank)
    build.on(rank).prologue().meetOthers();
  forEachOutput([&](uint32_t rank, uint32_t index, PlanOperand from) {
    build.on(rank).move(from.rank == rank ? OpKind::Copy : OpKind::Get, from, output(rank, index));
  });
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    build.on(rank).epilogue().signalOthers(done);
    build.waitForOthers(done);
  }
}

} // namespace

Plan reduce(uint32_t ranks) {
  Plan plan = makePlan("reduce", Collective::Reduce, ranks, 1);
  for (uint32_t root = 0; root < ranks; ++root) {
    std::vector<PlanOperand> operands;
    {
      VariantBuilder build(plan, false, Transport::Staged, root);
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        if (rank == root) {
          operands.push_back(input(root, 0));
          continue;
        }
        uint32_t channel = build.staged(rank, root);
        build.on(rank).push(input(rank, 0), channel);
        operands.push_back(build.on(root).slot(channel));
      }
      build.on(root).combine(ranks == 1 ? OpKind::Reduce : OpKind::PopReduce, operands,
                             output(root, 0), true);
    }
    operands.clear();
    VariantBuilder build(plan, false, Transport::P2P, root);
    auto done = build.mesh(Transport::P2P);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      operands.push_back(input(rank, 0));
      build.on(rank).prologue().meetOthers();
      build.epilogue().signalOthers(done);
      build.waitForOthers(done);
    }
    build.on(root).combine(ranks == 1 ? OpKind::Reduce : OpKind::GetReduce, operands,
                           output(root, 0), true);
  }
  return plan;
}

Plan gather(uint32_t ranks) {
  Plan plan = makePlan("gather", Collective::Gather, ranks, 1);
  for (uint32_t root = 0; root < ranks; ++root)
    addDirectMoves(
        plan, root, [=](uint32_t rank) { return rank == root ? ranks : 0; },
        [](uint32_t, uint32_t index) { return input(index, 0); });
  return plan;
}

Plan scatter(uint32_t ranks) {
  Plan plan = makePlan("scatter", Collective::Scatter, ranks, 1);
  for (uint32_t root = 0; root < ranks; ++root)
    addDirectMoves(
        plan, root, [](uint32_t) { return 1u; },
        [=](uint32_t rank, uint32_t) { return input(root, rank); });
  return plan;
}

Plan allToAll(uint32_t ranks) {
  Plan plan = makePlan("alltoall", Collective::AllToAll, ranks, 1);
  addDirectMoves(
      plan, 0, [=](uint32_t) { return ranks; },
      [](uint32_t rank, uint32_t index) { return input(index, rank); });
  return plan;
}

Plan sendRecv(uint32_t ranks) {
  Plan plan = makePlan("shift", Collective::SendRecv, ranks, 1);
  addDirectMoves(
      plan, 0, [](uint32_t) { return 1u; },
      [=](uint32_t rank, uint32_t) { return input((rank + ranks - 1) % ranks, 0); });
  return plan;
}

Plan toNext(const char *name, uint32_t ranks, uint32_t segment) {
  Plan plan = makePlan(name, Collective::Custom, ranks, 1);
  plan.contract.inputSegments = 2;
  plan.contract.outputSegments = 3;
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    plan.contract.promises.push_back({rank, 1, rank - 1, 1});
    plan.contract.sources.push_back({rank - 1, segment});
  }
  addDirectMoves(
      plan, 0, [](uint32_t rank) { return rank == 0 ? 0u : 1u; },
      [=](uint32_t rank, uint32_t) { return input(rank - 1, segment); }, 1);
  return plan;
}

Plan sumToFirst(uint32_t ranks) {
  Plan plan = reduce(ranks);
  plan.name = "push";
  plan.collective = Collective::Custom;
  std::erase_if(plan.variants, [](const PlanVariant &variant) { return variant.root != 0; });
  plan.contract = {1, 1, {{0, 0, 0, ranks}}, {}};
  for (uint32_t rank = 0; rank < ranks; ++rank)
    plan.contract.sources.push_back({rank, 0});
  for (PlanVariant &variant : plan.variants)
    for (PlanProgram &program : variant.programs)
      for (PlanOp &op : program.workers.front().body)
        op.complete = false;
  return plan;
}

Plan only(Transport transport, Plan plan) {
  std::erase_if(plan.variants,
                [&](const PlanVariant &variant) { return variant.transport != transport; });
  return plan;
}

std::vector<uint8_t> planFile(const Plan &plan) {
  Result<std::vector<uint8_t>> file = writePlan(plan);
  if (!file.isOk()) {
    std::fprintf(stderr, "a plan of the tests is invalid: %s\n", file.status().message().c_str());
    std::abort();
  }
  return *std::move(file);
}

} // namespace coil::test
