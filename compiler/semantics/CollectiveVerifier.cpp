//===- CollectiveVerifier.cpp - Proof of an instance ----------------------===//

#include "compiler/semantics/CollectiveVerifier.h"

#include "compiler/semantics/Cells.h"

#include <fmt/format.h>
#include <memory>
#include <unordered_map>

namespace coil {

namespace {

/// What a place holds. Values are shared, never changed.
using Value = std::shared_ptr<const Contributions>;

constexpr int64_t unknownLength = -1;

struct CellState {
  Value value;
  /// The statement that wrote last, or none.
  int64_t writer = -1;
  /// The chunk of a segment whose length the value has.
  int64_t length = unknownLength;
};

class Verifier {
public:
  Verifier(const Instance &instance, LocationIndex algorithmLocation)
      : instance(instance), algorithmLocation(algorithmLocation), cells(instance),
        states(cells.size()) {
    proof.completes.resize(instance.statements.size());
    proof.lengths.resize(instance.statements.size());
  }

  CollectiveProof run() {
    const std::vector<Statement> &statements = instance.statements;
    for (size_t i = 0; i < statements.size() && !full();) {
      size_t end = i + 1;
      if (statements[i].exchange)
        while (end < statements.size() && statements[end].exchange == statements[i].exchange)
          ++end;
      execute(i, end);
      i = end;
    }
    // After a wrong statement the end would only repeat its consequences.
    if (proof.findings.empty())
      checkPromise();
    return std::move(proof);
  }

private:
  bool full() const { return proof.findings.size() >= maxFindings; }

  Finding &report(LocationIndex location, std::string message) {
    proof.findings.push_back({location, std::move(message), {}});
    return proof.findings.back();
  }

  LocationIndex locationOf(int64_t statement) const {
    return instance.statements[static_cast<size_t>(statement)].location;
  }

  void noteWriter(Finding &finding, const CellState &state, const Place &place) {
    if (state.writer >= 0)
      finding.notes.push_back({locationOf(state.writer),
                               fmt::format("{} was last written here", instance.describe(place))});
  }

  bool checkBounds(const Place &place, LocationIndex location) {
    int64_t chunks = cells.chunksOf(place.buffer);
    if (place.buffer == InstanceBuffer::Data && !cells.collective().hasData()) {
      report(location,
             fmt::format("{} has no 'data': name input and output", nameOf(instance.collective)));
      return false;
    }
    bool isInput = place.buffer == InstanceBuffer::Input;
    if ((isInput && !cells.collective().hasInput(place.rank)) ||
        (place.buffer == InstanceBuffer::Output && !cells.collective().hasOutput(place.rank))) {
      report(location, fmt::format("{} does not exist: in {} the root alone, rank {}, has an {}",
                                   instance.describe(place), nameOf(instance.collective),
                                   instance.root, isInput ? "input" : "output"));
      return false;
    }
    if (place.buffer != InstanceBuffer::Scratch) {
      if (place.index >= 0 && place.index < chunks)
        return true;
      report(location, fmt::format("{} is out of range: the buffer has {} chunk{}",
                                   instance.describe(place), chunks, chunks == 1 ? "" : "s"));
      return false;
    }
    return true; // expansion keeps scratch in the range of its buffer
  }

  /// The state that a read of the place sees, without a value if none is there.
  CellState read(const Place &place) const {
    if (place.buffer == InstanceBuffer::Input)
      return {inputValue(place.rank, place.index), -1, place.index % instance.chunks};
    size_t cell = cells.of(place);
    CellState state = states[cell];
    shift(state, instance.symmetry.shiftOf(place.rank));
    if (place.buffer == InstanceBuffer::Scratch)
      return state;
    state.length = place.index % instance.chunks;
    if (!state.value && place.buffer == InstanceBuffer::Data)
      if (auto input = cells.collective().dataToInput(place.rank, place.index))
        state.value = inputValue(place.rank, *input);
    return state;
  }

  /// From what a representative's place holds to what that of its image does.
  void shift(CellState &state, int64_t shift) const {
    if (!state.value || shift == 0)
      return;
    state.value = std::make_shared<const Contributions>(
        cells.collective().shiftContributions(instance.symmetry, *state.value, shift));
    if (state.length != unknownLength)
      state.length = instance.symmetry.shiftChunk(state.length, shift);
  }

  static Value inputValue(int32_t rank, int64_t chunk) {
    return std::make_shared<const Contributions>(Contributions::of(rank, chunk));
  }

  /// Executes statements [begin, end), all of which see the state before them.
  void execute(size_t begin, size_t end) {
    struct Write {
      size_t cell;
      CellState state;
    };
    std::vector<Write> writes;
    std::unordered_map<size_t, size_t> writtenHere;
    for (size_t i = begin; i < end && !full(); ++i) {
      const Statement &statement = instance.statements[i];
      std::optional<CellState> result = evaluate(i);
      if (!result)
        continue;
      size_t cell = cells.of(statement.destination);
      auto [it, inserted] = writtenHere.try_emplace(cell, i);
      if (!inserted) {
        Finding &finding =
            report(statement.location, fmt::format("{} is written twice in one exchange",
                                                   instance.describe(statement.destination)));
        finding.notes.push_back(
            {locationOf(static_cast<int64_t>(it->second)), "the first write is here"});
        continue;
      }
      writes.push_back({cell, std::move(*result)});
    }
    for (Write &write : writes)
      states[write.cell] = std::move(write.state);
  }

  /// What the statement writes, or none after a report.
  std::optional<CellState> evaluate(size_t index) {
    const Statement &statement = instance.statements[index];
    const Place &destination = statement.destination;
    LocationIndex location = statement.location;
    if (!checkBounds(destination, location))
      return std::nullopt;
    if (destination.buffer == InstanceBuffer::Input) {
      report(location, fmt::format("writes {}: the caller's input is never written",
                                   instance.describe(destination)));
      return std::nullopt;
    }

    if (destination.buffer == InstanceBuffer::Output &&
        !cells.collective().mayWrite(destination.rank, destination.index)) {
      report(location, fmt::format("writes {}, of which the contract promises nothing: what the "
                                   "caller has there stays",
                                   instance.describe(destination)));
      return std::nullopt;
    }

    std::vector<Place> operands;
    if (statement.kind == StatementKind::Reduce)
      operands.push_back(destination);
    auto sources = instance.sourcesOf(statement);
    operands.insert(operands.end(), sources.begin(), sources.end());
    if (operands.empty()) {
      report(location, "combines no operands; expected at least one");
      return std::nullopt;
    }

    CellState result;
    result.writer = static_cast<int64_t>(index);
    if (destination.buffer != InstanceBuffer::Scratch)
      result.length = destination.index % instance.chunks;
    Contributions sum;
    Place lengthGiver = destination;
    for (const Place &operand : operands) {
      if (!checkBounds(operand, location))
        return std::nullopt;
      CellState state = read(operand);
      if (!state.value) {
        reportUnset(statement, operand);
        return std::nullopt;
      }
      if (result.length == unknownLength) {
        result.length = state.length;
        lengthGiver = operand;
      } else if (state.length != result.length) {
        report(
            location,
            fmt::format("{} is chunk {} of its segment and {} chunk {}: their lengths may differ "
                        "for counts that {} does not divide",
                        instance.describe(operand), state.length, instance.describe(lengthGiver),
                        result.length, instance.chunks));
        return std::nullopt;
      }
      Contributions twice = sum.common(*state.value);
      if (!twice.empty() && !cells.collective().mayRepeat()) {
        Finding &finding =
            report(location, fmt::format("{} is combined twice into {}", twice.describe(),
                                         instance.describe(destination)));
        for (const Place &other : operands)
          noteWriter(finding, read(other), other);
        return std::nullopt;
      }
      cells.collective().combineInto(sum, *state.value);
    }

    bool combining =
        statement.kind == StatementKind::Reduce || statement.kind == StatementKind::Combine;
    if (statement.kind == StatementKind::Copy && operands[0].rank != destination.rank) {
      report(location, fmt::format("copies from rank {} to rank {}; expected one rank (use send)",
                                   operands[0].rank, destination.rank));
      return std::nullopt;
    }
    proof.completes[index] = combining && cells.collective().hasCompleteValues() &&
                             operands.size() > 1 &&
                             static_cast<int64_t>(sum.list().size()) == instance.ranks;
    proof.lengths[index] = result.length;
    result.value = std::make_shared<const Contributions>(std::move(sum));
    return result;
  }

  void reportUnset(const Statement &statement, const Place &place) {
    const char *verb = statement.kind == StatementKind::Reduce && place == statement.destination
                           ? "accumulates into"
                           : "reads";
    Finding &finding = report(statement.location, fmt::format("{} {}, which holds nothing yet",
                                                              verb, instance.describe(place)));
    // A later write hints at a wrong order.
    for (const Statement &other : instance.statements)
      if (&other > &statement && other.destination == place) {
        finding.notes.push_back({other.location, "it is written only here, later"});
        break;
      }
  }

  void checkPromise() {
    const CollectiveShape &shape = cells.collective();
    for (int64_t kind = 0; kind < instance.symmetry.kinds(shape.ranks); ++kind)
      for (int64_t index = 0; index < shape.outputChunks() && !full(); ++index)
        if (int64_t rank = instance.symmetry.representative(kind);
            auto promise = shape.promise(rank, index))
          checkOutput(rank, index, *promise);
  }

  void checkOutput(int64_t rank, int64_t index, const Contributions &promise) {
    const CollectiveShape &shape = cells.collective();
    Place output{InstanceBuffer::Output, static_cast<int32_t>(rank), index};
    CellState state = states[cells.of(output)];
    if (!state.value)
      if (auto input = shape.dataToInput(rank, shape.outputToData(rank, index)); input)
        state.value = inputValue(output.rank, *input);
    Contributions held = state.value ? *state.value : Contributions();
    if (held == promise)
      return;
    Contributions missing = promise.without(held), foreign = held.without(promise);
    std::string message = fmt::format("{} ends with {} instead of {}", instance.describe(output),
                                      held.describe(), promise.describe());
    if (!missing.empty() && !held.empty())
      message += fmt::format("; missing: {}", missing.describe());
    if (!foreign.empty())
      message += fmt::format("; foreign: {}", foreign.describe());
    if (state.writer >= 0)
      report(locationOf(state.writer), message + " (this statement wrote there last)");
    else
      report(algorithmLocation, message + "; no statement writes there");
  }

  const Instance &instance;
  LocationIndex algorithmLocation;
  Cells cells;
  std::vector<CellState> states;
  CollectiveProof proof;
};

} // namespace

CollectiveProof verifyCollective(const Instance &instance, LocationIndex algorithmLocation) {
  return Verifier(instance, algorithmLocation).run();
}

} // namespace coil
