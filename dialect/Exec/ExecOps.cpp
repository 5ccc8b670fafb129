//===- ExecOps.cpp - Verifiers and syntax of the exec dialect -------------===//

#include "dialect/Exec/Exec.h"

#include "dialect/CollectiveSyntax.h"
#include "runtime/base/OwnContract.h"
#include "runtime/base/Symmetry.h"

#include <llvm/ADT/SmallSet.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/TypeSwitch.h>
#include <mlir/IR/Builders.h>

using namespace mlir;

namespace coil::exec {

//===----------------------------------------------------------------------===//
// Syntax of places and operands
//===----------------------------------------------------------------------===//

/// `input[3]`, or `input[3] on 1` for a chunk of a peer; the keyword was read.
static ParseResult parsePlaceAfter(OpAsmParser &parser, llvm::SMLoc loc, llvm::StringRef keyword,
                                   PlaceAttr &place) {
  std::optional<Buffer> buffer = symbolizeBuffer(keyword);
  if (!buffer)
    return parser.emitError(loc) << "expected input, output or scratch, found '" << keyword << "'";
  int64_t index, rank = -1;
  if (parser.parseLSquare() || parser.parseInteger(index) || parser.parseRSquare())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("on")) && parser.parseInteger(rank))
    return failure();
  place = PlaceAttr::get(parser.getContext(), *buffer, index, rank);
  return success();
}

static ParseResult parsePlace(OpAsmParser &parser, PlaceAttr &place) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  return parsePlaceAfter(parser, loc, keyword, place);
}

static void printPlace(OpAsmPrinter &printer, Operation *, PlaceAttr place) {
  printer << stringifyBuffer(place.getBuffer()) << "[" << place.getIndex() << "]";
  if (place.getRank() >= 0)
    printer << " on " << place.getRank();
}

/// Places and `head @channel`, separated by commas.
static ParseResult parseOperands(OpAsmParser &parser, ArrayAttr &operands) {
  llvm::SmallVector<Attribute> parsed;
  auto parseOne = [&]() -> ParseResult {
    llvm::SMLoc loc = parser.getCurrentLocation();
    llvm::StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    if (keyword == "head") {
      StringAttr name;
      if (parser.parseSymbolName(name))
        return failure();
      parsed.push_back(HeadAttr::get(parser.getContext(), FlatSymbolRefAttr::get(name)));
      return success();
    }
    PlaceAttr place;
    if (parsePlaceAfter(parser, loc, keyword, place))
      return failure();
    parsed.push_back(place);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  operands = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printOperands(OpAsmPrinter &printer, Operation *op, ArrayAttr operands) {
  llvm::interleaveComma(operands, printer.getStream(), [&](Attribute operand) {
    if (auto head = dyn_cast<HeadAttr>(operand)) {
      printer << "head ";
      printer.printSymbolName(head.getChannel().getValue());
    } else {
      printPlace(printer, op, cast<PlaceAttr>(operand));
    }
  });
}

/// `symmetry [weight 1 radix 8 chunks 1, ...]`, or nothing.
static ParseResult parseSymmetry(OpAsmParser &parser, DenseI64ArrayAttr &symmetry) {
  llvm::SmallVector<int64_t> numbers;
  auto parseDigit = [&]() -> ParseResult {
    for (const char *keyword : {"weight", "radix", "chunks"})
      if (parser.parseKeyword(keyword) || parser.parseInteger(numbers.emplace_back()))
        return failure();
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("symmetry")) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseDigit))
    return failure();
  symmetry = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printSymmetry(OpAsmPrinter &printer, VariantOp op, DenseI64ArrayAttr) {
  std::vector<SymmetryDigit> digits = op.getDigits();
  if (digits.empty())
    return;
  printer << "symmetry [";
  llvm::interleaveComma(digits, printer.getStream(), [&](const SymmetryDigit &digit) {
    printer << "weight " << digit.weight << " radix " << digit.radix << " chunks "
            << digit.chunkWeight;
  });
  printer << "]";
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

std::vector<SymmetryDigit> VariantOp::getDigits() {
  std::vector<SymmetryDigit> digits;
  llvm::ArrayRef<int64_t> numbers = getSymmetry();
  for (; numbers.size() >= 3; numbers = numbers.drop_front(3))
    digits.push_back({numbers[0], numbers[1], numbers[2]});
  return digits;
}

LogicalResult PlanOp::verify() {
  if (failed(verifyCollective(*this, getCollective())))
    return failure();
  if (getRanks() < 1 || getRanks() > INT32_MAX)
    return emitOpError() << "expected at least 1 rank, found " << getRanks();
  if (getChunks() < 1 || getChunks() > INT32_MAX)
    return emitOpError() << "expected at least 1 chunk, found " << getChunks();
  if (getTransport() == Transport::Matched)
    return emitOpError() << "expected the transport p2p or staged, found 'matched'";
  if (getTransport() == Transport::P2P && getProtocol())
    return emitOpError() << "expected no protocol over p2p, which sends no messages, found "
                         << stringifyProtocol(*getProtocol());
  Block &body = getBody().front();
  bool isCustom = *coil::parseCollective(std::string_view(getCollective())) == Collective::Custom;
  if (isCustom && (body.empty() || !isa<ContractOp>(body.front())))
    return emitOpError() << "expected an exec.contract first, as it implements custom";
  for (Operation &op : body) {
    bool isContract = isCustom && &op == &body.front();
    if (!isContract && !isa<VariantOp>(op))
      return op.emitOpError() << "expected only exec.variant in an exec.plan"
                              << (isa<ContractOp>(op) ? " here" : "");
  }
  return success();
}

LogicalResult ContractOp::verifyRegions() {
  for (int64_t segments : {getInput(), getOutput()})
    if (segments < 1 || segments > maxContractSegments)
      return emitOpError() << "expected 1 to " << maxContractSegments << " segments, found "
                           << segments;
  int64_t ranks = cast<PlanOp>((*this)->getParentOp()).getRanks();
  using Position = std::pair<int64_t, int64_t>;
  // The next place must come after `last`, or be the first.
  auto check = [&](Operation *op, Attribute attribute, Buffer buffer, int64_t segments,
                   std::optional<Position> &last) -> LogicalResult {
    auto place = dyn_cast<PlaceAttr>(attribute);
    if (!place || place.getBuffer() != buffer || place.getRank() < 0 || place.getRank() >= ranks ||
        place.getIndex() < 0 || place.getIndex() >= segments)
      return op->emitOpError() << "expected one of " << segments << " segments of "
                               << stringifyBuffer(buffer) << " on one of " << ranks << " ranks";
    Position position(place.getRank(), place.getIndex());
    if (last && *last >= position)
      return op->emitOpError() << "expected places of " << stringifyBuffer(buffer)
                               << " ascending by rank and segment";
    last = position;
    return success();
  };
  std::optional<Position> lastPlace;
  size_t sources = 0;
  for (Operation &op : getBody().front()) {
    auto promise = dyn_cast<PromiseOp>(op);
    if (!promise)
      return op.emitOpError() << "expected only exec.promise in an exec.contract";
    if (failed(check(&op, promise.getPlace(), Buffer::Output, getOutput(), lastPlace)))
      return failure();
    std::optional<Position> lastSource;
    for (Attribute source : promise.getSources())
      if (failed(check(&op, source, Buffer::Input, getInput(), lastSource)))
        return failure();
    sources += promise.getSources().size();
    if (promise.getSources().empty() || sources > maxContractSources)
      return op.emitOpError() << "expected at least one source, and at most " << maxContractSources
                              << " in a contract";
  }
  return success();
}

LogicalResult ChannelOp::verify() {
  auto plan = (*this)->getParentOfType<PlanOp>();
  for (int64_t rank : {getSourceRank(), getDestinationRank()})
    if (rank < 0 || rank >= plan.getRanks())
      return emitOpError() << "ends at rank " << rank << "; expected a rank below "
                           << plan.getRanks();
  if (getSourceWorker() < 0 || getDestinationWorker() < 0)
    return emitOpError() << "expected workers counted from 0";
  if (getSlots() < 0)
    return emitOpError() << "expected no negative number of slots, found " << getSlots();
  return success();
}

LogicalResult ProgramOp::verify() {
  if (getBody().front().empty())
    return emitOpError() << "expected at least one exec.worker";
  for (Operation &op : getBody().front())
    if (!isa<WorkerOp>(op))
      return op.emitOpError() << "expected only exec.worker in an exec.program";
  return success();
}

LogicalResult WorkerOp::verify() {
  TilesOp tiles;
  for (Operation &op : getBody().front()) {
    if (auto found = dyn_cast<TilesOp>(op)) {
      if (tiles) {
        InFlightDiagnostic diagnostic = found.emitOpError() << "stands a second time";
        diagnostic.attachNote(tiles.getLoc()) << "the first one is here";
        return diagnostic;
      }
      tiles = found;
    } else if (!isa<SignalOp, WaitOp, MeetOp, BarrierOp>(op)) {
      return op.emitOpError() << "moves data; expected to stand in exec.tiles";
    }
  }
  if (!tiles)
    return emitOpError() << "expected an exec.tiles";
  return success();
}

namespace {

/// What an operation of a worker reads and writes, whatever its class.
struct Access {
  llvm::SmallVector<PlaceAttr> sources;
  PlaceAttr destination;
  llvm::SmallVector<FlatSymbolRefAttr> sendsTo, receivesFrom;
  std::optional<int64_t> length;
  /// What the operation may have as sources and destination.
  bool peerSource = false, peerDestination = false, headSource = false;
};

Access accessOf(Operation *op) {
  Access access;
  auto combining = [&](auto op, bool peers, bool heads) {
    for (Attribute operand : op.getOperandPlaces()) {
      if (auto place = dyn_cast<PlaceAttr>(operand))
        access.sources.push_back(place);
      else if (auto head = dyn_cast<HeadAttr>(operand))
        access.receivesFrom.push_back(head.getChannel());
    }
    access.destination = op.getDestination();
    access.length = op.getLength();
    access.peerSource = peers;
    access.headSource = heads;
  };
  auto moving = [&](auto op, bool peerSource, bool peerDestination) {
    access.sources.push_back(op.getSource());
    access.destination = op.getDestination();
    access.length = op.getLength();
    access.peerSource = peerSource;
    access.peerDestination = peerDestination;
  };
  auto sending = [&](auto op) {
    access.sources.push_back(op.getSource());
    access.sendsTo.push_back(op.getChannelAttr());
    access.length = op.getLength();
  };
  auto receiving = [&](auto op) {
    access.destination = op.getDestination();
    access.receivesFrom.push_back(op.getChannelAttr());
    access.length = op.getLength();
    access.headSource = true;
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](CopyOp op) { moving(op, false, false); })
      .Case([&](PutOp op) { moving(op, false, true); })
      .Case([&](GetOp op) { moving(op, true, false); })
      .Case([&](ReduceOp op) { combining(op, false, false); })
      .Case([&](RecvReduceOp op) { combining(op, false, true); })
      .Case([&](PopReduceOp op) { combining(op, false, true); })
      .Case([&](GetReduceOp op) { combining(op, true, false); })
      .Case<SendOp, PushOp>([&](auto op) { sending(op); })
      .Case<RecvOp, PopOp>([&](auto op) { receiving(op); })
      .Case([&](SignalOp op) { access.sendsTo.push_back(op.getChannelAttr()); })
      .Case([&](WaitOp op) { access.receivesFrom.push_back(op.getChannelAttr()); })
      .Default([](Operation *) {});
  return access;
}

/// The level that an operation belongs to, or none if it belongs to all.
std::optional<Transport> levelOf(Operation *op) {
  if (isa<SendOp, RecvOp, RecvReduceOp>(op))
    return Transport::Matched;
  if (isa<PutOp, GetOp, GetReduceOp, MeetOp>(op))
    return Transport::P2P;
  if (isa<PushOp, PopOp, PopReduceOp>(op))
    return Transport::Staged;
  return std::nullopt;
}

/// Chunks of a call's buffer on each rank.
int64_t chunksOf(PlanOp plan, Buffer buffer) {
  SegmentCounts counts = segmentCounts(
      *coil::parseCollective(std::string_view(plan.getCollective())), plan.getRanks());
  // The variant stands in it, so it is not empty.
  if (auto contract = dyn_cast<ContractOp>(plan.getBody().front().front()))
    counts = {contract.getInput(), contract.getOutput()};
  return (buffer == Buffer::Input ? counts.input : counts.output) * plan.getChunks();
}

LogicalResult verifyPlace(Operation *op, const Symmetry &symmetry, PlaceAttr place, int64_t ownRank,
                          std::optional<int64_t> length) {
  auto variant = op->getParentOfType<VariantOp>();
  auto plan = op->getParentOfType<PlanOp>();
  int64_t rank = place.getRank() < 0 ? ownRank : place.getRank();
  if (rank >= plan.getRanks())
    return op->emitOpError() << "names rank " << rank << "; expected a rank below "
                             << plan.getRanks();
  if (place.getRank() == ownRank)
    return op->emitOpError() << "names its own rank " << ownRank
                             << " as a peer; expected the place without 'on'";
  bool scratch = place.getBuffer() == Buffer::Scratch;
  int64_t chunks =
      scratch ? variant.getScratch()[symmetry.kindOf(rank)] : chunksOf(plan, place.getBuffer());
  if (place.getIndex() < 0 || place.getIndex() >= chunks)
    return op->emitOpError() << "names chunk " << place.getIndex() << " of "
                             << stringifyBuffer(place.getBuffer()) << " on rank " << rank
                             << ", which has " << chunks;
  if (!scratch && length && place.getIndex() % plan.getChunks() != *length)
    return op->emitOpError() << "has length " << *length << ", but "
                             << stringifyBuffer(place.getBuffer()) << "[" << place.getIndex()
                             << "] is chunk " << place.getIndex() % plan.getChunks()
                             << " of its segment";
  return success();
}

/// Checks the operations of one worker against the variant's channels.
struct WorkerVerifier {
  VariantOp variant;
  const Symmetry &symmetry;
  const llvm::StringMap<ChannelOp> &channels;
  int64_t rank, worker;

  LogicalResult verifyEnd(Operation *op, FlatSymbolRefAttr name, bool source) {
    auto it = channels.find(name.getValue());
    if (it == channels.end())
      return op->emitOpError() << "names channel " << name << ", which is not declared";
    ChannelOp channel = it->second;
    int64_t endRank = source ? channel.getSourceRank() : channel.getDestinationRank();
    int64_t endWorker = source ? channel.getSourceWorker() : channel.getDestinationWorker();
    if (symmetry.kindOf(endRank) != symmetry.kindOf(rank) || endWorker != worker) {
      InFlightDiagnostic diagnostic = op->emitOpError()
                                      << "stands on rank " << rank << " worker " << worker
                                      << ", but " << name << (source ? " begins" : " ends")
                                      << " at rank " << endRank << " worker " << endWorker;
      diagnostic.attachNote(channel.getLoc()) << "the channel is declared here";
      return diagnostic;
    }
    bool data = !isa<SignalOp, WaitOp>(op);
    if (variant.getTransport() == Transport::Staged && data != (channel.getSlots() > 0)) {
      InFlightDiagnostic diagnostic = op->emitOpError() << "expected a channel with"
                                                        << (data ? " slots" : "out slots");
      diagnostic.attachNote(channel.getLoc()) << "the channel is declared here";
      return diagnostic;
    }
    return success();
  }

  LogicalResult verify(Operation *op) {
    std::optional<Transport> level = levelOf(op);
    if (level && *level != variant.getTransport())
      return op->emitOpError() << "is not offered by transport "
                               << stringifyTransport(variant.getTransport());
    Access access = accessOf(op);
    auto plan = cast<PlanOp>(variant->getParentOp());
    if (access.length && (*access.length < 0 || *access.length >= plan.getChunks()))
      return op->emitOpError() << "has length " << *access.length << "; expected a chunk below "
                               << plan.getChunks();
    for (PlaceAttr source : access.sources) {
      if (failed(verifyPlace(op, symmetry, source, rank, access.length)))
        return failure();
      if (source.getRank() >= 0 && !access.peerSource)
        return op->emitOpError() << "reads a chunk on a peer; expected chunks of its own rank";
    }
    if (PlaceAttr destination = access.destination) {
      if (failed(verifyPlace(op, symmetry, destination, rank, access.length)))
        return failure();
      if (destination.getBuffer() == Buffer::Input)
        return op->emitOpError() << "writes input, which is the caller's";
      if ((destination.getRank() >= 0) != access.peerDestination)
        return op->emitOpError() << "expected a destination on "
                                 << (access.peerDestination ? "a peer" : "its own rank");
    }
    if (!access.receivesFrom.empty() && !isa<WaitOp>(op) && !access.headSource)
      return op->emitOpError() << "takes no head of a channel";
    llvm::SmallSet<llvm::StringRef, 8> heads;
    for (FlatSymbolRefAttr channel : access.receivesFrom)
      if (!heads.insert(channel.getValue()).second)
        return op->emitOpError() << "takes two messages of channel " << channel;
    for (FlatSymbolRefAttr channel : access.sendsTo)
      if (failed(verifyEnd(op, channel, /*source=*/true)))
        return failure();
    for (FlatSymbolRefAttr channel : access.receivesFrom)
      if (failed(verifyEnd(op, channel, /*source=*/false)))
        return failure();
    return success();
  }
};

} // namespace

LogicalResult VariantOp::verifyRegions() {
  auto plan = cast<PlanOp>((*this)->getParentOp());
  bool rooted = hasRoot(*coil::parseCollective(std::string_view(plan.getCollective())));
  if (getRoot() < 0 || getRoot() >= (rooted ? plan.getRanks() : 1))
    return emitOpError() << "has root " << getRoot() << "; expected "
                         << (rooted ? "a rank of the plan" : "0, as the collective has no root");
  std::vector<SymmetryDigit> digits = getDigits();
  if (getSymmetry().size() % 3)
    return emitOpError() << "expected three numbers for each digit of the symmetry";
  if (std::string fault = findFault(digits, plan.getRanks(), plan.getChunks()); !fault.empty())
    return emitOpError() << "has a wrong symmetry: " << fault;
  if (!digits.empty() &&
      !treatsRanksAlike(*coil::parseCollective(std::string_view(plan.getCollective()))))
    return emitOpError() << "has a symmetry, but " << plan.getCollective()
                         << " does not treat all ranks alike";
  Symmetry symmetry(plan.getRanks(), digits);
  int64_t kinds = symmetry.kinds(plan.getRanks());
  // How messages name them.
  std::string members = digits.empty() ? " ranks" : " kinds of ranks";
  if (static_cast<int64_t>(getScratch().size()) != kinds)
    return emitOpError() << "expected scratch for each of " << kinds << members << ", found "
                         << getScratch().size() << " entries";
  if (llvm::any_of(getScratch(), [](int64_t chunks) { return chunks < 0; }))
    return emitOpError() << "expected no negative number of scratch chunks";

  llvm::StringMap<ChannelOp> channels;
  llvm::SmallVector<ProgramOp> programs;
  for (Operation &op : getBody().front()) {
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      if (!programs.empty())
        return channel.emitOpError() << "expected to stand before the programs";
      channels[channel.getSymName()] = channel;
    } else if (auto program = dyn_cast<ProgramOp>(op)) {
      auto kind = static_cast<int64_t>(programs.size());
      int64_t expected = kind < kinds ? symmetry.representative(kind) : kind;
      if (program.getRank() != expected)
        return program.emitOpError()
               << "expected rank " << expected << ", found rank " << program.getRank();
      programs.push_back(program);
    } else {
      return op.emitOpError() << "expected only exec.channel and exec.program in an exec.variant";
    }
  }
  if (static_cast<int64_t>(programs.size()) != kinds)
    return emitOpError() << "expected a program for each of " << kinds << members << ", found "
                         << programs.size();

  auto workersOf = [&](int64_t rank) {
    return static_cast<int64_t>(
        llvm::range_size(programs[symmetry.kindOf(rank)].getBody().front()));
  };
  for (auto &entry : channels) {
    ChannelOp channel = entry.second;
    if (symmetry.shiftOf(channel.getSourceRank()) != 0)
      return channel.emitOpError() << "begins at rank " << channel.getSourceRank()
                                   << "; expected the representative of its kind";
    if (channel.getSourceWorker() >= workersOf(channel.getSourceRank()) ||
        channel.getDestinationWorker() >= workersOf(channel.getDestinationRank()))
      return channel.emitOpError() << "ends at a worker that its rank does not have";
  }
  for (ProgramOp program : programs)
    for (auto [index, worker] : llvm::enumerate(program.getBody().getOps<WorkerOp>())) {
      WorkerVerifier verifier{*this, symmetry, channels, static_cast<int64_t>(program.getRank()),
                              static_cast<int64_t>(index)};
      for (Operation &op : worker.getBody().front()) {
        if (failed(verifier.verify(&op)))
          return failure();
        if (auto tiles = dyn_cast<TilesOp>(op))
          for (Operation &inner : tiles.getBody().front())
            if (failed(verifier.verify(&inner)))
              return failure();
      }
    }
  return success();
}

LogicalResult MeetOp::verify() {
  auto plan = (*this)->getParentOfType<PlanOp>();
  auto program = (*this)->getParentOfType<ProgramOp>();
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t peer : getPeers()) {
    if (peer < 0 || peer >= plan.getRanks() || peer == static_cast<int64_t>(program.getRank()))
      return emitOpError() << "names rank " << peer << "; expected another rank of the plan";
    if (!seen.insert(peer).second)
      return emitOpError() << "names rank " << peer << " twice";
  }
  return success();
}

/// Operands of reductions must be places or heads; all else about data needs the
/// variant and is checked there.
template <typename Op> static LogicalResult verifyOperands(Op op) {
  if (op.getOperandPlaces().empty())
    return op.emitOpError() << "expected at least one operand";
  for (Attribute operand : op.getOperandPlaces())
    if (!isa<PlaceAttr, HeadAttr>(operand))
      return op.emitOpError() << "expected places and heads of channels as operands, found "
                              << operand;
  return success();
}

LogicalResult ReduceOp::verify() { return verifyOperands(*this); }
LogicalResult RecvReduceOp::verify() { return verifyOperands(*this); }
LogicalResult GetReduceOp::verify() { return verifyOperands(*this); }
LogicalResult PopReduceOp::verify() { return verifyOperands(*this); }

} // namespace coil::exec

#define GET_OP_CLASSES
#include "dialect/Exec/ExecOps.cpp.inc"
