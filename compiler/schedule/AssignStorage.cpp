//===- AssignStorage.cpp - Memory for an instance's places ----------------===//

#include "compiler/schedule/Moves.h"

#include "compiler/semantics/Cells.h"
#include "compiler/semantics/ExecSymmetry.h"

#include <algorithm>
#include <limits>

namespace coil {

namespace {

class StorageAssigner {
public:
  StorageAssigner(const Instance &instance, const CollectiveProof &proof, bool inPlace,
                  LocationIndex algorithmLocation)
      : instance(instance), proof(proof), inPlace(inPlace), algorithmLocation(algorithmLocation),
        cells(instance), storage(cells.size()), written(cells.size(), false) {
    program.symmetry = instance.symmetry;
    program.workers = instance.workers;
    program.scratch.resize(static_cast<size_t>(instance.symmetry.kinds(instance.ranks)), 0);
  }

  MoveProgram run() {
    chooseStorage();
    for (size_t i = 0; i < instance.statements.size();) {
      size_t end = i + 1;
      uint32_t exchange = instance.statements[i].exchange;
      while (exchange && end < instance.statements.size() &&
             instance.statements[end].exchange == exchange)
        ++end;
      addMoves(i, end);
      i = end;
    }
    addFinalCopies();
    return std::move(program);
  }

private:
  static constexpr size_t never = std::numeric_limits<size_t>::max();

  ExecPlace newScratch(int64_t rank) {
    return {ExecBuffer::Scratch, static_cast<int32_t>(rank),
            program.scratch[static_cast<size_t>(instance.symmetry.kindOf(rank))]++};
  }

  /// Decides where each written cell lives.
  void chooseStorage() {
    const CollectiveShape &shape = cells.collective();
    std::vector<size_t> firstWrite(cells.size(), never);
    for (size_t i = 0; i < instance.statements.size(); ++i) {
      size_t cell = cells.of(instance.statements[i].destination);
      firstWrite[cell] = std::min(firstWrite[cell], i);
    }

    // In place, a cell shares memory with the input it begins as. Where the program
    // names that input after the cell was written, the cell must live elsewhere.
    std::vector<bool> inputOutlives(cells.size(), false);
    if (inPlace || shape.hasOneForm())
      for (size_t i = 0; i < instance.statements.size(); ++i)
        for (const Place &source : instance.sourcesOf(instance.statements[i]))
          if (source.buffer == InstanceBuffer::Input)
            if (auto output = shape.inputToOutputInPlace(source.rank, source.index)) {
              size_t cell = cells.ofData(source.rank, shape.outputToData(source.rank, *output));
              const Statement &writer = instance.statements[std::min(firstWrite[cell], i)];
              // A statement may read what it overwrites; so may its exchange block's others.
              bool sameBlock =
                  writer.exchange && writer.exchange == instance.statements[i].exchange;
              if (firstWrite[cell] < i && !sameBlock)
                inputOutlives[cell] = true;
            }

    for (size_t cell = 0; cell < cells.size(); ++cell) {
      if (firstWrite[cell] == never)
        continue;
      int64_t rank = cells.rankOf(cell);
      std::optional<int64_t> output;
      if (!cells.isScratch(cell))
        output = shape.dataToOutput(rank, cells.indexOf(cell));
      storage[cell] = output && !inputOutlives[cell]
                          ? ExecPlace{ExecBuffer::Output, static_cast<int32_t>(rank), *output}
                          : newScratch(rank);
    }
  }

  /// Where a read of the place finds its value now.
  ExecPlace resolve(const Place &place) const {
    if (place.buffer == InstanceBuffer::Input)
      return {ExecBuffer::Input, place.rank, place.index};
    const CollectiveShape &shape = cells.collective();
    size_t cell = cells.of(place);
    if (written[cell])
      return shiftPlace(shape, instance.symmetry, storage[cell],
                        instance.symmetry.shiftOf(place.rank));
    // The proof has shown that a value is there, so it is the input's.
    int64_t data = place.buffer == InstanceBuffer::Output
                       ? shape.outputToData(place.rank, place.index)
                       : place.index;
    return {ExecBuffer::Input, place.rank, *shape.dataToInput(place.rank, data)};
  }

  void addMoves(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Statement &statement = instance.statements[i];
      Move move;
      move.destination = storage[cells.of(statement.destination)];
      if (statement.kind == StatementKind::Reduce)
        move.operands.push_back(resolve(statement.destination));
      for (const Place &source : instance.sourcesOf(statement))
        move.operands.push_back(resolve(source));
      move.length = proof.lengths[i];
      move.complete = proof.completes[i];
      move.exchange = statement.exchange;
      move.location = statement.location;
      move.worker = statement.worker;
      if (move.operands.size() > 1 || needsMove(move.operands[0], move.destination))
        program.moves.push_back(std::move(move));
    }
    for (size_t i = begin; i < end; ++i)
      written[cells.of(instance.statements[i].destination)] = true;
  }

  /// False where the value lies there already. The input of a collective that
  /// combines is no such value: an operator may scale it when it is read.
  bool needsMove(const ExecPlace &from, const ExecPlace &to) const {
    return canonical(from) != canonical(to) ||
           (from.buffer == ExecBuffer::Input && combines(instance.collective));
  }

  ExecPlace canonical(const ExecPlace &place) const {
    if (inPlace && place.buffer == ExecBuffer::Input)
      if (auto output = cells.collective().inputToOutputInPlace(place.rank, place.index))
        return {ExecBuffer::Output, place.rank, *output};
    return place;
  }

  /// Brings every promised output chunk to the output.
  void addFinalCopies() {
    const CollectiveShape &shape = cells.collective();
    for (int64_t kind = 0; kind < instance.symmetry.kinds(shape.ranks); ++kind)
      for (int64_t index = 0; index < shape.outputChunks(); ++index) {
        int64_t rank = instance.symmetry.representative(kind);
        if (!shape.promise(rank, index))
          continue;
        Place place{InstanceBuffer::Output, static_cast<int32_t>(rank), index};
        ExecPlace output{ExecBuffer::Output, place.rank, index};
        ExecPlace value = resolve(place);
        if (needsMove(value, output))
          program.moves.push_back({output,
                                   {value},
                                   index % instance.chunks,
                                   false,
                                   0,
                                   algorithmLocation,
                                   static_cast<uint32_t>(index % instance.workers)});
      }
  }

  const Instance &instance;
  const CollectiveProof &proof;
  bool inPlace;
  LocationIndex algorithmLocation;
  Cells cells;
  std::vector<ExecPlace> storage;
  std::vector<bool> written;
  MoveProgram program;
};

} // namespace

MoveProgram assignStorage(const Instance &instance, const CollectiveProof &proof, bool inPlace,
                          LocationIndex algorithmLocation) {
  return StorageAssigner(instance, proof, inPlace, algorithmLocation).run();
}

} // namespace coil
