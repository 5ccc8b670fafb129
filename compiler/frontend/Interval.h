//===- Interval.h - What is known of an integer before the run ---*- C++ -*-===//
//
// The number of ranks is not known when a program is checked, so a bound is a
// line in it: factor * ranks + constant. Something holds of an interval only if
// it holds for every number of ranks from 1 on; operations that cannot be
// expressed this way give wider intervals, never wrong ones.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_FRONTEND_INTERVAL_H
#define COIL_COMPILER_FRONTEND_INTERVAL_H

#include <cstdint>
#include <optional>
#include <string>

namespace coil {

/// factor * ranks + constant.
struct Bound {
  int64_t factor = 0;
  int64_t constant = 0;
  bool operator==(const Bound &) const = default;
};

/// True if a <= b for every number of ranks; false if not, or if unknown.
bool alwaysAtMost(Bound a, Bound b);
/// True if a < b for every number of ranks; false if not, or if unknown.
bool alwaysBelow(Bound a, Bound b);
/// "3", "ranks", "2 * ranks - 1".
std::string toString(Bound bound);

/// The values from `low` to `high`, both included; a missing bound is unknown.
struct Interval {
  std::optional<Bound> low, high;

  static Interval constant(int64_t value) { return {Bound{0, value}, Bound{0, value}}; }
  static Interval ranks() { return {Bound{1, 0}, Bound{1, 0}}; }
  static Interval atLeast(int64_t value) { return {Bound{0, value}, std::nullopt}; }

  /// The value, if it is the same whatever the number of ranks is.
  std::optional<int64_t> asConstant() const;
  bool isExact() const { return low && high && *low == *high; }
  bool isAtLeast(int64_t value) const { return low && alwaysAtMost({0, value}, *low); }
  bool isBelow(int64_t value) const { return high && alwaysBelow(*high, {0, value}); }
  bool isAtMost(int64_t value) const { return high && alwaysAtMost(*high, {0, value}); }
};

/// "5" for an exact value; else its bound: "at least ranks", "at most -1".
/// The bound that is asked for must be known.
std::string describeLow(const Interval &interval);
std::string describeHigh(const Interval &interval);

Interval add(const Interval &a, const Interval &b);
Interval subtract(const Interval &a, const Interval &b);
Interval negate(const Interval &a);
Interval multiply(const Interval &a, const Interval &b);
/// Division and remainder round towards minus infinity.
Interval floorDivide(const Interval &a, const Interval &b);
Interval floorRemainder(const Interval &a, const Interval &b);
Interval shiftRight(const Interval &a, const Interval &b);
Interval bitAnd(const Interval &a, const Interval &b);
/// Both `|` and `^`.
Interval bitOr(const Interval &a, const Interval &b);
Interval minimum(const Interval &a, const Interval &b);
Interval maximum(const Interval &a, const Interval &b);

/// The truth of a comparison, if it is the same for all values.
std::optional<bool> isLess(const Interval &a, const Interval &b);
std::optional<bool> isLessEqual(const Interval &a, const Interval &b);
std::optional<bool> isEqual(const Interval &a, const Interval &b);

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_INTERVAL_H
