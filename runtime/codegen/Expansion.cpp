//===- Expansion.cpp - A kernel's form, for one rank ----------------------===//

#include "runtime/codegen/Expansion.h"

#include <algorithm>
#include <map>
#include <span>

namespace coil::codegen {

namespace {

/// A call with its numbers known, in the plan's words.
struct Expanded {
  PlanOp op; ///< but for its run of operands
  std::vector<PlanOperand> operands;
};

/// Follows one worker's form.
class Follower {
public:
  Follower(const Plan &plan, uint32_t rank, std::span<const uint32_t> constants,
           const GeneratedKernel::WorkerEnds &ends)
      : plan(plan), rank(rank), constants(constants), ends(ends) {}

  /// The calls of a section. Bindings last from section to section.
  Result<std::vector<Expanded>> follow(const std::vector<CallNode> &section) {
    calls.clear();
    COIL_RETURN_IF_ERROR(followNodes(section));
    return std::move(calls);
  }

private:
  template <typename... Args>
  static Status wrong(fmt::format_string<Args...> format, Args &&...args) {
    return Status::error(StatusCode::InternalError, format, std::forward<Args>(args)...);
  }

  Status followNodes(const std::vector<CallNode> &nodes) {
    for (const CallNode &node : nodes) {
      if (node.trip == 1) {
        COIL_RETURN_IF_ERROR(call(node.leaf));
        continue;
      }
      steps.push_back(0);
      for (; steps.back() < node.trip; ++steps.back())
        COIL_RETURN_IF_ERROR(followNodes(node.body));
      steps.pop_back();
    }
    return Status::ok();
  }

  Status valueOf(const Number &number, uint32_t &value) const {
    std::optional<uint32_t> found = evaluate(number, rank, steps, constants);
    if (!found)
      return wrong("a constant is outside of the table of {}", constants.size());
    value = *found;
    return Status::ok();
  }

  Status endOf(uint32_t end, const std::vector<uint32_t> &channels, uint32_t &channel) const {
    if (end >= channels.size())
      return wrong("expected an end below {}, found {}", channels.size(), end);
    channel = channels[end];
    return Status::ok();
  }

  Status call(const CallForm &form) {
    Expanded expanded;
    std::array<uint32_t, 4> numbers{};
    for (size_t i = 0; i < form.numbers.size(); ++i)
      COIL_RETURN_IF_ERROR(valueOf(form.numbers[i], numbers[i]));
    PlanOp &op = expanded.op;
    op.complete = form.complete;
    op.location = form.location;
    if (form.destination)
      COIL_RETURN_IF_ERROR(place(*form.destination, op.destination));
    COIL_RETURN_IF_ERROR(followOperands(form.operands, expanded.operands));

    bool toPeer = form.destination && op.destination.rank != rank;
    bool fromPeer = false, fromSlot = false;
    for (const PlanOperand &operand : expanded.operands) {
      fromSlot |= operand.kind == OperandKind::Slot;
      fromPeer |= operand.rank != rank;
    }
    switch (form.kind) {
    case CallKind::Meet:
      op.kind = OpKind::Meet;
      expanded.operands.push_back({OperandKind::Input, numbers[0], 0});
      break;
    case CallKind::Bind:
      if (!slots.try_emplace(numbers[0], Bound{numbers[1], numbers[2], numbers[3]}).second)
        return wrong("slot {} is bound twice", numbers[0]);
      return Status::ok();
    case CallKind::Copy:
      op.kind = fromSlot   ? OpKind::Pop
                : fromPeer ? OpKind::Get
                : toPeer   ? OpKind::Put
                           : OpKind::Copy;
      op.length = numbers[0];
      break;
    case CallKind::Reduce:
      op.kind = fromSlot ? OpKind::PopReduce : fromPeer ? OpKind::GetReduce : OpKind::Reduce;
      op.length = numbers[0];
      break;
    case CallKind::Push:
      op.kind = OpKind::Push;
      COIL_RETURN_IF_ERROR(endOf(numbers[0], ends.sends, op.channel));
      op.length = numbers[1];
      break;
    case CallKind::Signal:
      op.kind = OpKind::Signal;
      COIL_RETURN_IF_ERROR(endOf(numbers[0], ends.sends, op.channel));
      break;
    case CallKind::Wait:
      op.kind = OpKind::Wait;
      COIL_RETURN_IF_ERROR(endOf(numbers[0], ends.receives, op.channel));
      break;
    case CallKind::Barrier:
      op.kind = OpKind::Barrier;
      break;
    }
    calls.push_back(std::move(expanded));
    return Status::ok();
  }

  Status followOperands(const std::vector<OperandForm> &nodes, std::vector<PlanOperand> &into) {
    for (const OperandForm &node : nodes) {
      if (node.trip == 1) {
        COIL_RETURN_IF_ERROR(place(node.leaf, into.emplace_back()));
        continue;
      }
      steps.push_back(0);
      for (; steps.back() < node.trip; ++steps.back())
        COIL_RETURN_IF_ERROR(followOperands(node.body, into));
      steps.pop_back();
    }
    return Status::ok();
  }

  Status place(const PlaceForm &form, PlanOperand &operand) const {
    std::array<uint32_t, 3> numbers{};
    for (size_t i = 0; i < form.numbers.size(); ++i)
      COIL_RETURN_IF_ERROR(valueOf(form.numbers[i], numbers[i]));
    auto chunk = [&](uint32_t inSegment, uint32_t segment) {
      return segment * plan.chunks + inSegment;
    };
    switch (form.kind) {
    case PlaceKind::Input:
      operand = {OperandKind::Input, rank, chunk(numbers[0], numbers[1])};
      return Status::ok();
    case PlaceKind::Output:
      operand = {OperandKind::Output, rank, chunk(numbers[0], numbers[1])};
      return Status::ok();
    case PlaceKind::Scratch:
      operand = {OperandKind::Scratch, rank, numbers[0]};
      return Status::ok();
    case PlaceKind::PeerScratch:
      operand = {OperandKind::Scratch, numbers[0], numbers[1]};
      return Status::ok();
    case PlaceKind::Head:
      operand.kind = OperandKind::Slot;
      operand.rank = rank;
      return endOf(numbers[0], ends.receives, operand.index);
    case PlaceKind::PeerInput:
    case PlaceKind::PeerOutput:
      break;
    }
    auto bound = slots.find(numbers[0]);
    if (bound == slots.end())
      return wrong("slot {} is not bound", numbers[0]);
    bool isInput = form.kind == PlaceKind::PeerInput;
    uint32_t segments = isInput ? bound->second.inputSegments : bound->second.outputSegments;
    if (numbers[2] >= segments)
      return wrong("slot {} has {} segments, but segment {} is used", numbers[0], segments,
                   numbers[2]);
    operand = {isInput ? OperandKind::Input : OperandKind::Output, bound->second.rank,
               chunk(numbers[1], numbers[2])};
    return Status::ok();
  }

  /// A rank at a slot, and how much of its buffers is known to be there.
  struct Bound {
    uint32_t rank, inputSegments, outputSegments;
  };

  const Plan &plan;
  uint32_t rank;
  std::span<const uint32_t> constants;
  const GeneratedKernel::WorkerEnds &ends;
  std::vector<uint32_t> steps;
  std::map<uint32_t, Bound> slots;
  std::vector<Expanded> calls;
};

/// The calls that a Meet becomes, in any order, as one call in the order of ranks.
Expanded joinMeets(std::span<const Expanded> meets) {
  Expanded joined = meets.front();
  joined.operands.clear();
  for (const Expanded &meet : meets)
    if (meet.op == joined.op)
      joined.operands.insert(joined.operands.end(), meet.operands.begin(), meet.operands.end());
  std::sort(joined.operands.begin(), joined.operands.end());
  return joined;
}

bool isSame(const Expanded &call, PlanOp op, std::span<const PlanOperand> operands) {
  op.firstOperand = op.operandCount = 0;
  return call.op == op &&
         std::equal(call.operands.begin(), call.operands.end(), operands.begin(), operands.end());
}

Status compareSection(std::span<const Expanded> calls, const std::vector<PlanOp> &ops,
                      const PlanWorker &worker) {
  size_t next = 0;
  for (size_t number = 0; number < ops.size(); ++number) {
    const PlanOp &op = ops[number];
    std::vector<PlanOperand> operands(worker.operands.begin() + op.firstOperand,
                                      worker.operands.begin() + op.firstOperand + op.operandCount);
    bool isMeet = op.kind == OpKind::Meet;
    size_t parts = isMeet ? operands.size() : 1;
    if (isMeet)
      std::sort(operands.begin(), operands.end());
    if (calls.size() - next < parts ||
        !isSame(isMeet ? joinMeets(calls.subspan(next, parts)) : calls[next], op, operands))
      return Status::error(StatusCode::InternalError,
                           "the generated kernel differs from the plan at op {} ({})", number,
                           nameOf(op.kind));
    next += parts;
  }
  if (next < calls.size())
    return Status::error(StatusCode::InternalError,
                         "the generated kernel has {} operations, expected {}", calls.size(), next);
  return Status::ok();
}

} // namespace

Status checkExpansion(const Plan &plan, const PlanVariant &variant, const ClassForm &form,
                      size_t index, const GeneratedKernel::RankFacts &facts) {
  uint32_t rank = form.ranks[index];
  const std::vector<PlanWorker> &workers = variant.programs[variant.programOfKind[rank]].workers;
  if (form.workers.size() != workers.size() || facts.workers.size() != workers.size())
    return Status::error(StatusCode::InternalError,
                         "rank {}: the generated kernel has {} workers, expected {}", rank,
                         form.workers.size(), workers.size());
  for (size_t w = 0; w < workers.size(); ++w) {
    Follower follower(plan, rank, facts.constants, facts.workers[w]);
    const std::array<const std::vector<PlanOp> *, numSections> sections{
        &workers[w].prologue, &workers[w].body, &workers[w].epilogue};
    constexpr std::array<const char *, numSections> names{"prologue", "body", "epilogue"};
    for (size_t section = 0; section < numSections; ++section) {
      auto compare = [&]() -> Status {
        COIL_ASSIGN_OR_RETURN(std::vector<Expanded> calls,
                              follower.follow(form.workers[w].sections[section]));
        return compareSection(calls, *sections[section], workers[w]);
      };
      COIL_RETURN_IF_ERROR(
          compare().withContext(fmt::format("rank {}, worker {}, {}", rank, w, names[section])));
    }
  }
  return Status::ok();
}

} // namespace coil::codegen
