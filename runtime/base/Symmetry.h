//===- Symmetry.h - Ranks that do alike -------------------------*- C++ -*-===//
//
// Most programs are the same for all ranks, or for all ranks of a kind, but for the
// numbers of ranks and chunks in them: what rank r does with chunk c, rank r + 1 does
// with chunk c + 1. Such a program is kept, scheduled and proved for one rank of each
// kind, its representative.
//
// A rank number is read as digits of a mixed radix. A shift adds to some digits, each
// modulo its radix; a chunk's number moves with the digits that its own weights name.
// One digit of radix P is a ring, log2 P digits of radix 2 are the exclusive or, and
// two digits are nodes and local ranks.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BASE_SYMMETRY_H
#define COIL_RUNTIME_BASE_SYMMETRY_H

#include "runtime/base/Types.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coil {

/// A digit that shifts add to.
struct SymmetryDigit {
  /// The digit of rank r is r / weight % radix.
  int64_t weight = 1;
  int64_t radix = 1;
  /// Likewise the digit of a chunk of a segment that moves along; 0: chunks stay.
  int64_t chunkWeight = 0;

  bool operator==(const SymmetryDigit &) const = default;

  /// `number`, whose digit of this radix has the weight, with `amount` added to it.
  int64_t add(int64_t number, int64_t amount, int64_t digitWeight) const {
    int64_t digit = number / digitWeight % radix;
    return number + ((digit + amount) % radix - digit) * digitWeight;
  }
};

/// True if what the collective promises goes over into itself under every shift.
bool treatsRanksAlike(Collective collective);

/// What is wrong with the digits for so many ranks and chunks a segment; empty if nothing.
std::string findFault(const std::vector<SymmetryDigit> &digits, int64_t ranks, int64_t chunks);

/// A group of shifts of ranks, and the kinds of ranks that they leave. Shifts are
/// numbered from 0, which moves nothing; kinds are numbered in the order of their
/// smallest ranks, the representatives.
class Symmetry {
public:
  /// No shift but 0: every rank is a kind of its own.
  Symmetry() = default;
  /// `findFault` must have nothing against the digits.
  Symmetry(int64_t ranks, std::vector<SymmetryDigit> digits);

  bool isTrivial() const { return digits.empty(); }
  const std::vector<SymmetryDigit> &shiftedDigits() const { return digits; }
  /// Number of shifts.
  int64_t shifts() const { return shiftCount; }

  /// Number of kinds of `ranks` ranks.
  int64_t kinds(int64_t ranks) const { return ranks / shiftCount; }
  int64_t kindOf(int64_t rank) const {
    return isTrivial() ? rank : kindOfRank[static_cast<size_t>(rank)];
  }
  int64_t representative(int64_t kind) const {
    return isTrivial() ? kind : representatives[static_cast<size_t>(kind)];
  }
  /// The shift that leads to `rank` from its kind's representative.
  int64_t shiftOf(int64_t rank) const {
    return isTrivial() ? 0 : shiftOfRank[static_cast<size_t>(rank)];
  }

  /// The sum of two shifts.
  int64_t sum(int64_t a, int64_t b) const;
  int64_t inverse(int64_t shift) const;
  /// The shift that leads from one rank to another of the same kind.
  int64_t between(int64_t from, int64_t to) const {
    return sum(shiftOf(to), inverse(shiftOf(from)));
  }

  int64_t shiftRank(int64_t rank, int64_t shift) const;
  /// Of a chunk of a segment.
  int64_t shiftChunk(int64_t chunk, int64_t shift) const;
  /// Of a chunk of a buffer of several segments, of which segment s belongs to rank s;
  /// `chunks` are in a segment.
  int64_t shiftSegmented(int64_t index, int64_t chunks, int64_t shift) const {
    return shiftRank(index / chunks, shift) * chunks + shiftChunk(index % chunks, shift);
  }

  bool operator==(const Symmetry &other) const { return digits == other.digits; }

private:
  /// Calls `visit(digit, amount)` for the digits that the shift adds to.
  template <typename Visit> void forEachDigit(int64_t shift, Visit visit) const {
    for (const SymmetryDigit &digit : digits) {
      if (int64_t amount = shift % digit.radix)
        visit(digit, amount);
      shift /= digit.radix;
    }
  }

  std::vector<SymmetryDigit> digits;
  int64_t shiftCount = 1;
  std::vector<int64_t> kindOfRank, shiftOfRank, representatives;
};

} // namespace coil

#endif // COIL_RUNTIME_BASE_SYMMETRY_H
