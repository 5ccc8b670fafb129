//===- ExecSymmetry.h - Images of rank programs -----------------*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_EXECSYMMETRY_H
#define COIL_COMPILER_SEMANTICS_EXECSYMMETRY_H

#include "compiler/schedule/ExecProgram.h"
#include "compiler/semantics/Collectives.h"

namespace coil {

/// Where a shift moves a place in a variant for a collective of this shape.
inline ExecPlace shiftPlace(const CollectiveShape &shape, const Symmetry &symmetry, ExecPlace place,
                            int64_t shift) {
  if (shift == 0)
    return place;
  place.rank = static_cast<int32_t>(symmetry.shiftRank(place.rank, shift));
  if (place.buffer != ExecBuffer::Scratch)
    place.index = shape.shiftIndex(
        symmetry, place.index,
        place.buffer == ExecBuffer::Input ? shape.inputChunks() : shape.outputChunks(), shift);
  return place;
}

/// The variant with a program for every rank and no symmetry. It grows by the number of
/// shifts.
ExecVariant withAllRanks(const ExecPlan &plan, const ExecVariant &variant);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXECSYMMETRY_H
