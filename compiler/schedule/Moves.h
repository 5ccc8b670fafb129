//===- Moves.h - An instance's statements on real memory --------*- C++ -*-===//
//
// Statements speak of the view in place; memory is the caller's send and
// receive buffers and scratch. Moves are the same statements with a place in
// memory chosen for each, for calls in place or out of place.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SCHEDULE_MOVES_H
#define COIL_COMPILER_SCHEDULE_MOVES_H

#include "compiler/schedule/ExecProgram.h"
#include "compiler/semantics/CollectiveVerifier.h"

#include <vector>

namespace coil {

/// destination := operands combined left to right (one operand: a plain move).
/// An operand on another rank than the destination's is a message.
struct Move {
  ExecPlace destination;
  std::vector<ExecPlace> operands;
  int64_t length = 0;
  bool complete = false;
  /// Moves of one exchange block are adjacent, have the same non-zero number, and
  /// all read the state before the block.
  uint32_t exchange = 0;
  LocationIndex location = 0;
  /// Which of the program's workers runs it; messages come from the same one of their ranks.
  uint32_t worker = 0;
};

/// Moves to representatives, each of which stands for its images (see Instance).
struct MoveProgram {
  Symmetry symmetry;
  /// Workers of a rank. No two touch the same memory.
  int64_t workers = 1;
  std::vector<Move> moves;
  /// Chunks of scratch on a rank of each kind.
  std::vector<int64_t> scratch;
};

/// Chooses memory for a proved instance. A read of a place that was never
/// written reads the input; a place that ends as output lies there; every other
/// written place gets scratch. Copies are added for outputs that no statement
/// writes, and, in place, for places whose input is still read after they were
/// written. The result keeps every statement's meaning. Of a collective with one form,
/// out of place is right in place too: where memory is one, some copies are of a
/// place onto itself.
MoveProgram assignStorage(const Instance &instance, const CollectiveProof &proof, bool inPlace,
                          LocationIndex algorithmLocation);

} // namespace coil

#endif // COIL_COMPILER_SCHEDULE_MOVES_H
