//===- CheckData.h - Inputs whose results are known -------------*- C++ -*-===//
//
// Inputs as a function of (rank, element), and the result that follows, computed
// element by element without any code of the runtime.
//
// Exact data tells ranks and elements apart, and makes every partial result an
// exact value of the type whatever the order of combination is, so that results
// are compared bit for bit:
//  - sum, avg, premulsum of floats: whole numbers, scaled by a power of two that
//    the ranks share, whose sums stay below the type's largest exact integer.
//    Where there are more ranks than that, all but a few contribute 0;
//  - prod of floats: signs, a few factors of 2 and 1/2, and one factor of 1.5;
//  - max and min of floats: odd whole numbers times powers of two;
//  - integers, which wrap: any bits, but odd ones for prod;
//  - collectives that combine nothing: any bits, NaNs among them.
//
// Under a contract of an algorithm's own, data is a function of (segment of a rank,
// element of the segment): each segment is a contributor of its own, as a rank is
// elsewhere, so that any of them can be summed.
//
// Random data rounds. It changes sum, avg, premulsum and prod of floats only,
// which are compared within ((1 + u)^k - 1) * m + k * s: u is the unit roundoff
// of the type (plus f32's for narrower types, which accumulate in f32), k the
// number of ranks plus one for avg's division or premulsum's product, m the sum
// of the operands' magnitudes (prod: the product's magnitude), s the smallest
// subnormal.
//
// Inputs repeat with a prime period that does not divide the count. So filling
// and comparing run at the speed of memory, yet a chunk, a segment or a tile of
// 2^k elements that ends in a wrong place always shows.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TOOLS_COIL_RUN_CHECKDATA_H
#define COIL_TOOLS_COIL_RUN_CHECKDATA_H

#include "runtime/base/OwnContract.h"
#include "runtime/base/Status.h"
#include "runtime/base/Types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coil::run {

enum class DataKind : uint8_t { Exact, Random };

/// What a receive buffer holds before a checked call, and afterwards where nothing is
/// promised of it.
inline constexpr std::byte unsetByte{0xcb};

/// What is called with what kind of data.
struct DataSpec {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::F32;
  /// Read only if the collective combines.
  ReduceOp op = ReduceOp::Sum;
  DataKind kind = DataKind::Exact;
  int ranks = 1;
  /// Read only if the collective has a root.
  int root = 0;
  /// As the call takes it.
  uint64_t count = 0;
  /// Of Collective::Custom; must outlive the data.
  const OwnContract *contract = nullptr;
  /// Other salts give other data.
  uint64_t salt = 0;
  /// Every rank's scalar for premulsum; without it 2 on even ranks, 1 on odd ones.
  std::optional<double> scalar;
};

/// Whether `scalar` is one that data of this kind can be made for.
Status validateScalar(double scalar, DataType type, DataKind kind);

/// An element that is not what it should be.
struct Mismatch {
  uint64_t index;
  std::string expected;
  std::string found;
};

/// What a comparison found.
struct Comparison {
  uint64_t wrong = 0;
  /// The first few.
  std::vector<Mismatch> first;
};

/// What part of a buffer should be: elements of `tile` over and over.
struct Repetition {
  uint64_t begin = 0;        ///< first element of the buffer
  uint64_t count = 0;        ///< elements of the buffer
  uint64_t firstElement = 0; ///< of the tile, or of its repetitions, that comes first
  std::vector<std::byte> tile;
};

/// Makes and checks the data of one call. Buffers may be unaligned.
class CheckData {
public:
  /// Requires ranks >= 1, 0 <= root < ranks, and a scalar that validateScalar
  /// accepts.
  explicit CheckData(const DataSpec &spec);

  /// Elements of `rank`'s send and receive buffer, 0 where it has none.
  uint64_t inputCount(int rank) const { return hasInput(rank) ? inputElements : 0; }
  uint64_t outputCount(int rank) const { return hasOutput(rank) ? outputElements : 0; }
  bool hasInput(int rank) const;
  bool hasOutput(int rank) const;

  /// Writes the inputCount() elements of `rank`'s send buffer.
  void fillInput(int rank, std::byte *input) const;
  /// Compares the elements `begin` up to `end` of `rank`'s send buffer, which
  /// begins at `input`, to what fillInput wrote.
  Comparison checkInput(int rank, const std::byte *input, uint64_t begin, uint64_t end) const;
  /// What these elements should be, in parts that repeat each for itself.
  std::vector<Repetition> expectedInput(int rank, uint64_t begin, uint64_t end) const;
  /// Whether results are compared bit for bit.
  bool isExact() const { return !rounds(); }
  /// Parts of `rank`'s receive buffer that repeat each for itself.
  int outputParts(int rank) const;
  /// What a part of `rank`'s receive buffer should be, without rounding.
  Repetition expectedOutput(int rank, int part) const;
  /// Compares the outputCount() elements of `rank`'s receive buffer to the result.
  Comparison checkOutput(int rank, const std::byte *output) const;
  /// The code of `rank`'s scalar for premulsum.
  uint64_t scalarCode(int rank) const;

private:
  /// A result that rounding may change.
  struct Bounded {
    double value;
    double bound;
  };

  /// Whose data is combined: ranks or, under a contract, their segments.
  using Contributors = std::vector<uint64_t>;
  uint64_t contributor(uint64_t rank, uint64_t segment) const {
    return rank * contributorsOfRank + segment;
  }
  Contributors contributorsOf(const OwnContract::Promise &promise) const;

  uint64_t inputCode(uint64_t contributor, uint64_t index) const;
  double inputValue(uint64_t contributor, uint64_t index) const;
  double exactTerm(uint64_t contributor, uint64_t own, uint64_t element) const;
  double randomTerm(uint64_t own) const;
  double factor(uint64_t contributor, uint64_t own, uint64_t element) const;
  bool isActive(uint64_t contributor, uint64_t element, uint64_t most) const;
  bool combinesFloats() const;
  bool rounds() const;

  uint64_t expectedFloat(const Contributors &combined, uint64_t index) const;
  uint64_t expectedInteger(const Contributors &combined, uint64_t index) const;
  Bounded expectedRounded(const Contributors &combined, uint64_t index) const;

  /// Elements after which a contributor's data begins anew or ends.
  uint64_t tileElements() const { return std::min(period, contributorElements); }
  std::vector<std::byte> inputTile(uint64_t contributor) const;
  std::vector<std::byte> expectedTile(const Contributors &combined) const;
  void compare(const std::byte *buffer, const Repetition &expected, Comparison &result) const;
  /// The result's element that `rank`'s receive buffer begins with.
  uint64_t firstOutput(int rank) const;
  /// Compares a part of a receive buffer that begins with the result's element
  /// `part.firstElement`; the tile does not matter.
  void checkRounded(const std::byte *output, const Repetition &part, const Contributors &combined,
                    Comparison &result) const;

  DataSpec spec;
  /// Of a rank that has the buffer.
  uint64_t inputElements, outputElements;
  bool isCombining;
  uint64_t contributorsOfRank = 1;
  /// Of all ranks.
  uint64_t contributorCount;
  /// Of one contributor.
  uint64_t contributorElements;
  /// Without a contract, all.
  Contributors everyRank;
  /// Elements after which data repeats; a tile's length is this or, if less, the
  /// number of elements.
  uint64_t period;
  /// Exact sums: contributors that are not 0, and the largest whole number of each.
  uint64_t active = 1;
  int64_t largestTerm = 1;
  /// Random sums: the terms' common scale.
  double randomScale = 1;
};

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_CHECKDATA_H
