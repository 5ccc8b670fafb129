//===- Interval.cpp - What is known of an integer before the run ----------===//

#include "compiler/frontend/Interval.h"

#include <fmt/format.h>

namespace coil {

using MaybeBound = std::optional<Bound>;

static MaybeBound add(const MaybeBound &a, const MaybeBound &b) {
  Bound sum;
  if (!a || !b || __builtin_add_overflow(a->factor, b->factor, &sum.factor) ||
      __builtin_add_overflow(a->constant, b->constant, &sum.constant))
    return std::nullopt;
  return sum;
}

static MaybeBound scale(const MaybeBound &a, int64_t by) {
  Bound product;
  if (!a || __builtin_mul_overflow(a->factor, by, &product.factor) ||
      __builtin_mul_overflow(a->constant, by, &product.constant))
    return std::nullopt;
  return product;
}

static MaybeBound negate(const MaybeBound &a) { return scale(a, -1); }

/// A line is at least 0 from ranks = 1 on if it is at 1 and does not fall.
static bool isNeverNegative(const MaybeBound &a) {
  int64_t atOne;
  return a && a->factor >= 0 && !__builtin_add_overflow(a->factor, a->constant, &atOne) &&
         atOne >= 0;
}

bool alwaysAtMost(Bound a, Bound b) {
  return isNeverNegative(add(MaybeBound(b), negate(MaybeBound(a))));
}

bool alwaysBelow(Bound a, Bound b) {
  MaybeBound next = add(MaybeBound(a), Bound{0, 1});
  return next && alwaysAtMost(*next, b);
}

std::string toString(Bound bound) {
  if (bound.factor == 0)
    return fmt::format("{}", bound.constant);
  std::string text = bound.factor == 1    ? "ranks"
                     : bound.factor == -1 ? "-ranks"
                                          : fmt::format("{} * ranks", bound.factor);
  if (bound.constant > 0)
    text += fmt::format(" + {}", bound.constant);
  else if (bound.constant < 0) // unsigned, since the smallest integer has no negative
    text += fmt::format(" - {}", -uint64_t(bound.constant));
  return text;
}

std::optional<int64_t> Interval::asConstant() const {
  return isExact() && low->factor == 0 ? std::optional(low->constant) : std::nullopt;
}

std::string describeLow(const Interval &interval) {
  return (interval.isExact() ? "" : "at least ") + toString(*interval.low);
}

std::string describeHigh(const Interval &interval) {
  return (interval.isExact() ? "" : "at most ") + toString(*interval.high);
}

Interval add(const Interval &a, const Interval &b) {
  return {add(a.low, b.low), add(a.high, b.high)};
}

Interval negate(const Interval &a) { return {negate(a.high), negate(a.low)}; }

Interval subtract(const Interval &a, const Interval &b) { return add(a, negate(b)); }

static Interval scale(const Interval &a, int64_t by) {
  if (by >= 0)
    return {scale(a.low, by), scale(a.high, by)};
  return {scale(a.high, by), scale(a.low, by)};
}

Interval multiply(const Interval &a, const Interval &b) {
  if (auto factor = a.asConstant())
    return scale(b, *factor);
  if (auto factor = b.asConstant())
    return scale(a, *factor);
  if (!a.isAtLeast(0) || !b.isAtLeast(0))
    return {};
  // The product of two lines is no line, so one factor must be a number.
  auto product = [](const MaybeBound &x, const MaybeBound &y) -> MaybeBound {
    if (x && x->factor == 0)
      return scale(y, x->constant);
    if (y && y->factor == 0)
      return scale(x, y->constant);
    return std::nullopt;
  };
  MaybeBound low = product(a.low, b.low);
  return {low ? low : Bound{0, 0}, product(a.high, b.high)};
}

Interval floorDivide(const Interval &a, const Interval &b) {
  std::optional<int64_t> dividend = a.asConstant(), divisor = b.asConstant();
  if (divisor == 1)
    return a;
  if (dividend && divisor && *divisor != 0 && !(*dividend == INT64_MIN && *divisor == -1)) {
    int64_t quotient = *dividend / *divisor;
    bool isRounded = *dividend % *divisor != 0 && (*dividend < 0) != (*divisor < 0);
    return Interval::constant(quotient - isRounded);
  }
  if (a.isAtLeast(0) && b.isAtLeast(1))
    return {Bound{0, 0}, a.high};
  return {};
}

Interval floorRemainder(const Interval &a, const Interval &b) {
  std::optional<int64_t> dividend = a.asConstant(), divisor = b.asConstant();
  if (dividend && divisor && *divisor != 0) {
    int64_t remainder = *divisor == -1 ? 0 : *dividend % *divisor;
    bool isRounded = remainder != 0 && (remainder < 0) != (*divisor < 0);
    return Interval::constant(remainder + (isRounded ? *divisor : 0));
  }
  if (!b.isAtLeast(1))
    return {};
  if (a.isAtLeast(0) && isLess(a, b) == true)
    return a;
  return {Bound{0, 0}, add(b.high, Bound{0, -1})};
}

Interval shiftRight(const Interval &a, const Interval &b) {
  std::optional<int64_t> value = a.asConstant(), bits = b.asConstant();
  if (value && bits && *bits >= 0 && *bits < 64)
    return Interval::constant(*value >> *bits);
  if (a.isAtLeast(0))
    return {Bound{0, 0}, a.high};
  return {};
}

Interval bitAnd(const Interval &a, const Interval &b) {
  if (a.asConstant() && b.asConstant())
    return Interval::constant(*a.asConstant() & *b.asConstant());
  bool aIsNatural = a.isAtLeast(0), bIsNatural = b.isAtLeast(0);
  if (!aIsNatural && !bIsNatural)
    return {};
  MaybeBound high;
  if (aIsNatural && bIsNatural)
    high = minimum(a, b).high;
  else
    high = aIsNatural ? a.high : b.high;
  return {Bound{0, 0}, high};
}

Interval bitOr(const Interval &a, const Interval &b) {
  if (a.isAtLeast(0) && b.isAtLeast(0))
    return Interval::atLeast(0);
  return {};
}

Interval minimum(const Interval &a, const Interval &b) {
  Interval result;
  if (a.low && b.low && alwaysAtMost(*a.low, *b.low))
    result.low = a.low;
  else if (a.low && b.low && alwaysAtMost(*b.low, *a.low))
    result.low = b.low;
  // Either bound holds; prefer the smaller one, or a number to a line.
  if (!a.high || !b.high)
    result.high = a.high ? a.high : b.high;
  else if (alwaysAtMost(*a.high, *b.high) ||
           (a.high->factor == 0 && !alwaysAtMost(*b.high, *a.high)))
    result.high = a.high;
  else
    result.high = b.high;
  return result;
}

Interval maximum(const Interval &a, const Interval &b) {
  return negate(minimum(negate(a), negate(b)));
}

std::optional<bool> isLessEqual(const Interval &a, const Interval &b) {
  if (a.high && b.low && alwaysAtMost(*a.high, *b.low))
    return true;
  if (a.low && b.high && alwaysBelow(*b.high, *a.low))
    return false;
  return std::nullopt;
}

std::optional<bool> isLess(const Interval &a, const Interval &b) {
  std::optional<bool> reversed = isLessEqual(b, a);
  return reversed ? std::optional(!*reversed) : std::nullopt;
}

std::optional<bool> isEqual(const Interval &a, const Interval &b) {
  if (a.isExact() && b.isExact() && *a.low == *b.low)
    return true;
  if (isLess(a, b) == true || isLess(b, a) == true)
    return false;
  return std::nullopt;
}

} // namespace coil
