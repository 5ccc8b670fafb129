//===- PlanValidator.cpp - What holds in every plan -----------------------===//

#include "runtime/plan/PlanFile.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

namespace coil {

namespace {

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return Status::error(StatusCode::InvalidPlan, format, std::forward<Args>(args)...);
}

std::string counted(uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

/// Where an operand may be, seen from the executing rank; a set. `meets` is no
/// place but stands for operands that are ranks.
enum Places : uint8_t { nowhere = 0, here = 1, onPeer = 2, inSlot = 4, meets = 8 };

/// Which end of a channel `PlanOp::channel` must be, if any.
enum class ChannelUse : uint8_t { None, Push, Signal, Wait };

constexpr uint32_t anyCount = UINT32_MAX;
/// Stands for an operation's destination where operands are numbered.
constexpr uint32_t destinationPosition = UINT32_MAX;

/// What an operation's fields may be.
struct OpRule {
  Places destination;
  uint8_t operands; ///< of Places
  Places needed;    ///< at least one operand here
  uint32_t minOperands, maxOperands;
  ChannelUse channel;
  bool mayComplete;
};

constexpr std::array<OpRule, numOpKinds> opRules = {{
    /*Copy*/ {here, here, nowhere, 1, 1, ChannelUse::None, false},
    /*Reduce*/ {here, here, nowhere, 1, anyCount, ChannelUse::None, true},
    /*Put*/ {onPeer, here, nowhere, 1, 1, ChannelUse::None, false},
    /*Get*/ {here, onPeer, nowhere, 1, 1, ChannelUse::None, false},
    /*GetReduce*/ {here, here | onPeer, onPeer, 1, anyCount, ChannelUse::None, true},
    /*Push*/ {nowhere, here, nowhere, 1, 1, ChannelUse::Push, false},
    /*Pop*/ {here, inSlot, nowhere, 1, 1, ChannelUse::None, false},
    /*PopReduce*/ {here, here | inSlot, inSlot, 1, anyCount, ChannelUse::None, true},
    /*Signal*/ {nowhere, nowhere, nowhere, 0, 0, ChannelUse::Signal, false},
    /*Wait*/ {nowhere, nowhere, nowhere, 0, 0, ChannelUse::Wait, false},
    /*Meet*/ {nowhere, meets, nowhere, 1, anyCount, ChannelUse::None, false},
    /*Barrier*/ {nowhere, nowhere, nowhere, 0, 0, ChannelUse::None, false},
}};

enum Section : uint8_t { prologue, body, epilogue };
constexpr std::array<const char *, 3> sectionNames{"prologue", "body", "epilogue"};

const std::vector<PlanOp> &opsOf(const PlanWorker &worker, int section) {
  return section == prologue ? worker.prologue : section == body ? worker.body : worker.epilogue;
}

/// UTF-8 without control characters: safe to show on a terminal and in JSON.
bool isPrintable(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    uint8_t lead = static_cast<uint8_t>(text[i++]);
    int following = lead < 0x80 ? 0 : lead >> 5 == 0x6 ? 1 : lead >> 4 == 0xe ? 2 : 3;
    if (following == 3 && lead >> 3 != 0x1e)
      return false;
    uint32_t code = following == 0 ? lead : lead & (0x3f >> following);
    for (int k = 0; k < following; ++k) {
      if (i == text.size() || (text[i] & 0xc0) != 0x80)
        return false;
      code = code << 6 | (text[i++] & 0x3f);
    }
    constexpr std::array<uint32_t, 4> smallest{0, 0x80, 0x800, 0x10000};
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool surrogate = code >= 0xd800 && code < 0xe000;
    if (control || surrogate || code < smallest[following] || code > 0x10ffff)
      return false;
  }
  return true;
}

/// Checks one variant. Its fields are where it stands, for the messages.
class VariantValidator {
public:
  VariantValidator(const Plan &plan, size_t number)
      : plan(plan), variant(plan.variants[number]), number(number) {}

  Status validate();
  std::string describeVariant() const;

private:
  Status validateSymmetry();
  Status validateRanks();
  Status validateChannels();
  Status validateProgram(uint32_t index);
  Status validateWorker();
  Status validateOp(const PlanOp &op);
  Status validateDestination(const PlanOp &op, Places place);
  Status validateOperands(const PlanOp &op, const OpRule &rule);
  Status validateMemory(uint32_t position, const PlanOp &op, const PlanOperand &chunk,
                        uint8_t places);
  Status validateSlot(uint32_t position, const PlanOperand &slot);
  Status validateMet(uint32_t position, const PlanOperand &peer);
  Status validateChannelUse(const PlanOp &op, ChannelUse use);
  Status validateBarriers();
  Status validateBalance();

  /// The kinds of `symmetry`, in words: "3 ranks", "2 kinds of ranks".
  std::string countedKinds() const;
  uint64_t kinds() const { return static_cast<uint64_t>(symmetry.kinds(plan.ranks)); }
  uint32_t kindOf(uint32_t member) const { return static_cast<uint32_t>(symmetry.kindOf(member)); }
  uint32_t representative(uint64_t kind) const {
    return static_cast<uint32_t>(symmetry.representative(static_cast<int64_t>(kind)));
  }

  /// Chunks that `rank` has of a kind of memory.
  uint64_t chunksOf(OperandKind kind, uint32_t owner) const;

  std::string describeWorker() const;
  std::string describeOp() const;
  std::string describeChannel(size_t channel) const;
  static std::string describe(const PlanOperand &operand);
  static std::string nameOperand(uint32_t position);

  template <typename... Args>
  Status variantError(fmt::format_string<Args...> format, Args &&...args) const {
    return invalid(format, std::forward<Args>(args)...).withContext(describeVariant());
  }
  template <typename... Args>
  Status workerError(fmt::format_string<Args...> format, Args &&...args) const {
    return invalid(format, std::forward<Args>(args)...).withContext(describeWorker());
  }
  template <typename... Args>
  Status opError(fmt::format_string<Args...> format, Args &&...args) const {
    return invalid(format, std::forward<Args>(args)...).withContext(describeOp());
  }

  /// What went into a channel and came out of it, by section.
  struct Traffic {
    std::array<uint64_t, 3> in{}, out{};
  };

  const Plan &plan;
  const PlanVariant &variant;
  size_t number;
  Symmetry symmetry;

  uint32_t program = 0;
  uint32_t rank = 0; ///< the first representative that runs the program
  uint32_t workerNumber = 0;
  const PlanWorker *worker = nullptr;
  int section = prologue;
  size_t opNumber = 0;

  struct Users {
    uint32_t first = 0;
    uint32_t count = 0;
  };
  std::vector<Users> usersOf;    ///< by program
  std::vector<Traffic> traffic;  ///< by channel
  std::vector<bool> operandUsed; ///< of the worker
  /// Operations checked so far, which numbers them from 1 over the variant.
  uint64_t opsSeen = 0;
  /// The last operation that named each channel as a slot, or each rank to meet.
  std::vector<uint64_t> poppedBy, metBy;
};

std::string VariantValidator::describeVariant() const {
  std::string text =
      fmt::format("variant {} ({}, {}", number, variant.inPlace ? "in place" : "out of place",
                  nameOf(variant.transport));
  if (hasRoot(plan.collective))
    text += fmt::format(", root {}", variant.root);
  return text + ")";
}

std::string VariantValidator::describeWorker() const {
  return fmt::format("{}, rank {}, worker {}", describeVariant(), rank, workerNumber);
}

std::string VariantValidator::describeOp() const {
  const PlanOp &op = opsOf(*worker, section)[opNumber];
  std::string place;
  if (op.location < plan.locations.size()) {
    const PlanLocation &location = plan.locations[op.location];
    place = fmt::format(" at {}:{}:{}", location.file, location.line, location.column);
  }
  return fmt::format("{}, {} op {} ({}{})", describeWorker(), sectionNames[section], opNumber,
                     nameOf(op.kind), place);
}

std::string VariantValidator::describeChannel(size_t index) const {
  const PlanChannel &channel = variant.channels[index];
  return fmt::format("channel {} (rank {} worker {} to rank {} worker {}, {})", index,
                     channel.sourceRank, channel.sourceWorker, channel.destinationRank,
                     channel.destinationWorker, nameOf(channel.transport));
}

std::string VariantValidator::describe(const PlanOperand &operand) {
  return fmt::format("{}[{}] @ {}", nameOf(operand.kind), operand.index, operand.rank);
}

std::string VariantValidator::nameOperand(uint32_t position) {
  return position == destinationPosition ? "destination" : fmt::format("operand {}", position);
}

uint64_t VariantValidator::chunksOf(OperandKind kind, uint32_t owner) const {
  SegmentCounts segments = plan.segments(owner == variant.root);
  switch (kind) {
  case OperandKind::Input:
    return static_cast<uint64_t>(segments.input) * plan.chunks;
  case OperandKind::Output:
    return static_cast<uint64_t>(segments.output) * plan.chunks;
  case OperandKind::Scratch:
    return variant.scratchChunks[kindOf(owner)];
  case OperandKind::Slot:
    break;
  }
  return 0;
}

Status VariantValidator::validate() {
  if (variant.transport > Transport::Staged)
    return invalid("variant {}: unknown transport {}", number, static_cast<int>(variant.transport));
  uint32_t roots = hasRoot(plan.collective) ? plan.ranks : 1;
  if (variant.root >= roots)
    return variantError("expected a root below {}, found {}", roots, variant.root);
  if (variant.inPlace && plan.collective == Collective::Custom)
    return variantError("a contract of its own has no form in place");
  COIL_RETURN_IF_ERROR(validateSymmetry());
  COIL_RETURN_IF_ERROR(validateRanks());
  COIL_RETURN_IF_ERROR(validateChannels());
  traffic.resize(variant.channels.size());
  poppedBy.resize(variant.channels.size());
  metBy.resize(plan.ranks);
  for (uint32_t index = 0; index < variant.programs.size(); ++index)
    COIL_RETURN_IF_ERROR(validateProgram(index));
  return validateBalance();
}

Status VariantValidator::validateSymmetry() {
  if (variant.digits.empty())
    return Status::ok();
  if (std::string fault = findFault(variant.digits, plan.ranks, plan.chunks); !fault.empty())
    return variantError("symmetry: {}", fault);
  if (!treatsRanksAlike(plan.collective))
    return variantError("symmetry: {} does not treat all ranks alike", nameOf(plan.collective));
  symmetry = Symmetry(plan.ranks, variant.digits);
  return Status::ok();
}

std::string VariantValidator::countedKinds() const {
  return symmetry.isTrivial() ? counted(plan.ranks, "rank", "ranks")
                              : counted(kinds(), "kind of ranks", "kinds of ranks");
}

Status VariantValidator::validateRanks() {
  if (variant.programOfKind.size() != kinds())
    return variantError("expected the programs of {}, found {}", countedKinds(),
                        variant.programOfKind.size());
  if (variant.scratchChunks.size() != kinds())
    return variantError("expected the scratch chunks of {}, found {}", countedKinds(),
                        variant.scratchChunks.size());
  usersOf.resize(variant.programs.size());
  for (uint64_t kind = 0; kind < kinds(); ++kind) {
    uint32_t index = variant.programOfKind[kind], user = representative(kind);
    if (index >= variant.programs.size())
      return variantError("rank {}: expected a program below {}, found {}", user,
                          variant.programs.size(), index);
    if (usersOf[index].count++ == 0)
      usersOf[index].first = user;
  }
  for (size_t index = 0; index < variant.programs.size(); ++index) {
    if (usersOf[index].count == 0)
      return variantError("program {} is of no rank", index);
    size_t workers = variant.programs[index].workers.size();
    if (workers > maxPlanWorkers)
      return variantError("program {}: expected at most {} workers, found {}", index,
                          maxPlanWorkers, workers);
  }
  return Status::ok();
}

Status VariantValidator::validateChannels() {
  for (size_t i = 0; i < variant.channels.size(); ++i) {
    const PlanChannel &channel = variant.channels[i];
    if (channel.transport > Transport::Staged)
      return variantError("channel {}: unknown transport {}", i,
                          static_cast<int>(channel.transport));
    bool staged = channel.transport == Transport::Staged;
    for (auto [end, endRank, endWorker] :
         {std::tuple("source", channel.sourceRank, channel.sourceWorker),
          std::tuple("destination", channel.destinationRank, channel.destinationWorker)}) {
      if (endRank >= plan.ranks)
        return variantError("channel {}: expected a {} rank below {}, found {}", i, end, plan.ranks,
                            endRank);
      size_t workers = variant.programs[variant.programOfKind[kindOf(endRank)]].workers.size();
      if (endWorker >= workers)
        return variantError("channel {}: {} rank {} has {}, found worker {}", i, end, endRank,
                            counted(workers, "worker", "workers"), endWorker);
    }
    if (uint32_t expected = representative(kindOf(channel.sourceRank));
        channel.sourceRank != expected)
      return variantError("{}: expected it to begin at rank {}, which its kind is represented by",
                          describeChannel(i), expected);
    if (staged && variant.transport == Transport::P2P)
      return variantError("{}: a p2p variant has no staged channels", describeChannel(i));
    if (channel.sourceRank == channel.destinationRank &&
        (staged || channel.sourceWorker == channel.destinationWorker))
      return variantError("{}: expected its ends to be two {}", describeChannel(i),
                          staged ? "ranks" : "workers");
    if (staged && (channel.slots == 0 || channel.slots > maxPlanSlots))
      return variantError("{}: expected 1 to {} slots, found {}", describeChannel(i), maxPlanSlots,
                          channel.slots);
    if (!staged && channel.slots != 0)
      return variantError("{}: expected no slots, found {}", describeChannel(i), channel.slots);
  }
  return Status::ok();
}

/// Checks a program once for all its ranks.
Status VariantValidator::validateProgram(uint32_t index) {
  program = index;
  rank = usersOf[index].first;
  const std::vector<PlanWorker> &workers = variant.programs[index].workers;
  for (workerNumber = 0; workerNumber < workers.size(); ++workerNumber) {
    worker = &workers[workerNumber];
    COIL_RETURN_IF_ERROR(validateWorker());
  }
  return validateBarriers();
}

Status VariantValidator::validateWorker() {
  operandUsed.assign(worker->operands.size(), false);
  for (section = prologue; section <= epilogue; ++section) {
    const std::vector<PlanOp> &ops = opsOf(*worker, section);
    for (opNumber = 0; opNumber < ops.size(); ++opNumber)
      COIL_RETURN_IF_ERROR(validateOp(ops[opNumber]));
  }
  auto unused = std::find(operandUsed.begin(), operandUsed.end(), false);
  if (unused != operandUsed.end())
    return workerError("operand {} of {} is of no operation", unused - operandUsed.begin(),
                       operandUsed.size());
  return Status::ok();
}

Status VariantValidator::validateOp(const PlanOp &op) {
  ++opsSeen;
  if (static_cast<int>(op.kind) >= numOpKinds)
    return opError("unknown operation {}", static_cast<int>(op.kind));
  const OpRule &rule = opRules[static_cast<size_t>(op.kind)];
  if (op.location >= plan.locations.size() && !(plan.locations.empty() && op.location == 0))
    return opError("expected a location below {}, found {}", plan.locations.size(), op.location);
  bool namesOneRank = op.kind != OpKind::Meet && op.kind != OpKind::Barrier;
  if (namesOneRank && usersOf[program].count > 1)
    return opError("its program is of {} ranks, but it fits one only", usersOf[program].count);
  bool direct = op.kind == OpKind::Put || op.kind == OpKind::Get || op.kind == OpKind::GetReduce;
  if (direct && variant.transport == Transport::Staged)
    return opError("a staged variant cannot reach the memory of peers");
  if (op.kind == OpKind::Meet && section != prologue)
    return opError("expected it in the prologue");
  if (op.complete && !rule.mayComplete)
    return opError("only a reduction makes a value complete");
  if (op.complete && plan.collective == Collective::Custom)
    return opError("it makes a value complete, but a contract of its own averages none");

  if (op.length >= plan.chunks)
    return opError("expected the length of a chunk below {}, found {}", plan.chunks, op.length);
  if (rule.destination != nowhere)
    COIL_RETURN_IF_ERROR(validateDestination(op, rule.destination));
  else if (op.destination != PlanOperand())
    return opError("it has no destination, but names one");
  else if (op.length != 0 && op.kind != OpKind::Push)
    return opError("it moves nothing, but has the length of chunk {}", op.length);
  COIL_RETURN_IF_ERROR(validateOperands(op, rule));
  return validateChannelUse(op, rule.channel);
}

Status VariantValidator::validateDestination(const PlanOp &op, Places place) {
  if (op.destination.kind == OperandKind::Input || op.destination.kind == OperandKind::Slot)
    return opError("destination: expected output or scratch, found {}",
                   nameOf(op.destination.kind));
  COIL_RETURN_IF_ERROR(validateMemory(destinationPosition, op, op.destination, place));
  if (plan.collective == Collective::Custom && op.destination.kind == OperandKind::Output &&
      !plan.contract.find(op.destination.rank, op.destination.index / plan.chunks))
    return opError("destination: the contract promises nothing of {}", describe(op.destination));
  return Status::ok();
}

Status VariantValidator::validateOperands(const PlanOp &op, const OpRule &rule) {
  if (op.operandCount < rule.minOperands || op.operandCount > rule.maxOperands)
    return opError("expected {}{}, found {}",
                   rule.minOperands < rule.maxOperands ? "at least " : "",
                   counted(rule.minOperands, "operand", "operands"), op.operandCount);
  if (op.operandCount == 0)
    return op.firstOperand == 0
               ? Status::ok()
               : opError("it has no operands, but names {} as the first", op.firstOperand);
  size_t available = worker->operands.size();
  if (op.firstOperand > available || op.operandCount > available - op.firstOperand)
    return opError("expected operands among the worker's {}, found {} from {} on", available,
                   op.operandCount, op.firstOperand);

  bool hasNeeded = rule.needed == nowhere;
  for (uint32_t i = 0; i < op.operandCount; ++i) {
    // Sharing is refused also because it would let a short plan take long to check.
    if (operandUsed[op.firstOperand + i])
      return opError("operand {}: an earlier operation has it already", i);
    operandUsed[op.firstOperand + i] = true;
    const PlanOperand &operand = worker->operands[op.firstOperand + i];
    if (rule.operands & meets)
      COIL_RETURN_IF_ERROR(validateMet(i, operand));
    else if (operand.kind == OperandKind::Slot && (rule.operands & inSlot))
      COIL_RETURN_IF_ERROR(validateSlot(i, operand));
    else if (rule.operands == inSlot)
      return opError("operand {}: expected a slot, found {}", i, describe(operand));
    else
      COIL_RETURN_IF_ERROR(validateMemory(i, op, operand, rule.operands));
    hasNeeded |= rule.needed == (operand.kind == OperandKind::Slot ? inSlot
                                 : operand.rank != rank            ? onPeer
                                                                   : here);
  }
  if (!hasNeeded)
    return opError("expected at least one operand {}",
                   rule.needed == inSlot ? "in a slot" : "on a peer");
  return Status::ok();
}

/// Checks a chunk of memory that `op` reads or writes.
Status VariantValidator::validateMemory(uint32_t position, const PlanOp &op,
                                        const PlanOperand &chunk, uint8_t places) {
  if (chunk.kind >= OperandKind::Slot)
    return opError("{}: expected a chunk of memory, found {}", nameOperand(position),
                   describe(chunk));
  if (chunk.rank >= plan.ranks)
    return opError("{}: expected a rank below {}, found {}", nameOperand(position), plan.ranks,
                   chunk.rank);
  if (chunk.rank == rank && !(places & here))
    return opError("{}: expected a chunk of a peer, found {}", nameOperand(position),
                   describe(chunk));
  if (chunk.rank != rank && !(places & onPeer))
    return opError("{}: expected a chunk of rank {}, found {}", nameOperand(position), rank,
                   describe(chunk));
  uint64_t available = chunksOf(chunk.kind, chunk.rank);
  if (available == 0)
    return opError("{}: rank {} has no {}", nameOperand(position), chunk.rank, nameOf(chunk.kind));
  if (chunk.index >= available)
    return opError("{}: expected an index below {}, found {}", nameOperand(position), available,
                   describe(chunk));
  if (chunk.kind != OperandKind::Scratch && chunk.index % plan.chunks != op.length)
    return opError("{}: expected the length of chunk {}, found {} with the length of chunk {}",
                   nameOperand(position), op.length, describe(chunk), chunk.index % plan.chunks);
  return Status::ok();
}

Status VariantValidator::validateSlot(uint32_t position, const PlanOperand &slot) {
  if (slot.index >= variant.channels.size())
    return opError("operand {}: expected a channel below {}, found {}", position,
                   variant.channels.size(), slot.index);
  const PlanChannel &channel = variant.channels[slot.index];
  if (channel.transport != Transport::Staged)
    return opError("operand {}: expected a staged channel, found channel {} (p2p)", position,
                   slot.index);
  if (kindOf(channel.destinationRank) != kindOf(rank) || channel.destinationWorker != workerNumber)
    return opError("slot of channel {} ends at rank {} worker {}, expected rank {} worker {}",
                   slot.index, channel.destinationRank, channel.destinationWorker, rank,
                   workerNumber);
  if (slot.rank != rank)
    return opError("operand {}: expected rank {} in a slot, found {}", position, rank, slot.rank);
  if (poppedBy[slot.index] == opsSeen)
    return opError("operand {}: channel {} is among its slots already", position, slot.index);
  poppedBy[slot.index] = opsSeen;
  ++traffic[slot.index].out[section];
  return Status::ok();
}

Status VariantValidator::validateMet(uint32_t position, const PlanOperand &peer) {
  if (peer.kind != OperandKind::Input || peer.index != 0)
    return opError("operand {}: expected a rank alone, found {}", position, describe(peer));
  if (peer.rank >= plan.ranks)
    return opError("operand {}: expected a rank below {}, found {}", position, plan.ranks,
                   peer.rank);
  if (symmetry.shiftOf(peer.rank) == 0 && variant.programOfKind[kindOf(peer.rank)] == program)
    return opError("operand {}: rank {} would meet itself", position, peer.rank);
  if (metBy[peer.rank] == opsSeen)
    return opError("operand {}: rank {} is among those to meet already", position, peer.rank);
  metBy[peer.rank] = opsSeen;
  return Status::ok();
}

Status VariantValidator::validateChannelUse(const PlanOp &op, ChannelUse use) {
  if (use == ChannelUse::None)
    return op.channel == 0 ? Status::ok()
                           : opError("it uses no channel, but names channel {}", op.channel);
  if (op.channel >= variant.channels.size())
    return opError("expected a channel below {}, found {}", variant.channels.size(), op.channel);
  const PlanChannel &channel = variant.channels[op.channel];
  Transport expected = use == ChannelUse::Push ? Transport::Staged : Transport::P2P;
  if (channel.transport != expected)
    return opError("expected a {} channel, found channel {} ({})", nameOf(expected), op.channel,
                   nameOf(channel.transport));
  bool atEnd = use == ChannelUse::Wait;
  uint32_t endRank = atEnd ? channel.destinationRank : channel.sourceRank;
  uint32_t endWorker = atEnd ? channel.destinationWorker : channel.sourceWorker;
  if (kindOf(endRank) != kindOf(rank) || endWorker != workerNumber)
    return opError("channel {} {} at rank {} worker {}, expected rank {} worker {}", op.channel,
                   atEnd ? "ends" : "starts", endRank, endWorker, rank, workerNumber);
  ++(atEnd ? traffic[op.channel].out : traffic[op.channel].in)[section];
  return Status::ok();
}

Status VariantValidator::validateBarriers() {
  std::array<size_t, 3> expected{};
  const std::vector<PlanWorker> &workers = variant.programs[program].workers;
  for (workerNumber = 0; workerNumber < workers.size(); ++workerNumber)
    for (section = prologue; section <= epilogue; ++section) {
      const std::vector<PlanOp> &ops = opsOf(workers[workerNumber], section);
      size_t barriers = std::count_if(ops.begin(), ops.end(),
                                      [](const PlanOp &op) { return op.kind == OpKind::Barrier; });
      if (workerNumber == 0)
        expected[section] = barriers;
      else if (barriers != expected[section])
        return workerError("expected {} in the {}, as worker 0 has, found {}",
                           counted(expected[section], "barrier", "barriers"), sectionNames[section],
                           barriers);
    }
  return Status::ok();
}

Status VariantValidator::validateBalance() {
  for (size_t i = 0; i < variant.channels.size(); ++i) {
    bool staged = variant.channels[i].transport == Transport::Staged;
    for (int in = prologue; in <= epilogue; ++in)
      if (traffic[i].in[in] != traffic[i].out[in])
        return variantError("{}: expected as many {} in the {}, found {} and {}",
                            describeChannel(i), staged ? "pushes as pops" : "signals as waits",
                            sectionNames[in], traffic[i].in[in], traffic[i].out[in]);
  }
  return Status::ok();
}

Status validateText(std::string_view what, std::string_view text) {
  if (!isPrintable(text))
    return invalid("{}: expected UTF-8 without control characters", what);
  return Status::ok();
}

Status validateContract(const Plan &plan) {
  const OwnContract &contract = plan.contract;
  if (plan.collective != Collective::Custom)
    return contract == OwnContract()
               ? Status::ok()
               : invalid("contract: expected none for {}", nameOf(plan.collective));
  for (auto [what, segments] :
       {std::pair("input", contract.inputSegments), std::pair("output", contract.outputSegments)})
    if (segments == 0 || segments > maxContractSegments)
      return invalid("contract: expected 1 to {} segments of {}, found {}", maxContractSegments,
                     what, segments);
  if (contract.sources.size() > maxContractSources)
    return invalid("contract: expected at most {} sources, found {}", maxContractSources,
                   contract.sources.size());
  size_t next = 0;
  for (size_t i = 0; i < contract.promises.size(); ++i) {
    const OwnContract::Promise &promise = contract.promises[i];
    if (promise.rank >= plan.ranks || promise.segment >= contract.outputSegments)
      return invalid("contract, promise {}: expected a rank below {} and a segment below {}, found "
                     "{} and {}",
                     i, plan.ranks, contract.outputSegments, promise.rank, promise.segment);
    if (i > 0 && std::pair(contract.promises[i - 1].rank, contract.promises[i - 1].segment) >=
                     std::pair(promise.rank, promise.segment))
      return invalid("contract, promise {}: expected promises ascending by rank and segment", i);
    size_t left = contract.sources.size() - next;
    if (promise.firstSource != next || promise.sourceCount == 0 || promise.sourceCount > left)
      return invalid(
          "contract, promise {}: expected 1 to {} sources from {} on, found {} from {} on", i, left,
          next, promise.sourceCount, promise.firstSource);
    for (size_t end = next + promise.sourceCount, first = next; next < end; ++next) {
      const OwnContract::Source &source = contract.sources[next];
      if (source.rank >= plan.ranks || source.segment >= contract.inputSegments)
        return invalid(
            "contract, source {}: expected a rank below {} and a segment below {}, found "
            "{} and {}",
            next, plan.ranks, contract.inputSegments, source.rank, source.segment);
      if (next > first && contract.sources[next - 1] >= source)
        return invalid("contract, source {}: expected the sources of promise {} ascending by rank "
                       "and segment",
                       next, i);
    }
  }
  if (next != contract.sources.size())
    return invalid("contract: source {} of {} is of no promise", next, contract.sources.size());
  return Status::ok();
}

} // namespace

Status validatePlan(const Plan &plan) {
  COIL_RETURN_IF_ERROR(validateText("name", plan.name));
  COIL_RETURN_IF_ERROR(validateText("producer", plan.producer));
  for (size_t i = 0; i < plan.locations.size(); ++i)
    COIL_RETURN_IF_ERROR(
        validateText(fmt::format("file of location {}", i), plan.locations[i].file));
  if (static_cast<int>(plan.collective) >= numCollectives)
    return invalid("unknown collective {}", static_cast<int>(plan.collective));
  if (plan.protocol && static_cast<uint32_t>(*plan.protocol) >= numMessageProtocols)
    return invalid("unknown protocol {}", static_cast<int>(*plan.protocol));
  if (plan.ranks == 0 || plan.ranks > maxPlanRanks)
    return invalid("expected 1 to {} ranks, found {}", maxPlanRanks, plan.ranks);
  if (plan.chunks == 0)
    return invalid("expected at least 1 chunk, found 0");
  if (plan.variants.empty())
    return invalid("expected at least 1 variant, found 0");
  COIL_RETURN_IF_ERROR(validateContract(plan));

  std::set<std::tuple<uint32_t, bool, Transport>> seen;
  for (size_t i = 0; i < plan.variants.size(); ++i) {
    VariantValidator validator(plan, i);
    COIL_RETURN_IF_ERROR(validator.validate());
    const PlanVariant &variant = plan.variants[i];
    if (!seen.emplace(variant.root, variant.inPlace, variant.transport).second)
      return invalid("{}: an earlier variant is for the same calls", validator.describeVariant());
  }
  return Status::ok();
}

} // namespace coil
