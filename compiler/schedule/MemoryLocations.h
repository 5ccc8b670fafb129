//===- MemoryLocations.h - Places that are the same memory ------*- C++ -*-===//

#ifndef COIL_COMPILER_SCHEDULE_MEMORYLOCATIONS_H
#define COIL_COMPILER_SCHEDULE_MEMORYLOCATIONS_H

#include "compiler/semantics/ExecSymmetry.h"

namespace coil {

/// Numbers the chunks of memory of all kinds of ranks: places that are images of each
/// other have one number. In place, an input chunk and the
/// output chunk that it becomes have one number. So they have in a form that also
/// serves calls in place; out of place it then orders more than it must.
class MemoryLocations {
public:
  MemoryLocations(CollectiveShape shape, const Symmetry &symmetry, bool inPlace,
                  const std::vector<int64_t> &scratch)
      : shape(shape), symmetry(symmetry), mayShare(inPlace || shape.hasOneForm()) {
    base.reserve(scratch.size());
    for (int64_t chunks : scratch) {
      base.push_back(count);
      count += static_cast<size_t>(shape.inputChunks() + shape.outputChunks() + chunks);
    }
  }

  size_t size() const { return count; }

  size_t of(ExecPlace place) const {
    place = shiftPlace(shape, symmetry, place, symmetry.inverse(symmetry.shiftOf(place.rank)));
    if (mayShare && place.buffer == ExecBuffer::Input)
      if (auto output = shape.inputToOutputInPlace(place.rank, place.index))
        place = {ExecBuffer::Output, place.rank, *output};
    int64_t offset = place.index;
    if (place.buffer != ExecBuffer::Input)
      offset += shape.inputChunks();
    if (place.buffer == ExecBuffer::Scratch)
      offset += shape.outputChunks();
    return base[static_cast<size_t>(symmetry.kindOf(place.rank))] + static_cast<size_t>(offset);
  }

private:
  CollectiveShape shape;
  Symmetry symmetry;
  bool mayShare;
  std::vector<size_t> base;
  size_t count = 0;
};

} // namespace coil

#endif // COIL_COMPILER_SCHEDULE_MEMORYLOCATIONS_H
