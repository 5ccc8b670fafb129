//===- Expressions.h - Numbers as functions of rank and step ----*- C++ -*-===//
//
// Where an operation stands for those of many ranks and of a loop's steps, its
// numbers become expressions. The forms are few; what fits none of them is looked
// up in the rank's table of constants.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CODEGEN_EXPRESSIONS_H
#define COIL_RUNTIME_CODEGEN_EXPRESSIONS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace coil::codegen {

/// An expression over the rank and the steps of the enclosing loops, outermost
/// first. All arithmetic is that of 32-bit unsigned integers, as in the text.
/// `sum` below is base + rankFactor * rank + stepFactors[i] * step[i] ...
struct Number {
  enum class Form : uint8_t {
    Linear,  ///< sum
    Modular, ///< sum % modulus
    Xor,     ///< rank ^ base, or rank ^ (base << step of loop `shiftLoop`)
    Other,   ///< with q = sum, which has no rank: q + (q >= rank), the q-th rank but this
    Table,   ///< constant number `sum`, which has no rank
  };

  Form form = Form::Linear;
  int64_t base = 0;
  int64_t rankFactor = 0;
  std::vector<int64_t> stepFactors; ///< one for each loop, or none
  uint32_t modulus = 0;
  std::optional<size_t> shiftLoop;

  static Number constant(uint32_t value) {
    Number number;
    number.base = value;
    return number;
  }
  bool isConstant() const;
  bool operator==(const Number &) const = default;
};

/// The value for a rank and steps. `constants` is the rank's table; an index
/// outside of it gives nothing.
std::optional<uint32_t> evaluate(const Number &number, uint32_t rank,
                                 std::span<const uint32_t> steps,
                                 std::span<const uint32_t> constants);

/// As C++ text, the loops' variables under the names given. Needs no parentheses
/// as an argument or as the right side of an assignment.
std::string toText(const Number &number, std::span<const std::string> stepNames);

/// One loop around a number: in step s of `trip`, the number is found `stride`
/// places further on for each s.
struct SampleLoop {
  uint32_t trip; ///< at least 2
  size_t stride;
};

/// The values of one number for all ranks and steps.
struct Samples {
  std::span<const uint32_t> ranks; ///< ascending
  /// For each rank, the row in which its values lie.
  std::span<const std::span<const uint32_t>> rows;
  size_t offset = 0; ///< of the first step's value in a row
  std::vector<SampleLoop> loops;

  uint32_t first(size_t rankIndex) const { return rows[rankIndex][offset]; }
  /// Calls visit(rank, steps, value) for all, ranks outermost and the innermost
  /// loop fastest, until it returns false; returns whether it never did.
  bool all(const std::function<bool(uint32_t, std::span<const uint32_t>, uint32_t)> &visit) const;
};

/// The simplest expression that gives all samples, tried with each modulus (above
/// 1); nothing if none of the forms but Table fits.
std::optional<Number> fit(const Samples &samples, std::span<const uint32_t> moduli);

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_EXPRESSIONS_H
