//===- OwnContract.h - What an algorithm itself promises --------*- C++ -*-===//
//
// The promise of an algorithm that implements no collective of the library but
// states its own, for given ranks. Compiler, plan and coil-run share it.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BASE_OWNCONTRACT_H
#define COIL_RUNTIME_BASE_OWNCONTRACT_H

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace coil {

/// Segments of each buffer, and of each output segment that is promised the input
/// segments whose combination it is; one alone is a copy. Output segments without a
/// promise stay as the caller has them.
struct OwnContract {
  /// An input segment of a rank.
  struct Source {
    uint32_t rank = 0;
    uint32_t segment = 0;

    auto operator<=>(const Source &) const = default;
  };
  /// Of output segment `segment` on `rank`: a run of `sources`.
  struct Promise {
    uint32_t rank = 0;
    uint32_t segment = 0;
    uint32_t firstSource = 0;
    uint32_t sourceCount = 0;

    bool operator==(const Promise &) const = default;
  };

  /// Of every rank's input and output.
  uint32_t inputSegments = 0;
  uint32_t outputSegments = 0;
  /// Ascending by rank, then by segment.
  std::vector<Promise> promises;
  /// Of each promise ascending and different.
  std::vector<Source> sources;

  bool operator==(const OwnContract &) const = default;

  /// Null if nothing is promised there.
  const Promise *find(uint32_t rank, uint32_t segment) const;
  std::span<const Source> sourcesOf(const Promise &promise) const {
    return std::span(sources).subspan(promise.firstSource, promise.sourceCount);
  }
  /// True if some promise combines.
  bool combines() const;
};

/// What a contract may have at most.
inline constexpr uint32_t maxContractSegments = 1u << 20;
inline constexpr uint32_t maxContractSources = 1u << 22;

} // namespace coil

#endif // COIL_RUNTIME_BASE_OWNCONTRACT_H
