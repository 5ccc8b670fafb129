//===- CollectiveJudge.cpp - Tries an algorithm out -----------------------===//

#include "test/mutation/CollectiveJudge.h"

#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace coil {

namespace {

/// How often each input chunk (rank, chunk) is in a value.
using Counts = std::map<std::pair<int64_t, int64_t>, int64_t>;

struct Value {
  enum { Unset, Known, Unknown } state = Unset;
  Counts counts;
  /// The chunk of a segment whose length it has.
  int64_t length = 0;
};

/// A place of the view that input, output and data share, or a scratch chunk.
using Slot = std::tuple<bool, int64_t, int64_t>;

class Judge {
public:
  explicit Judge(const Instance &instance)
      : instance(instance), ranks(instance.ranks), chunks(instance.chunks) {}

  std::vector<CollectiveFault> judge() {
    for (size_t begin = 0; begin < instance.statements.size();) {
      size_t end = begin + 1;
      uint32_t block = instance.statements[begin].exchange;
      while (block && end < instance.statements.size() &&
             instance.statements[end].exchange == block)
        ++end;
      runTogether(begin, end);
      begin = end;
    }
    if (faults.empty())
      inspect();
    return std::move(faults);
  }

private:
  //===--------------------------------------------------------------------===//
  // Buffers
  //===--------------------------------------------------------------------===//

  bool isGathered() const {
    return instance.collective == Collective::AllGather ||
           instance.collective == Collective::Gather;
  }
  bool isScattered() const {
    return instance.collective == Collective::ReduceScatter ||
           instance.collective == Collective::Scatter;
  }
  bool hasView() const {
    return instance.collective != Collective::AllToAll &&
           instance.collective != Collective::SendRecv;
  }
  bool isAllToAll() const { return instance.collective == Collective::AllToAll; }

  /// Segments of each buffer, on ranks that have it.
  int64_t inputSegments() const { return isScattered() || isAllToAll() ? ranks : 1; }
  int64_t outputSegments() const { return isGathered() || isAllToAll() ? ranks : 1; }
  int64_t viewSegments() const { return isGathered() || isScattered() ? ranks : 1; }

  bool sendsInput(int64_t rank) const {
    bool fromRoot =
        instance.collective == Collective::Broadcast || instance.collective == Collective::Scatter;
    return !fromRoot || rank == instance.root;
  }
  bool getsOutput(int64_t rank) const {
    bool toRoot =
        instance.collective == Collective::Reduce || instance.collective == Collective::Gather;
    return !toRoot || rank == instance.root;
  }

  /// The input chunk that a chunk of the view begins as.
  std::optional<int64_t> inputOfView(int64_t rank, int64_t index) const {
    if (!sendsInput(rank))
      return std::nullopt;
    if (!isGathered())
      return index;
    if (index / chunks != rank)
      return std::nullopt;
    return index - rank * chunks;
  }

  /// Where the output's chunk lies in the view; without a view, the output is all there is.
  int64_t viewOfOutput(int64_t rank, int64_t index) const {
    return isScattered() ? rank * chunks + index : index;
  }

  /// What decides the length of chunk `index`. Some pairs of chunks, such as 1 and 3 of 5, are
  /// equally long for every count; the language tells them apart all the same.
  int64_t lengthOf(int64_t index) const { return index % chunks; }

  /// The place's slot, none for the input; a fault if there is no such place.
  std::optional<Slot> slotOf(const Place &place, std::optional<std::string> &fault) const {
    int64_t size = 0;
    switch (place.buffer) {
    case InstanceBuffer::Input:
      if (!sendsInput(place.rank))
        fault = "names an input that is not there";
      size = inputSegments() * chunks;
      break;
    case InstanceBuffer::Output:
      if (!getsOutput(place.rank))
        fault = "names an output that is not there";
      size = outputSegments() * chunks;
      break;
    case InstanceBuffer::Data:
      if (!hasView())
        fault = "names data, which there is none of";
      size = viewSegments() * chunks;
      break;
    case InstanceBuffer::Scratch:
      for (const ScratchBuffer &buffer : instance.scratch)
        size = buffer.first + buffer.count;
      break;
    }
    if (place.index < 0 || place.index >= size)
      fault = "names a chunk out of range";
    if (place.buffer == InstanceBuffer::Input)
      return std::nullopt;
    bool isScratch = place.buffer == InstanceBuffer::Scratch;
    int64_t index = place.buffer == InstanceBuffer::Output ? viewOfOutput(place.rank, place.index)
                                                           : place.index;
    return Slot{isScratch, place.rank, index};
  }

  //===--------------------------------------------------------------------===//
  // Statements
  //===--------------------------------------------------------------------===//

  Value inputValue(int64_t rank, int64_t chunk) const {
    return {Value::Known, {{{rank, chunk}, 1}}, lengthOf(chunk)};
  }

  Value load(const Place &place) const {
    std::optional<std::string> ignored;
    std::optional<Slot> slot = slotOf(place, ignored);
    if (!slot)
      return inputValue(place.rank, place.index);
    auto [isScratch, rank, index] = *slot;
    if (auto it = memory.find(*slot); it != memory.end()) {
      Value value = it->second;
      // A chunk of the caller's buffers has the length that its place has.
      if (!isScratch)
        value.length = lengthOf(index);
      return value;
    }
    if (place.buffer == InstanceBuffer::Data)
      if (auto input = inputOfView(rank, index))
        return inputValue(rank, *input);
    return {};
  }

  /// Statements begin to end, of which each sees what was before the first.
  void runTogether(size_t begin, size_t end) {
    std::map<Slot, Value> written;
    for (size_t i = begin; i < end; ++i) {
      const Place &destination = instance.statements[i].destination;
      std::optional<std::string> fault;
      std::optional<Slot> slot = slotOf(destination, fault);
      if (!slot && !fault)
        fault = "writes the input";
      Value value = fault ? Value() : evaluate(instance.statements[i], fault);
      if (!fault && value.state == Value::Known && written.contains(*slot))
        fault = "writes a place twice in one exchange";
      if (fault) {
        faults.push_back({*fault, i});
        value = {Value::Unknown, {}, 0};
      }
      if (slot)
        written[*slot] = std::move(value);
    }
    for (auto &[slot, value] : written)
      memory[slot] = std::move(value);
  }

  Value evaluate(const Statement &statement, std::optional<std::string> &fault) const {
    std::vector<Place> operands(instance.sourcesOf(statement).begin(),
                                instance.sourcesOf(statement).end());
    if (statement.kind == StatementKind::Reduce)
      operands.insert(operands.begin(), statement.destination);
    if (operands.empty())
      fault = "combines nothing";
    std::optional<int64_t> length;
    if (statement.destination.buffer != InstanceBuffer::Scratch)
      length = lengthOf(statement.destination.index);
    Value result{Value::Known, {}, 0};
    for (const Place &operand : operands) {
      std::optional<std::string> outside;
      slotOf(operand, outside);
      if (outside) {
        fault = outside;
        return {};
      }
      Value value = load(operand);
      if (value.state == Value::Unset)
        fault = "reads what was never set";
      if (value.state == Value::Unknown)
        result.state = Value::Unknown;
      if (fault || result.state == Value::Unknown)
        return result;
      if (!length)
        length = value.length;
      if (*length != value.length)
        fault = "mixes lengths";
      for (auto [source, count] : value.counts)
        if ((result.counts[source] += count) > 1)
          fault = "combines an input twice";
      if (statement.kind == StatementKind::Copy && operand.rank != statement.destination.rank)
        fault = "copies from another rank";
    }
    result.length = length.value_or(0);
    return result;
  }

  //===--------------------------------------------------------------------===//
  // The end
  //===--------------------------------------------------------------------===//

  /// What is promised: the sum of one chunk of each rank, or a copy of one.
  Counts promised(int64_t rank, int64_t index) const {
    int64_t segment = index / chunks, chunk = index % chunks;
    Counts counts;
    switch (instance.collective) {
    case Collective::AllReduce:
    case Collective::Reduce:
      for (int64_t source = 0; source < ranks; ++source)
        counts[{source, index}] = 1;
      break;
    case Collective::ReduceScatter:
      for (int64_t source = 0; source < ranks; ++source)
        counts[{source, rank * chunks + index}] = 1;
      break;
    case Collective::AllGather:
    case Collective::Gather:
      counts[{segment, chunk}] = 1;
      break;
    case Collective::AllToAll:
      counts[{segment, rank * chunks + chunk}] = 1;
      break;
    case Collective::Broadcast:
      counts[{instance.root, index}] = 1;
      break;
    case Collective::Scatter:
      counts[{instance.root, rank * chunks + index}] = 1;
      break;
    case Collective::SendRecv:
      counts[{(rank + ranks - 1) % ranks, index}] = 1;
      break;
    default:
      break;
    }
    return counts;
  }

  void inspect() {
    for (int64_t rank = 0; rank < ranks; ++rank)
      for (int64_t index = 0; index < outputSegments() * chunks && getsOutput(rank); ++index) {
        int64_t view = viewOfOutput(rank, index);
        // As data, the output may be the input that it began as.
        Place place{hasView() ? InstanceBuffer::Data : InstanceBuffer::Output,
                    static_cast<int32_t>(rank), hasView() ? view : index};
        Value value = load(place);
        if (value.state != Value::Known || value.counts != promised(rank, index))
          faults.push_back(
              {fmt::format("output[{}] on rank {} is wrong", index, rank), std::nullopt});
      }
  }

  const Instance &instance;
  int64_t ranks, chunks;
  std::map<Slot, Value> memory;
  std::vector<CollectiveFault> faults;
};

} // namespace

std::vector<CollectiveFault> judgeCollective(const Instance &instance) {
  return Judge(instance).judge();
}

} // namespace coil
