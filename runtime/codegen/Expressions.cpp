//===- Expressions.cpp - Numbers as functions of rank and step ------------===//

#include "runtime/codegen/Expressions.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>

namespace coil::codegen {

namespace {

int64_t sumOf(const Number &number, uint32_t rank, std::span<const uint32_t> steps) {
  int64_t sum = number.base + number.rankFactor * rank;
  for (size_t i = 0; i < number.stepFactors.size(); ++i)
    sum += number.stepFactors[i] * steps[i];
  return sum;
}

/// How much there is to read, to choose among expressions that all fit.
int readingCost(const Number &number) {
  auto termCost = [](int64_t factor) {
    return factor == 0 ? 0 : factor == 1 ? 2 : factor == -1 ? 3 : 4;
  };
  int cost = (number.base != 0 ? 2 : 0) + termCost(number.rankFactor);
  for (int64_t factor : number.stepFactors)
    cost += termCost(factor);
  switch (number.form) {
  case Number::Form::Modular:
    return cost + 2;
  case Number::Form::Xor:
    return number.shiftLoop ? 7 : 5;
  case Number::Form::Other:
    return cost + 6;
  default:
    return cost;
  }
}

bool fits(const Number &number, const Samples &samples) {
  return samples.all([&](uint32_t rank, std::span<const uint32_t> steps, uint32_t value) {
    return evaluate(number, rank, steps, {}) == value;
  });
}

/// The difference that each loop's first step makes, for the first rank.
std::vector<int64_t> stepDifferences(const Samples &samples) {
  std::vector<int64_t> differences;
  for (const SampleLoop &loop : samples.loops)
    differences.push_back(static_cast<int64_t>(samples.rows[0][samples.offset + loop.stride]) -
                          samples.first(0));
  return differences;
}

std::optional<Number> fitLinear(const Samples &samples) {
  Number number;
  number.stepFactors = stepDifferences(samples);
  if (samples.ranks.size() > 1) {
    int64_t difference = static_cast<int64_t>(samples.first(1)) - samples.first(0);
    int64_t distance = static_cast<int64_t>(samples.ranks[1]) - samples.ranks[0];
    if (difference % distance != 0)
      return std::nullopt;
    number.rankFactor = difference / distance;
  }
  number.base = samples.first(0) - number.rankFactor * samples.ranks[0];
  if (!fits(number, samples))
    return std::nullopt;
  return number;
}

/// The number of least absolute value that is congruent.
int64_t leastResidue(int64_t value, int64_t modulus) {
  int64_t residue = ((value % modulus) + modulus) % modulus;
  return residue > modulus / 2 ? residue - modulus : residue;
}

/// Makes the sum non-negative for all samples by raising the base; false if the
/// sum does not stay in 32 bits.
bool settleBase(Number &number, const Samples &samples) {
  int64_t least = 0, most = 0;
  auto add = [&](int64_t factor, int64_t from, int64_t to) {
    least += std::min(factor * from, factor * to);
    most += std::max(factor * from, factor * to);
  };
  add(number.rankFactor, samples.ranks.front(), samples.ranks.back());
  for (size_t i = 0; i < number.stepFactors.size(); ++i)
    add(number.stepFactors[i], 0, static_cast<int64_t>(samples.loops[i].trip) - 1);
  int64_t modulus = number.modulus;
  number.base = ((number.base % modulus) + modulus) % modulus;
  if (least + number.base < 0)
    number.base += (-least - number.base + modulus - 1) / modulus * modulus;
  return most + number.base <= std::numeric_limits<uint32_t>::max();
}

std::optional<Number> fitModular(const Samples &samples, uint32_t modulus) {
  if (samples.first(0) >= modulus)
    return std::nullopt;
  Number number;
  number.form = Number::Form::Modular;
  number.modulus = modulus;
  for (int64_t difference : stepDifferences(samples))
    number.stepFactors.push_back(leastResidue(difference, modulus));

  // rankFactor * distance is congruent to difference: several factors may be.
  constexpr int64_t mostFactors = 16;
  int64_t distance = 1, difference = 0, candidates = 1;
  if (samples.ranks.size() > 1) {
    distance = static_cast<int64_t>(samples.ranks[1]) - samples.ranks[0];
    difference = leastResidue(static_cast<int64_t>(samples.first(1)) - samples.first(0), modulus);
    candidates = std::min(distance, mostFactors);
  }
  std::optional<Number> best;
  for (int64_t k = 0; k < candidates; ++k) {
    int64_t multiple = difference + k * modulus;
    if (multiple % distance != 0)
      continue;
    number.rankFactor = leastResidue(multiple / distance, modulus);
    number.base = samples.first(0) - number.rankFactor * samples.ranks[0];
    if (settleBase(number, samples) && (!best || readingCost(number) < readingCost(*best)) &&
        fits(number, samples))
      best = number;
  }
  return best;
}

std::optional<Number> fitXor(const Samples &samples) {
  if (samples.ranks.size() < 2)
    return std::nullopt;
  Number number;
  number.form = Number::Form::Xor;
  number.base = samples.first(0) ^ samples.ranks[0];
  for (size_t i = 0; i < samples.loops.size(); ++i)
    if (samples.rows[0][samples.offset + samples.loops[i].stride] != samples.first(0)) {
      if (number.shiftLoop || samples.loops[i].trip > 32)
        return std::nullopt;
      number.shiftLoop = i;
    }
  if (!fits(number, samples))
    return std::nullopt;
  return number;
}

std::optional<Number> fitOther(const Samples &samples) {
  if (samples.ranks.size() < 2)
    return std::nullopt;
  auto placeAmongOthers = [&](size_t offset) -> int64_t {
    uint32_t value = samples.rows[0][offset];
    return value > samples.ranks[0] ? value - int64_t{1} : value;
  };
  Number number;
  number.form = Number::Form::Other;
  number.base = placeAmongOthers(samples.offset);
  for (const SampleLoop &loop : samples.loops)
    number.stepFactors.push_back(placeAmongOthers(samples.offset + loop.stride) - number.base);
  if (!fits(number, samples))
    return std::nullopt;
  return number;
}

} // namespace

bool Number::isConstant() const {
  return form == Form::Linear && rankFactor == 0 &&
         std::all_of(stepFactors.begin(), stepFactors.end(), [](int64_t f) { return f == 0; });
}

std::optional<uint32_t> evaluate(const Number &number, uint32_t rank,
                                 std::span<const uint32_t> steps,
                                 std::span<const uint32_t> constants) {
  uint32_t sum = static_cast<uint32_t>(sumOf(number, rank, steps));
  switch (number.form) {
  case Number::Form::Linear:
    return sum;
  case Number::Form::Modular:
    return sum % number.modulus;
  case Number::Form::Xor: {
    uint32_t mask = static_cast<uint32_t>(number.base);
    return rank ^ (number.shiftLoop ? mask << steps[*number.shiftLoop] : mask);
  }
  case Number::Form::Other:
    return sum + (sum >= rank ? 1 : 0);
  case Number::Form::Table:
    break;
  }
  if (sum >= constants.size())
    return std::nullopt;
  return constants[sum];
}

std::string toText(const Number &number, std::span<const std::string> stepNames) {
  // Terms that are added, then the base, then what is subtracted: so no part of the
  // sum looks negative.
  std::string added, subtracted;
  auto add = [&](int64_t factor, const std::string &name) {
    if (factor == 0)
      return;
    std::string term =
        std::abs(factor) == 1 ? name : fmt::format("{} * {}", std::abs(factor), name);
    if (factor > 0)
      added += (added.empty() ? "" : " + ") + term;
    else
      subtracted += " - " + term;
  };
  add(number.rankFactor, "rank");
  for (size_t i = 0; i < number.stepFactors.size(); ++i)
    add(number.stepFactors[i], stepNames[i]);
  std::string sum = added;
  if (number.base > 0 || sum.empty())
    sum += fmt::format("{}{}", sum.empty() ? "" : " + ", number.base);
  else if (number.base < 0)
    subtracted += fmt::format(" - {}", -number.base);
  sum += subtracted;
  // Beyond 31 bits a literal would be signed and longer.
  if (number.isConstant() && number.base > std::numeric_limits<int32_t>::max())
    sum += 'u';

  switch (number.form) {
  case Number::Form::Linear:
    return sum;
  case Number::Form::Modular:
    if (sum.find(' ') != std::string::npos)
      sum = "(" + sum + ")";
    return fmt::format("{} % {}", sum, number.modulus);
  case Number::Form::Xor:
    return number.shiftLoop
               ? fmt::format("rank ^ ({}u << {})", number.base, stepNames[*number.shiftLoop])
               : fmt::format("rank ^ {}", number.base);
  case Number::Form::Other:
    return fmt::format("{} + ({} >= rank)", sum, sum);
  case Number::Form::Table:
    break;
  }
  return fmt::format("worker.constant({})", sum);
}

bool Samples::all(
    const std::function<bool(uint32_t, std::span<const uint32_t>, uint32_t)> &visit) const {
  std::vector<uint32_t> steps(loops.size());
  for (size_t r = 0; r < ranks.size(); ++r) {
    std::fill(steps.begin(), steps.end(), 0);
    size_t place = offset;
    for (bool more = true; more;) {
      if (!visit(ranks[r], steps, rows[r][place]))
        return false;
      more = false;
      for (size_t i = loops.size(); i-- > 0;) {
        place += loops[i].stride;
        if (++steps[i] < loops[i].trip) {
          more = true;
          break;
        }
        place -= loops[i].stride * loops[i].trip;
        steps[i] = 0;
      }
    }
  }
  return true;
}

std::optional<Number> fit(const Samples &samples, std::span<const uint32_t> moduli) {
  std::optional<Number> best = fitLinear(samples);
  // Nothing is simpler than a number, and a rank or step alone.
  if (best && readingCost(*best) <= 4)
    return best;
  auto consider = [&](std::optional<Number> number) {
    if (number && (!best || readingCost(*number) < readingCost(*best)))
      best = std::move(number);
  };
  for (uint32_t modulus : moduli)
    consider(fitModular(samples, modulus));
  consider(fitXor(samples));
  consider(fitOther(samples));
  return best;
}

} // namespace coil::codegen
