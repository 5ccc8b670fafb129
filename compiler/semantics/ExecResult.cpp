//===- ExecResult.cpp - What the outputs end with -------------------------===//
//
// Executes one tile on sets of contributions. Without races all orders give the
// same. The other tiles do as this one: no step reads scratch that its own tile
// has not set, and the last write before a read is the same one in each tile.
//
//===----------------------------------------------------------------------===//

#include "compiler/semantics/ExecChecks.h"

#include "compiler/semantics/ExecSymmetry.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <memory>

namespace coil {

namespace {

/// What a place or a message holds. Without contributions it is unset.
struct Value {
  std::shared_ptr<const Contributions> contributions;
  /// The chunk of a segment whose length the value has.
  int64_t length = 0;
  /// Where it was written or sent, if in the call.
  const ExecOp *origin = nullptr;
  /// Where it was completed, if it was.
  const ExecOp *completion = nullptr;
  /// The outcome of an operation that was reported; unfit for further findings.
  bool isWrong = false;
};

class ResultCheck {
public:
  ResultCheck(const ExecModel &model, ExecFindings &findings)
      : model(model), findings(findings), memory(model.locations()),
        channels(model.variant.channels.size()) {}

  void check(const std::vector<ExecStep> &order) {
    for (ExecStep step : order) {
      if (findings.full())
        return;
      if (model.tileOf(step) == 0 && movesData(model.op(step).kind))
        execute(step, order);
    }
    for (int64_t kind = 0; kind < model.kinds(); ++kind)
      for (int64_t index = 0; index < model.shape.outputChunks() && !findings.full(); ++index)
        checkOutput({ExecBuffer::Output,
                     static_cast<int32_t>(model.symmetry().representative(kind)), index});
  }

private:
  static Value inputValue(int32_t rank, int64_t index, int64_t length) {
    Value value;
    value.contributions = std::make_shared<const Contributions>(Contributions::of(rank, index));
    value.length = length;
    return value;
  }

  /// The value that the image of a value's place, or message, holds.
  Value shifted(Value value, int64_t shift) const {
    if (shift == 0)
      return value;
    value.length = model.symmetry().shiftChunk(value.length, shift);
    if (value.contributions)
      value.contributions = std::make_shared<const Contributions>(
          model.shape.shiftContributions(model.symmetry(), *value.contributions, shift));
    return value;
  }

  /// What a place holds: what was written there, or what the caller put there.
  Value load(const ExecPlace &place) const {
    Value stored = shifted(memory[model.locationOf(place)], model.symmetry().shiftOf(place.rank));
    if (stored.origin || place.buffer == ExecBuffer::Scratch)
      return stored;
    int64_t length = place.index % model.shape.chunks;
    if (place.buffer == ExecBuffer::Input)
      return inputValue(place.rank, place.index, length);
    // In place, an output that nothing has written holds the input it shares
    // memory with.
    if (model.inPlace) {
      int64_t data = model.shape.outputToData(place.rank, place.index);
      if (auto input = model.shape.dataToInput(place.rank, data))
        return inputValue(place.rank, *input, length);
    }
    return stored;
  }

  std::string describe(const ExecOperand &operand) const {
    return operand.isHead
               ? fmt::format("the message on channel @{}", model.channel(operand.channel).name)
               : ExecModel::describe(operand.place);
  }

  void noteOrigin(std::vector<FindingNote> &notes, const ExecOperand &operand,
                  const Value &value) const {
    if (value.origin)
      notes.push_back(
          {value.origin->location, fmt::format("{} was {} here", describe(operand),
                                               operand.isHead ? "sent" : "last written")});
  }

  /// The operation's outcome; takes the messages that it takes.
  Value evaluate(ExecStep step, const std::vector<ExecStep> &order) {
    const ExecOp &op = model.op(step);
    std::vector<Value> values;
    for (const ExecOperand &operand : op.operands) {
      if (operand.isHead) {
        values.push_back(shifted(std::move(channels[operand.channel].front()),
                                 model.variant.shiftToEnd(model.channel(operand.channel))));
        channels[operand.channel].pop_front();
      } else {
        values.push_back(load(operand.place));
      }
    }
    Value result;
    result.length = op.length;
    result.isWrong = !areUsable(step, values, order);
    if (result.isWrong)
      return result;
    if (values.size() == 1) {
      result.contributions = values[0].contributions;
      result.completion = values[0].completion;
    } else {
      combine(op, values, result);
    }
    if (op.complete && combinesOperands(op.kind) && !result.isWrong)
      complete(op, result);
    return result;
  }

  bool areUsable(ExecStep step, const std::vector<Value> &values,
                 const std::vector<ExecStep> &order) {
    const ExecOp &op = model.op(step);
    for (size_t i = 0; i < values.size(); ++i) {
      const Value &value = values[i];
      const ExecOperand &operand = op.operands[i];
      if (value.isWrong)
        return false;
      if (!value.contributions) {
        findings.report(
            op.location,
            fmt::format("reads {} before it is set", ExecModel::describe(operand.place)),
            laterWrite(step, operand.place, order));
        return false;
      }
      if (value.length != op.length) {
        std::vector<FindingNote> notes;
        noteOrigin(notes, operand, value);
        findings.report(op.location,
                        fmt::format("{} holds a chunk of length class {}, read with length {}",
                                    describe(operand), value.length, op.length),
                        std::move(notes));
        return false;
      }
    }
    return true;
  }

  /// A note at the first write of the place after the step in its tile.
  std::vector<FindingNote> laterWrite(ExecStep step, const ExecPlace &place,
                                      const std::vector<ExecStep> &order) const {
    for (auto later = std::ranges::find(order, step) + 1; later != order.end(); ++later) {
      const ExecOp &op = model.op(*later);
      if (model.tileOf(*later) == 0 && writesMemory(op.kind) &&
          model.locationOf(op.destination) == model.locationOf(place))
        return {{op.location, "it is set only here"}};
    }
    return {};
  }

  void combine(const ExecOp &op, const std::vector<Value> &values, Value &result) {
    Contributions sum;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].completion) {
        findings.report(
            op.location,
            fmt::format("combines {}, whose value is complete already", describe(op.operands[i])),
            {{values[i].completion->location, "it was completed here"}});
        result.isWrong = true;
        return;
      }
      Contributions twice = sum.common(*values[i].contributions);
      if (!twice.empty() && !model.shape.mayRepeat()) {
        std::vector<FindingNote> notes;
        for (size_t j = 0; j <= i; ++j)
          noteOrigin(notes, op.operands[j], values[j]);
        findings.report(op.location, fmt::format("combines {} twice", twice.describe()),
                        std::move(notes));
        result.isWrong = true;
        return;
      }
      model.shape.combineInto(sum, *values[i].contributions);
    }
    result.contributions = std::make_shared<const Contributions>(std::move(sum));
  }

  void complete(const ExecOp &op, Value &value) {
    value.isWrong = true;
    const std::vector<Contribution> &held = value.contributions->list();
    std::vector<int64_t> ranks;
    for (const Contribution &contribution : held)
      ranks.push_back(contribution.rank);
    std::ranges::sort(ranks);
    bool hasEachRank = static_cast<int64_t>(ranks.size()) == model.shape.ranks &&
                       std::ranges::adjacent_find(ranks) == ranks.end();
    if (!model.shape.hasCompleteValues())
      findings.report(
          op.location,
          fmt::format("completes a value, but {} {}", nameOf(model.shape.collective),
                      combines(model.shape.collective) ? "averages none" : "combines none"));
    else if (value.completion)
      findings.report(op.location, "completes a value that is complete already",
                      {{value.completion->location, "it was completed here"}});
    else if (!hasEachRank)
      findings.report(op.location,
                      fmt::format("completes a value of {}; expected a contribution of each of "
                                  "{} ranks",
                                  value.contributions->describe(), model.shape.ranks));
    else
      value.isWrong = false;
    value.completion = &op;
  }

  void execute(ExecStep step, const std::vector<ExecStep> &order) {
    const ExecOp &op = model.op(step);
    Value result = evaluate(step, order);
    result.origin = &op;
    const ExecPlace &written = op.destination;
    if (writesMemory(op.kind) && written.buffer == ExecBuffer::Output &&
        !model.shape.mayWrite(written.rank, written.index))
      findings.report(op.location, fmt::format("writes {}, of which the contract promises nothing",
                                               ExecModel::describe(written)));
    if (writesMemory(op.kind))
      memory[model.locationOf(op.destination)] = std::move(result);
    else
      channels[op.channel].push_back(std::move(result));
  }

  void checkOutput(const ExecPlace &place) {
    auto promise = model.shape.promise(place.rank, place.index);
    Value value = load(place);
    if (!promise || value.isWrong)
      return;
    LocationIndex location = value.origin ? value.origin->location : model.variant.location;
    std::vector<FindingNote> notes = {
        {location, value.origin ? "it was last written here" : "no operation writes it"}};
    static const Contributions nothing;
    const Contributions &held = value.contributions ? *value.contributions : nothing;
    if (held != *promise) {
      std::string message = fmt::format("{} ends with {} instead of {}", ExecModel::describe(place),
                                        held.describe(), promise->describe());
      Contributions missing = promise->without(held), foreign = held.without(*promise);
      if (!missing.empty() && !held.empty())
        message += fmt::format("; missing: {}", missing.describe());
      if (!foreign.empty())
        message += fmt::format("; foreign: {}", foreign.describe());
      findings.report(location, message, std::move(notes));
    } else if (model.shape.hasCompleteValues() && model.shape.ranks > 1 && !value.completion) {
      findings.report(location,
                      fmt::format("{} ends with a value that no operation completed: an average "
                                  "would not be divided",
                                  ExecModel::describe(place)),
                      std::move(notes));
    }
  }

  const ExecModel &model;
  ExecFindings &findings;
  /// Per location.
  std::vector<Value> memory;
  /// The messages under way on each channel.
  std::vector<std::deque<Value>> channels;
};

} // namespace

void checkResult(const ExecModel &model, const std::vector<ExecStep> &order,
                 ExecFindings &findings) {
  ResultCheck(model, findings).check(order);
}

} // namespace coil
