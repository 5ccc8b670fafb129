//===- CheckCall.cpp - Calls of functions ---------------------------------===//

#include "compiler/frontend/Check.h"
#include "compiler/frontend/Suggest.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace coil {

using namespace ast;

namespace {

/// A function of the language; `most` is 0 where any number of arguments goes.
struct Builtin {
  std::string_view name;
  size_t least, most;
  /// True for the words about nodes, which mean something in algorithms only.
  bool isTopology = false;
};

constexpr Builtin builtins[] = {
    {"log2", 1, 1},
    {"min", 1, 0},
    {"max", 1, 0},
    {"abs", 1, 1},
    {"gcd", 2, 2},
    {"ceil_div", 2, 2},
    {"is_power_of_two", 1, 1},
    {"node", 1, 1, true},
    {"local", 1, 1, true},
    {"rank", 2, 2, true},
};

const Builtin *findBuiltin(std::string_view name) {
  auto found = std::ranges::find(builtins, name, &Builtin::name);
  return found == std::end(builtins) ? nullptr : found;
}

/// "one argument", "2 arguments".
std::string argumentsText(size_t count) {
  return count == 1 ? "one argument" : fmt::format("{} arguments", count);
}

std::string foundText(size_t count) { return count == 0 ? "none" : fmt::format("{}", count); }

} // namespace

bool Checker::isBuiltinFunction(std::string_view name) { return findBuiltin(name) != nullptr; }

Checker::MaybeValue Checker::evaluate(const CallExpr &expr) {
  const std::string &name = expr.callee.text;
  if (findBuiltin(name))
    return evaluateBuiltin(expr);
  if (auto found = names.functions.find(name); found != names.functions.end())
    return callFunction(expr, *found->second.declaration);
  Suggestion nearest(name);
  for (const Builtin &builtin : builtins)
    nearest.consider(builtin.name);
  for (const auto &[known, function] : names.functions)
    nearest.consider(known);
  diagnostics.error(expr.callee.range, "unknown function '{}'{}", name, nearest.text());
  return std::nullopt;
}

Checker::MaybeValue Checker::callFunction(const CallExpr &expr, const Function &callee) {
  if (expr.arguments.size() != callee.parameters.size()) {
    diagnostics
        .error(expr.range, "'{}' takes {}, found {}", callee.name.text,
               callee.parameters.empty() ? "no argument" : argumentsText(callee.parameters.size()),
               foundText(expr.arguments.size()))
        .note(callee.name.range, "'{}' is declared here", callee.name.text);
    return std::nullopt;
  }
  for (size_t i = 0; i < expr.arguments.size(); ++i) {
    const Function::Parameter &parameter = callee.parameters[i];
    MaybeValue value = evaluate(*expr.arguments[i]);
    if (value && value->type != parameter.type)
      diagnostics
          .error(expr.arguments[i]->range, "'{}' must be {}, found {}", parameter.name.text,
                 withArticle(parameter.type), withArticle(value->type))
          .note(parameter.name.range, "'{}' is declared here", parameter.name.text);
  }
  // What a function computes is known on the instance.
  return Value::unknown(callee.type);
}

Checker::MaybeValue Checker::evaluateBuiltin(const CallExpr &expr) {
  const Builtin &builtin = *findBuiltin(expr.callee.text);
  if (builtin.isTopology && function) {
    diagnostics.error(expr.callee.range, "'{}' is not known in a function", builtin.name)
        .note(function->name.range, "a function sees its parameters alone");
    return std::nullopt;
  }
  size_t count = expr.arguments.size();
  if (count < builtin.least || (builtin.most != 0 && count > builtin.most)) {
    diagnostics.error(expr.range, "'{}' takes {}{}, found {}", builtin.name,
                      builtin.most == 0 ? "at least " : "", argumentsText(builtin.least),
                      foundText(count));
    return std::nullopt;
  }
  std::vector<Interval> arguments;
  for (const ExprPtr &argument : expr.arguments)
    if (MaybeInterval value =
            evaluateInt(*argument, fmt::format("an argument of '{}'", builtin.name)))
      arguments.push_back(*value);
  if (arguments.size() != count)
    return std::nullopt;

  auto integer = [](MaybeInterval range) {
    return range ? MaybeValue(Value::integer(*range)) : std::nullopt;
  };
  const Interval &first = arguments.front();
  std::optional<int64_t> constant = first.asConstant();
  if (builtin.name == "min" || builtin.name == "max") {
    Interval result = first;
    for (size_t i = 1; i < count; ++i)
      result =
          builtin.name == "min" ? minimum(result, arguments[i]) : maximum(result, arguments[i]);
    return integer(result);
  }
  if (builtin.name == "log2") {
    if (first.isAtMost(0)) {
      rangeError(expr.arguments[0]->range, "the argument of 'log2' must be at least 1, found {}",
                 describeHigh(first));
      return unreachable ? MaybeValue(Value::integer({})) : std::nullopt;
    }
    if (constant)
      return integer(Interval::constant(std::bit_width(uint64_t(*constant)) - 1));
    return integer(Interval{Bound{0, 0}, Bound{0, 62}});
  }
  if (builtin.name == "abs") {
    if (!constant)
      return integer(first.isAtLeast(0) ? first : Interval::atLeast(0));
    return integer(checkOverflow(expr, maximum(first, negate(first)), true));
  }
  if (builtin.name == "is_power_of_two") {
    if (!constant)
      return Value::boolean(first.isAtMost(0) ? std::optional(false) : std::nullopt);
    return Value::boolean(*constant > 0 && std::has_single_bit(uint64_t(*constant)));
  }
  if (builtin.name == "gcd")
    return integer(Interval::atLeast(0));
  if (builtin.name == "ceil_div") {
    const Interval &divisor = arguments[1];
    if (divisor.asConstant() == 0) {
      rangeError(expr.arguments[1]->range, "division by zero");
      return unreachable ? MaybeValue(Value::integer({})) : std::nullopt;
    }
    return integer(negate(floorDivide(negate(first), divisor)));
  }
  // node, local, rank.
  return integer(Interval{Bound{0, 0}, Bound{1, -1}});
}

} // namespace coil
