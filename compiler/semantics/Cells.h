//===- Cells.h - The places that an instance's statements share --*- C++ -*-===//
//
// A program may name one place in two ways: output[j] is the data chunk that
// ends as output j. A cell is a place under its one number; the input is no
// cell, since nothing writes it. Places that are images of each other under the
// instance's symmetry are one cell, that on the representative.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_CELLS_H
#define COIL_COMPILER_SEMANTICS_CELLS_H

#include "compiler/semantics/Collectives.h"
#include "compiler/semantics/Instance.h"

namespace coil {

/// Numbers the cells of all kinds of ranks: first the data chunks, then the scratch.
class Cells {
public:
  /// `instance` must outlive this.
  explicit Cells(const Instance &instance)
      : shape{instance.collective, instance.ranks, instance.root, instance.chunks,
              instance.contract},
        symmetry(instance.symmetry), dataCount(shape.dataChunks()),
        perRank(dataCount + instance.scratchChunks()) {}

  const CollectiveShape &collective() const { return shape; }
  size_t size() const { return static_cast<size_t>(perRank * symmetry.kinds(shape.ranks)); }

  /// Chunks that the buffer of a place has on its rank.
  int64_t chunksOf(InstanceBuffer buffer) const {
    switch (buffer) {
    case InstanceBuffer::Input:
      return shape.inputChunks();
    case InstanceBuffer::Output:
      return shape.outputChunks();
    case InstanceBuffer::Data:
      return dataCount;
    case InstanceBuffer::Scratch:
      return perRank - dataCount;
    }
    return 0;
  }

  /// The cell of a place in bounds that is not in the input.
  size_t of(const Place &place) const {
    switch (place.buffer) {
    case InstanceBuffer::Output:
      return ofData(place.rank, shape.outputToData(place.rank, place.index));
    case InstanceBuffer::Scratch:
      return static_cast<size_t>(symmetry.kindOf(place.rank) * perRank + dataCount + place.index);
    default:
      return ofData(place.rank, place.index);
    }
  }
  size_t ofData(int64_t rank, int64_t index) const {
    if (int64_t shift = symmetry.shiftOf(rank))
      index = shape.shiftIndex(symmetry, index, dataCount, symmetry.inverse(shift));
    return static_cast<size_t>(symmetry.kindOf(rank) * perRank + index);
  }

  bool isScratch(size_t cell) const { return indexOf(cell) >= dataCount; }
  /// The representative whose cell it is.
  int64_t rankOf(size_t cell) const {
    return symmetry.representative(static_cast<int64_t>(cell) / perRank);
  }
  /// The data chunk of a data cell; for scratch, data chunks + the scratch chunk.
  int64_t indexOf(size_t cell) const { return static_cast<int64_t>(cell) % perRank; }

private:
  CollectiveShape shape;
  const Symmetry &symmetry;
  int64_t dataCount;
  int64_t perRank;
};

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_CELLS_H
