//===- Rolling.h - Loops found in sequences ---------------------*- C++ -*-===//
//
// Finds groups of items that follow each other several times. Items are compared
// by shape alone; whether their numbers make a good loop is for the caller to say.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CODEGEN_ROLLING_H
#define COIL_RUNTIME_CODEGEN_ROLLING_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace coil::codegen {

/// A part of a rolled sequence: an item, or a loop.
struct Rolled {
  size_t first = 0;  ///< the item; of a loop, the first of its first step
  uint32_t trip = 1; ///< steps of a loop; 1: an item
  size_t period = 1; ///< items of a step, which follow those of the step before
  std::vector<Rolled> body;

  bool operator==(const Rolled &) const = default;
};

/// A loop that may be made: `trip` steps of `period` items each.
struct RollLoop {
  uint32_t trip;
  size_t period;
};

struct RollPolicy {
  /// Numbers of the items [first, first + period of the innermost loop) that have
  /// no expression over the steps of these loops, outermost first.
  std::function<size_t(size_t first, std::span<const RollLoop> loops)> misfits;
  /// How well a loop's step begins with an item of this shape, less is better: a
  /// step that begins with a wait reads better than one that ends with it.
  std::function<int(uint32_t shape)> startCost = [](uint32_t) { return 0; };
};

/// The sequence with its loops, the longest first and loops within loops. Takes
/// time in proportion to the number of items (and to what `misfits` takes).
std::vector<Rolled> roll(std::span<const uint32_t> shapes, const RollPolicy &policy);

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_ROLLING_H
