//===- Contributions.h - Which inputs a value was made from -----*- C++ -*-===//
//
// The proof's values: a multiset of input chunks that were combined. A value
// that was only moved is the set of one chunk.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_SEMANTICS_CONTRIBUTIONS_H
#define COIL_COMPILER_SEMANTICS_CONTRIBUTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace coil {

/// Chunk `chunk` (over all segments) of rank `rank`'s input, combined `count` times.
struct Contribution {
  int32_t rank = 0;
  uint32_t count = 1;
  int64_t chunk = 0;

  bool operator==(const Contribution &) const = default;
};

class Contributions {
public:
  Contributions() = default;
  /// In any order; no rank's chunk twice.
  explicit Contributions(std::vector<Contribution> contributions);
  static Contributions of(int32_t rank, int64_t chunk);

  bool empty() const { return entries.empty(); }
  /// Sorted by chunk, then rank.
  const std::vector<Contribution> &list() const { return entries; }

  /// Adds the other's contributions; counts of common ones add up.
  void add(const Contributions &other);
  /// Adds the other's contributions; of common ones the larger count stays.
  void unite(const Contributions &other) { add(other.without(*this)); }
  /// The contributions that both have, with the smaller count.
  Contributions common(const Contributions &other) const;
  /// What is left after taking away the other's counts.
  Contributions without(const Contributions &other) const;

  bool operator==(const Contributions &) const = default;

  /// As a user reads it, ranks compressed into ranges: "input[3] of ranks 0-2 and 5";
  /// counts above one are said: "input[3] of rank 1 (2 times)".
  std::string describe() const;

private:
  std::vector<Contribution> entries;
};

/// "rank 3", "ranks 0-2 and 5"; the numbers must be sorted.
std::string describeRanks(const std::vector<int64_t> &ranks);

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_CONTRIBUTIONS_H
