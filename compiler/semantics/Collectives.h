//===- Collectives.h - What each collective promises ------------*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_COLLECTIVES_H
#define COIL_COMPILER_SEMANTICS_COLLECTIVES_H

#include "compiler/semantics/Contributions.h"
#include "runtime/base/OwnContract.h"
#include "runtime/base/Symmetry.h"
#include "runtime/base/Types.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace coil {

/// A collective for given ranks, root and chunks a segment: its buffers, its view
/// in place, and its promise. Chunk indices count over all segments of a buffer.
struct CollectiveShape {
  Collective collective = Collective::AllReduce;
  int64_t ranks = 1;
  int64_t root = 0;
  int64_t chunks = 1;
  /// Of `custom`, and of nothing else.
  std::shared_ptr<const OwnContract> contract = nullptr;

  /// Segments of the buffers that a rank has.
  SegmentCounts segments() const {
    return contract ? SegmentCounts{contract->inputSegments, contract->outputSegments}
                    : segmentCounts(collective, ranks);
  }
  /// Chunks of each rank's input and output.
  int64_t inputChunks() const { return segments().input * chunks; }
  int64_t outputChunks() const { return segments().output * chunks; }

  /// False where the caller need not give the buffer: off the root.
  bool hasInput(int64_t rank) const {
    return contract || segmentCounts(collective, ranks, rank == root).input > 0;
  }
  bool hasOutput(int64_t rank) const {
    return contract || segmentCounts(collective, ranks, rank == root).output > 0;
  }

  /// True if the collective has a view in place, `data`, which begins as the input
  /// and ends as the output.
  bool hasData() const;
  /// True if one form must serve calls in place and out of place: where there is a
  /// root, it alone knows which of the two its call is.
  bool hasOneForm() const { return hasRoot(collective); }
  /// Chunks of `data`; without a view in place, as many as the output has.
  int64_t dataChunks() const;
  /// The chunk of the input that data chunk `index` on `rank` begins as, if any.
  std::optional<int64_t> dataToInput(int64_t rank, int64_t index) const;
  /// The chunk of the output that data chunk `index` on `rank` ends as, if any.
  std::optional<int64_t> dataToOutput(int64_t rank, int64_t index) const;
  /// The inverse of dataToOutput.
  int64_t outputToData(int64_t rank, int64_t index) const;
  /// In place, the output chunk that shares memory with an input chunk, if any.
  std::optional<int64_t> inputToOutputInPlace(int64_t rank, int64_t index) const;

  /// Where a shift moves chunk `index` of a buffer of `bufferChunks` chunks: a buffer of
  /// several segments has one for each rank, which moves with it.
  int64_t shiftIndex(const Symmetry &symmetry, int64_t index, int64_t bufferChunks,
                     int64_t shift) const {
    return bufferChunks > chunks ? symmetry.shiftSegmented(index, chunks, shift)
                                 : symmetry.shiftChunk(index, shift);
  }

  /// What a shift makes of the inputs that a value was made from.
  Contributions shiftContributions(const Symmetry &symmetry, const Contributions &contributions,
                                   int64_t shift) const;

  /// What output chunk `index` on `rank` must hold in the end; none if nothing is
  /// promised there (the output of a rank other than the root).
  std::optional<Contributions> promise(int64_t rank, int64_t index) const;
  /// False for output chunks that must stay as the caller has them.
  bool mayWrite(int64_t rank, int64_t index) const;
  /// True if a value may be combined with what it holds already: where it matters that a
  /// rank was heard of and not how often.
  bool mayRepeat() const { return collective == Collective::Barrier; }
  /// Combines what a value was made from into what others were.
  void combineInto(Contributions &sum, const Contributions &value) const {
    mayRepeat() ? sum.unite(value) : sum.add(value);
  }
  /// True if combined values are complete once they have a contribution of every
  /// rank, which is where averages are divided.
  bool hasCompleteValues() const {
    return combines(collective) && collective != Collective::Barrier &&
           collective != Collective::Custom;
  }
};

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_COLLECTIVES_H
