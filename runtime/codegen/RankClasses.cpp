//===- RankClasses.cpp - Ranks whose programs share a text ----------------===//

#include "runtime/codegen/RankClasses.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>

namespace coil::codegen {

size_t numberCount(const CallShape &shape) {
  size_t count = numberCount(shape.kind);
  if (shape.destination)
    count += numberCount(*shape.destination);
  for (PlaceKind operand : shape.operands)
    count += numberCount(operand);
  return count;
}

namespace {

/// Gives each thing a number, in order of first use.
class Numbering {
public:
  uint32_t operator[](uint32_t thing) {
    auto [entry, isNew] = numbers.try_emplace(thing, static_cast<uint32_t>(things.size()));
    if (isNew)
      things.push_back(thing);
    return entry->second;
  }
  const std::vector<uint32_t> &inOrder() const { return things; }

private:
  std::unordered_map<uint32_t, uint32_t> numbers;
  std::vector<uint32_t> things;
};

/// Bytes as a key of a map.
void appendKey(std::string &key, uint32_t value) {
  key.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

class ShapeTable {
public:
  uint32_t operator[](CallShape shape) {
    std::string key;
    key += static_cast<char>(shape.kind);
    key += static_cast<char>(shape.complete);
    appendKey(key, shape.location);
    key += static_cast<char>(shape.destination ? 1 + static_cast<int>(*shape.destination) : 0);
    for (PlaceKind operand : shape.operands)
      key += static_cast<char>(operand);
    auto [entry, isNew] = indices.try_emplace(std::move(key), static_cast<uint32_t>(shapes.size()));
    if (isNew)
      shapes.push_back(std::move(shape));
    return entry->second;
  }
  std::vector<CallShape> take() { return std::move(shapes); }

private:
  std::unordered_map<std::string, uint32_t> indices;
  std::vector<CallShape> shapes;
};

/// Writes one worker's program as calls.
class Flattener {
public:
  Flattener(const Plan &plan, const PlanVariant &variant, const PlanWorker &worker, uint32_t rank,
            ShapeTable &shapes)
      : plan(plan), variant(variant), worker(worker), rank(rank), shapes(shapes) {}

  FlatWorker flatten() {
    for (const std::vector<PlanOp> *ops : {&worker.prologue, &worker.body, &worker.epilogue})
      for (const PlanOp &op : *ops)
        look(op);
    appendOps(worker.prologue, prologueSection);
    for (const std::vector<PlanOp> *ops : {&worker.body, &worker.epilogue})
      for (const PlanOp &op : *ops)
        bindPeers(op, prologueSection);
    appendOps(worker.body, bodySection);
    appendOps(worker.epilogue, epilogueSection);
    flat.ends = {sends.inOrder(), receives.inOrder()};
    flat.peerSlots = static_cast<uint32_t>(slots.inOrder().size());
    return std::move(flat);
  }

private:
  std::span<const PlanOperand> operandsOf(const PlanOp &op) const {
    return std::span(worker.operands).subspan(op.firstOperand, op.operandCount);
  }
  bool isPeerBuffer(const PlanOperand &operand) const {
    return operand.rank != rank &&
           (operand.kind == OperandKind::Input || operand.kind == OperandKind::Output);
  }
  static bool hasDestination(const PlanOp &op) {
    return op.kind != OpKind::Push && op.kind != OpKind::Signal && op.kind != OpKind::Wait &&
           op.kind != OpKind::Meet && op.kind != OpKind::Barrier;
  }

  /// Calls visit(operand) for the destination and the operands.
  template <typename Visit> void visitPlaces(const PlanOp &op, const Visit &visit) const {
    if (hasDestination(op))
      visit(op.destination);
    if (op.kind != OpKind::Meet)
      for (const PlanOperand &operand : operandsOf(op))
        visit(operand);
  }

  /// Notes the ranks that an operation has to do with, but for meeting them, and
  /// which of their buffers it uses.
  void look(const PlanOp &op) {
    if (op.kind == OpKind::Signal || op.kind == OpKind::Push)
      mentioned[variant.channels[op.channel].destinationRank];
    else if (op.kind == OpKind::Wait)
      mentioned[variant.channels[op.channel].sourceRank];
    visitPlaces(op, [&](const PlanOperand &operand) {
      mentioned[operand.rank];
      if (isPeerBuffer(operand))
        (operand.kind == OperandKind::Input ? usedBuffers[operand.rank].input
                                            : usedBuffers[operand.rank].output) = true;
    });
  }

  /// The ranks of a Meet, which may be met in any order: as they are needed.
  std::vector<uint32_t> ranksToMeet(const PlanOp &op) {
    std::vector<uint32_t> ranks;
    for (const PlanOperand &peer : operandsOf(op))
      ranks.push_back(peer.rank);
    std::sort(ranks.begin(), ranks.end());
    for (uint32_t met : ranks)
      mentioned[met];
    std::sort(ranks.begin(), ranks.end(),
              [&](uint32_t a, uint32_t b) { return mentioned[a] < mentioned[b]; });
    return ranks;
  }

  void append(size_t section, CallShape shape) {
    flat.calls[section].push_back(shapes[std::move(shape)]);
  }
  /// Binds the ranks whose buffers an operation uses, if it is the first.
  void bindPeers(const PlanOp &op, size_t section) {
    visitPlaces(op, [&](const PlanOperand &operand) {
      size_t known = slots.inOrder().size();
      if (!isPeerBuffer(operand) || slots[operand.rank] < known)
        return;
      append(section, {CallKind::Bind, false, op.location, std::nullopt, {}});
      SegmentCounts segments = plan.segments();
      const UsedBuffers &used = usedBuffers[operand.rank];
      flat.numbers.insert(flat.numbers.end(),
                          {static_cast<uint32_t>(known), operand.rank,
                           used.input ? static_cast<uint32_t>(segments.input) : 0,
                           used.output ? static_cast<uint32_t>(segments.output) : 0});
    });
  }

  void appendOps(const std::vector<PlanOp> &ops, size_t section) {
    for (const PlanOp &op : ops) {
      bindPeers(op, section);
      appendOp(op, section);
    }
  }

  void appendOp(const PlanOp &op, size_t section) {
    CallShape shape{CallKind::Barrier, op.complete, op.location, std::nullopt, {}};
    std::vector<uint32_t> &numbers = flat.numbers;
    switch (op.kind) {
    case OpKind::Meet:
      shape.kind = CallKind::Meet;
      for (uint32_t met : ranksToMeet(op)) {
        append(section, shape);
        numbers.push_back(met);
      }
      return;
    case OpKind::Signal:
      shape.kind = CallKind::Signal;
      numbers.push_back(sends[op.channel]);
      break;
    case OpKind::Wait:
      shape.kind = CallKind::Wait;
      numbers.push_back(receives[op.channel]);
      break;
    case OpKind::Push:
      shape.kind = CallKind::Push;
      numbers.insert(numbers.end(), {sends[op.channel], op.length});
      break;
    case OpKind::Reduce:
    case OpKind::GetReduce:
    case OpKind::PopReduce:
      shape.kind = CallKind::Reduce;
      numbers.push_back(op.length);
      break;
    case OpKind::Copy:
    case OpKind::Put:
    case OpKind::Get:
    case OpKind::Pop:
      shape.kind = CallKind::Copy;
      numbers.push_back(op.length);
      break;
    case OpKind::Barrier:
      break;
    }
    if (hasDestination(op))
      shape.destination = place(op.destination);
    for (const PlanOperand &operand : operandsOf(op))
      shape.operands.push_back(place(operand));
    append(section, std::move(shape));
  }

  /// Appends a place's numbers.
  PlaceKind place(const PlanOperand &operand) {
    std::vector<uint32_t> &numbers = flat.numbers;
    bool isHere = operand.rank == rank;
    switch (operand.kind) {
    case OperandKind::Slot:
      numbers.push_back(receives[operand.index]);
      return PlaceKind::Head;
    case OperandKind::Scratch:
      if (!isHere)
        numbers.push_back(operand.rank);
      numbers.push_back(operand.index);
      return isHere ? PlaceKind::Scratch : PlaceKind::PeerScratch;
    default:
      break;
    }
    if (!isHere)
      numbers.push_back(slots[operand.rank]);
    numbers.insert(numbers.end(), {operand.index % plan.chunks, operand.index / plan.chunks});
    if (operand.kind == OperandKind::Input)
      return isHere ? PlaceKind::Input : PlaceKind::PeerInput;
    return isHere ? PlaceKind::Output : PlaceKind::PeerOutput;
  }

  const Plan &plan;
  const PlanVariant &variant;
  const PlanWorker &worker;
  uint32_t rank;
  ShapeTable &shapes;
  FlatWorker flat;
  Numbering sends, receives, slots;
  struct UsedBuffers {
    bool input = false, output = false;
  };
  std::unordered_map<uint32_t, UsedBuffers> usedBuffers; ///< by rank
  /// Other ranks in the order in which the worker has to do with them.
  Numbering mentioned;
};

} // namespace

RankClasses classifyRanks(const Plan &plan, const PlanVariant &variant) {
  RankClasses classes;
  ShapeTable shapes;
  std::unordered_map<std::string, uint32_t> classOfKey;
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    std::vector<FlatWorker> &program = classes.programs.emplace_back();
    std::string key;
    for (const PlanWorker &worker : variant.programs[variant.programOfKind[rank]].workers) {
      program.push_back(Flattener(plan, variant, worker, rank, shapes).flatten());
      for (const std::vector<uint32_t> &section : program.back().calls) {
        appendKey(key, static_cast<uint32_t>(section.size()));
        for (uint32_t call : section)
          appendKey(key, call);
      }
    }
    auto [entry, isNew] = classOfKey.try_emplace(std::move(key), 0);
    if (isNew) {
      entry->second = static_cast<uint32_t>(classes.ranksOfClass.size());
      classes.ranksOfClass.emplace_back();
    }
    classes.classOfRank.push_back(entry->second);
    classes.ranksOfClass[entry->second].push_back(rank);
  }
  classes.shapes = shapes.take();
  return classes;
}

} // namespace coil::codegen
