//===- ExecBridge.cpp - Between the exec dialect and flat programs --------===//

#include "compiler/semantics/ExecBridge.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/TypeSwitch.h>

using namespace mlir;

namespace coil {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

class VariantReader {
public:
  VariantReader(exec::VariantOp op, LocationTable &locations) : op(op), locations(locations) {}

  ExecVariant run() {
    ExecVariant variant;
    variant.name = op.getSymName().str();
    variant.root = op.getRoot();
    variant.inPlace = op.getInPlace();
    variant.transport = static_cast<ExecTransport>(op.getTransport());
    variant.symmetry = Symmetry(op->getParentOfType<exec::PlanOp>().getRanks(), op.getDigits());
    variant.scratch.assign(op.getScratch().begin(), op.getScratch().end());
    variant.location = locations.add(op.getLoc());
    for (auto channel : op.getBody().getOps<exec::ChannelOp>()) {
      channels[channel.getSymName()] = static_cast<uint32_t>(variant.channels.size());
      variant.channels.push_back({channel.getSymName().str(), channel.getSourceRank(),
                                  channel.getSourceWorker(), channel.getDestinationRank(),
                                  channel.getDestinationWorker(), channel.getSlots(),
                                  locations.add(channel.getLoc())});
    }
    for (auto program : op.getBody().getOps<exec::ProgramOp>()) {
      rank = static_cast<int32_t>(program.getRank());
      std::vector<ExecWorker> &workers = variant.programs.emplace_back();
      for (auto worker : program.getBody().getOps<exec::WorkerOp>())
        workers.push_back(readWorker(worker));
    }
    return variant;
  }

private:
  ExecWorker readWorker(exec::WorkerOp op) {
    ExecWorker worker;
    std::vector<ExecOp> *section = &worker.prologue;
    for (Operation &inner : op.getBody().front()) {
      auto tiles = dyn_cast<exec::TilesOp>(inner);
      if (!tiles) {
        section->push_back(readOp(&inner));
        continue;
      }
      for (Operation &moving : tiles.getBody().front())
        worker.body.push_back(readOp(&moving));
      section = &worker.epilogue;
    }
    return worker;
  }

  ExecPlace readPlace(exec::PlaceAttr place) const {
    return {static_cast<ExecBuffer>(place.getBuffer()),
            place.getRank() < 0 ? rank : static_cast<int32_t>(place.getRank()), place.getIndex()};
  }

  ExecOperand readHead(FlatSymbolRefAttr channel) const {
    return ExecOperand::ofHead(channels.lookup(channel.getValue()));
  }

  ExecOp readOp(Operation *op) {
    ExecOp result;
    result.location = locations.add(op->getLoc());
    auto move = [&](auto op, ExecOpKind kind) {
      result.kind = kind;
      result.operands = {ExecOperand::ofPlace(readPlace(op.getSource()))};
      result.destination = readPlace(op.getDestination());
      result.length = op.getLength();
    };
    auto combine = [&](auto op, ExecOpKind kind) {
      result.kind = kind;
      for (Attribute operand : op.getOperandPlaces())
        if (auto head = dyn_cast<exec::HeadAttr>(operand))
          result.operands.push_back(readHead(head.getChannel()));
        else
          result.operands.push_back(
              ExecOperand::ofPlace(readPlace(cast<exec::PlaceAttr>(operand))));
      result.destination = readPlace(op.getDestination());
      result.length = op.getLength();
      result.complete = op.getComplete();
    };
    auto send = [&](auto op, ExecOpKind kind) {
      result.kind = kind;
      result.operands = {ExecOperand::ofPlace(readPlace(op.getSource()))};
      result.channel = channels.lookup(op.getChannel());
      result.length = op.getLength();
    };
    auto receive = [&](auto op, ExecOpKind kind) {
      result.kind = kind;
      result.operands = {readHead(op.getChannelAttr())};
      result.destination = readPlace(op.getDestination());
      result.length = op.getLength();
    };
    auto order = [&](auto op, ExecOpKind kind) {
      result.kind = kind;
      result.channel = channels.lookup(op.getChannel());
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](exec::CopyOp op) { move(op, ExecOpKind::Copy); })
        .Case([&](exec::PutOp op) { move(op, ExecOpKind::Put); })
        .Case([&](exec::GetOp op) { move(op, ExecOpKind::Get); })
        .Case([&](exec::ReduceOp op) { combine(op, ExecOpKind::Reduce); })
        .Case([&](exec::RecvReduceOp op) { combine(op, ExecOpKind::RecvReduce); })
        .Case([&](exec::GetReduceOp op) { combine(op, ExecOpKind::GetReduce); })
        .Case([&](exec::PopReduceOp op) { combine(op, ExecOpKind::PopReduce); })
        .Case([&](exec::SendOp op) { send(op, ExecOpKind::Send); })
        .Case([&](exec::PushOp op) { send(op, ExecOpKind::Push); })
        .Case([&](exec::RecvOp op) { receive(op, ExecOpKind::Recv); })
        .Case([&](exec::PopOp op) { receive(op, ExecOpKind::Pop); })
        .Case([&](exec::SignalOp op) { order(op, ExecOpKind::Signal); })
        .Case([&](exec::WaitOp op) { order(op, ExecOpKind::Wait); })
        .Case([&](exec::MeetOp op) {
          result.kind = ExecOpKind::Meet;
          result.peers.assign(op.getPeers().begin(), op.getPeers().end());
        })
        .Case([&](exec::BarrierOp) { result.kind = ExecOpKind::Barrier; });
    return result;
  }

  exec::VariantOp op;
  LocationTable &locations;
  llvm::StringMap<uint32_t> channels;
  int32_t rank = 0;
};

} // namespace

ExecVariant readExecVariant(exec::VariantOp variant, LocationTable &locations) {
  return VariantReader(variant, locations).run();
}

std::shared_ptr<const OwnContract> readContract(exec::PlanOp op) {
  auto ops = op.getBody().getOps<exec::ContractOp>();
  if (ops.empty())
    return nullptr;
  exec::ContractOp from = *ops.begin();
  auto contract = std::make_shared<OwnContract>();
  contract->inputSegments = static_cast<uint32_t>(from.getInput());
  contract->outputSegments = static_cast<uint32_t>(from.getOutput());
  for (auto promise : from.getBody().getOps<exec::PromiseOp>()) {
    exec::PlaceAttr place = promise.getPlace();
    contract->promises.push_back({static_cast<uint32_t>(place.getRank()),
                                  static_cast<uint32_t>(place.getIndex()),
                                  static_cast<uint32_t>(contract->sources.size()),
                                  static_cast<uint32_t>(promise.getSources().size())});
    for (auto source : promise.getSources().getAsRange<exec::PlaceAttr>())
      contract->sources.push_back(
          {static_cast<uint32_t>(source.getRank()), static_cast<uint32_t>(source.getIndex())});
  }
  return contract;
}

ExecPlan readExecPlan(exec::PlanOp op, LocationTable &locations) {
  ExecPlan plan;
  plan.name = op.getSymName().str();
  plan.collective = *parseCollective(std::string_view(op.getCollective()));
  plan.ranks = op.getRanks();
  plan.chunks = op.getChunks();
  plan.contract = readContract(op);
  if (op.getTransport())
    plan.transport = static_cast<ExecTransport>(*op.getTransport());
  if (op.getProtocol())
    plan.protocol = static_cast<MessageProtocol>(*op.getProtocol());
  plan.location = locations.add(op.getLoc());
  for (auto variant : op.getBody().getOps<exec::VariantOp>())
    plan.variants.push_back(readExecVariant(variant, locations));
  return plan;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {

class VariantBuilder {
public:
  VariantBuilder(OpBuilder &builder, const ExecVariant &variant, const LocationTable &locations)
      : builder(builder), variant(variant), locations(locations) {}

  exec::VariantOp run() {
    OpBuilder::InsertionGuard guard(builder);
    llvm::SmallVector<int64_t> digits;
    for (const SymmetryDigit &digit : variant.symmetry.shiftedDigits())
      digits.append({digit.weight, digit.radix, digit.chunkWeight});
    auto op = exec::VariantOp::create(
        builder, locations[variant.location], variant.name, variant.root, variant.inPlace,
        static_cast<exec::Transport>(variant.transport), digits, variant.scratch);
    builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
    for (const ExecChannel &channel : variant.channels)
      exec::ChannelOp::create(builder, locations[channel.location], channel.name,
                              channel.sourceRank, channel.sourceWorker, channel.destinationRank,
                              channel.destinationWorker, channel.slots);
    for (size_t i = 0; i < variant.programs.size(); ++i) {
      rank = static_cast<int32_t>(variant.symmetry.representative(static_cast<int64_t>(i)));
      auto program = exec::ProgramOp::create(builder, op.getLoc(), static_cast<int64_t>(rank));
      OpBuilder::InsertionGuard programGuard(builder);
      builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
      for (const ExecWorker &worker : variant.programs[i])
        buildWorker(op.getLoc(), worker);
    }
    return op;
  }

private:
  void buildWorker(Location location, const ExecWorker &worker) {
    auto op = exec::WorkerOp::create(builder, location);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
    for (const ExecOp &inner : worker.prologue)
      buildOp(inner);
    auto tiles = exec::TilesOp::create(builder, location);
    {
      OpBuilder::InsertionGuard tilesGuard(builder);
      builder.setInsertionPointToStart(&tiles.getBody().emplaceBlock());
      for (const ExecOp &inner : worker.body)
        buildOp(inner);
    }
    for (const ExecOp &inner : worker.epilogue)
      buildOp(inner);
  }

  exec::PlaceAttr placeAttr(const ExecPlace &place) {
    return exec::PlaceAttr::get(builder.getContext(), static_cast<exec::Buffer>(place.buffer),
                                place.index, place.rank == rank ? -1 : place.rank);
  }

  llvm::StringRef nameOfChannel(uint32_t channel) const { return variant.channels[channel].name; }

  ArrayAttr operandsAttr(const ExecOp &op) {
    llvm::SmallVector<Attribute> operands;
    for (const ExecOperand &operand : op.operands)
      if (operand.isHead)
        operands.push_back(exec::HeadAttr::get(
            builder.getContext(),
            FlatSymbolRefAttr::get(builder.getContext(), nameOfChannel(operand.channel))));
      else
        operands.push_back(placeAttr(operand.place));
    return builder.getArrayAttr(operands);
  }

  template <typename Op> void buildMove(const ExecOp &op) {
    Op::create(builder, locations[op.location], placeAttr(op.operands[0].place),
               placeAttr(op.destination), op.length);
  }
  template <typename Op> void buildCombining(const ExecOp &op) {
    Op::create(builder, locations[op.location], operandsAttr(op), placeAttr(op.destination),
               op.length, op.complete);
  }
  template <typename Op> void buildSending(const ExecOp &op) {
    Op::create(builder, locations[op.location], placeAttr(op.operands[0].place),
               nameOfChannel(op.channel), op.length);
  }
  template <typename Op> void buildReceiving(const ExecOp &op) {
    Op::create(builder, locations[op.location], nameOfChannel(op.operands[0].channel),
               placeAttr(op.destination), op.length);
  }
  template <typename Op> void buildOrder(const ExecOp &op) {
    Op::create(builder, locations[op.location], nameOfChannel(op.channel));
  }

  void buildOp(const ExecOp &op) {
    switch (op.kind) {
    case ExecOpKind::Copy:
      return buildMove<exec::CopyOp>(op);
    case ExecOpKind::Reduce:
      return buildCombining<exec::ReduceOp>(op);
    case ExecOpKind::Send:
      return buildSending<exec::SendOp>(op);
    case ExecOpKind::Recv:
      return buildReceiving<exec::RecvOp>(op);
    case ExecOpKind::RecvReduce:
      return buildCombining<exec::RecvReduceOp>(op);
    case ExecOpKind::Put:
      return buildMove<exec::PutOp>(op);
    case ExecOpKind::Get:
      return buildMove<exec::GetOp>(op);
    case ExecOpKind::GetReduce:
      return buildCombining<exec::GetReduceOp>(op);
    case ExecOpKind::Push:
      return buildSending<exec::PushOp>(op);
    case ExecOpKind::Pop:
      return buildReceiving<exec::PopOp>(op);
    case ExecOpKind::PopReduce:
      return buildCombining<exec::PopReduceOp>(op);
    case ExecOpKind::Signal:
      return buildOrder<exec::SignalOp>(op);
    case ExecOpKind::Wait:
      return buildOrder<exec::WaitOp>(op);
    case ExecOpKind::Meet:
      exec::MeetOp::create(builder, locations[op.location], op.peers);
      return;
    case ExecOpKind::Barrier:
      exec::BarrierOp::create(builder, locations[op.location]);
      return;
    }
  }

  OpBuilder &builder;
  const ExecVariant &variant;
  const LocationTable &locations;
  int32_t rank = 0;
};

} // namespace

exec::VariantOp buildExecVariant(OpBuilder &builder, const ExecVariant &variant,
                                 const LocationTable &locations) {
  return VariantBuilder(builder, variant, locations).run();
}

static void buildContract(OpBuilder &builder, Location location, const OwnContract &contract) {
  OpBuilder::InsertionGuard guard(builder);
  auto op =
      exec::ContractOp::create(builder, location, contract.inputSegments, contract.outputSegments);
  builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
  for (const OwnContract::Promise &promise : contract.promises) {
    llvm::SmallVector<Attribute> sources;
    for (const OwnContract::Source &source : contract.sourcesOf(promise))
      sources.push_back(exec::PlaceAttr::get(builder.getContext(), exec::Buffer::Input,
                                             source.segment, source.rank));
    exec::PromiseOp::create(builder, location,
                            exec::PlaceAttr::get(builder.getContext(), exec::Buffer::Output,
                                                 promise.segment, promise.rank),
                            builder.getArrayAttr(sources));
  }
}

exec::PlanOp buildExecPlan(OpBuilder &builder, const ExecPlan &plan,
                           const LocationTable &locations) {
  OpBuilder::InsertionGuard guard(builder);
  exec::TransportAttr transport;
  if (plan.transport)
    transport = exec::TransportAttr::get(builder.getContext(),
                                         static_cast<exec::Transport>(*plan.transport));
  exec::ProtocolAttr protocol;
  if (plan.protocol)
    protocol =
        exec::ProtocolAttr::get(builder.getContext(), static_cast<exec::Protocol>(*plan.protocol));
  auto op =
      exec::PlanOp::create(builder, locations[plan.location], plan.name, nameOf(plan.collective),
                           plan.ranks, plan.chunks, transport, protocol);
  builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
  if (plan.contract)
    buildContract(builder, op.getLoc(), *plan.contract);
  for (const ExecVariant &variant : plan.variants)
    buildExecVariant(builder, variant, locations);
  return op;
}

} // namespace coil
