//===- CheckExpr.cpp - Types and numbers of expressions -------------------===//

#include "compiler/frontend/Check.h"

namespace coil {

using namespace ast;

std::string Checker::withArticle(Type type) { return type == Type::Int ? "an int" : "a bool"; }

Checker::MaybeInterval Checker::evaluateInt(const Expr &expr, std::string_view what) {
  MaybeValue value = evaluate(expr);
  if (!value)
    return std::nullopt;
  if (value->type == Type::Int)
    return value->range;
  diagnostics.error(expr.range, "{} must be an int, found a bool", what);
  return std::nullopt;
}

Checker::MaybeValue Checker::evaluateBool(const Expr &expr, std::string_view what) {
  MaybeValue value = evaluate(expr);
  if (!value)
    return std::nullopt;
  if (value->type == Type::Bool)
    return value;
  diagnostics.error(expr.range, "{} must be a bool, found an int; compare it, as in 'x != 0'",
                    what);
  return std::nullopt;
}

Checker::MaybeValue Checker::evaluate(const Expr &expr) {
  switch (expr.kind) {
  case Expr::Kind::Integer:
    return Value::integer(Interval::constant(static_cast<const IntegerExpr &>(expr).value));
  case Expr::Kind::Boolean:
    return Value::boolean(static_cast<const BooleanExpr &>(expr).value);
  case Expr::Kind::Name:
    return evaluate(static_cast<const NameExpr &>(expr));
  case Expr::Kind::Unary:
    return evaluate(static_cast<const UnaryExpr &>(expr));
  case Expr::Kind::Binary:
    return evaluate(static_cast<const BinaryExpr &>(expr));
  case Expr::Kind::Conditional:
    return evaluate(static_cast<const ConditionalExpr &>(expr));
  case Expr::Kind::Call:
    return evaluate(static_cast<const CallExpr &>(expr));
  case Expr::Kind::Entry:
    return evaluate(static_cast<const EntryExpr &>(expr));
  case Expr::Kind::Fold:
    return evaluate(static_cast<const FoldExpr &>(expr));
  }
  __builtin_unreachable();
}

Checker::MaybeValue Checker::evaluate(const NameExpr &expr) {
  const Symbol *symbol = find(expr.name);
  if (!symbol) {
    reportUnknown({expr.name, expr.range}, Symbol::Kind::Value);
    return std::nullopt;
  }
  if (symbol->kind == Symbol::Kind::Value)
    return symbol->value;
  bool isTable = symbol->kind == Symbol::Kind::Table;
  Diagnostic &diagnostic = diagnostics.error(
      expr.range, "expected a value, found the {} '{}'{}", isTable ? "table" : "buffer", expr.name,
      isTable ? fmt::format("; take an entry of it, as in '{}[0]'", expr.name) : "");
  if (symbol->range.hasPosition())
    diagnostic.note(symbol->range, "'{}' is declared here", expr.name);
  return std::nullopt;
}

Checker::MaybeValue Checker::evaluate(const UnaryExpr &expr) {
  std::string what = fmt::format("the operand of '{}'", spelling(expr.op));
  if (expr.op == UnaryOp::Not) {
    MaybeValue operand = evaluateBool(*expr.operand, what);
    if (operand && operand->truth)
      operand->truth = !*operand->truth;
    return operand;
  }
  MaybeInterval operand = evaluateInt(*expr.operand, what);
  if (!operand)
    return std::nullopt;
  // ~x is -x - 1 in two's complement, and overflows nowhere.
  Interval result =
      expr.op == UnaryOp::Negate ? negate(*operand) : add(negate(*operand), Interval::constant(-1));
  if (expr.op == UnaryOp::Complement && operand->asConstant())
    result = Interval::constant(~*operand->asConstant());
  MaybeInterval checked = checkOverflow(expr, result, operand->asConstant().has_value());
  return checked ? MaybeValue(Value::integer(*checked)) : std::nullopt;
}

Checker::MaybeInterval Checker::checkOverflow(const Expr &expr, const Interval &result,
                                              bool areConstants) {
  if (!areConstants || result.asConstant())
    return result;
  rangeError(expr.range, "the result does not fit into 64 signed bits");
  // In code that is never reached the value does not matter.
  return unreachable ? MaybeInterval(Interval()) : std::nullopt;
}

Checker::MaybeValue Checker::evaluate(const ConditionalExpr &expr) {
  MaybeValue condition = evaluateBool(*expr.condition, "a condition");
  bool isTrue = condition && condition->truth.value_or(false);
  bool isFalse = condition && !condition->truth.value_or(true);
  MaybeValue whenTrue, whenFalse;
  {
    Unreachable skipped(*this, isFalse);
    whenTrue = evaluate(*expr.whenTrue);
  }
  {
    Unreachable skipped(*this, isTrue);
    whenFalse = evaluate(*expr.whenFalse);
  }
  if (!condition || !whenTrue || !whenFalse)
    return std::nullopt;
  if (whenTrue->type != whenFalse->type) {
    diagnostics.error(expr.range, "the values of a condition must be of one type, found {} and {}",
                      withArticle(whenTrue->type), withArticle(whenFalse->type));
    return std::nullopt;
  }
  if (isTrue || isFalse)
    return isTrue ? whenTrue : whenFalse;
  if (whenTrue->type == Type::Bool)
    return Value::boolean(whenTrue->truth == whenFalse->truth ? whenTrue->truth : std::nullopt);
  return Value::integer({minimum(whenTrue->range, whenFalse->range).low,
                         maximum(whenTrue->range, whenFalse->range).high});
}

Checker::MaybeValue Checker::evaluate(const EntryExpr &expr) {
  std::vector<MaybeInterval> indices;
  for (const ExprPtr &index : expr.indices)
    indices.push_back(evaluateInt(*index, "an index of a table"));
  const Symbol *table = find(expr.table.text);
  if (!table) {
    reportUnknown(expr.table, Symbol::Kind::Table);
    return std::nullopt;
  }
  if (table->kind != Symbol::Kind::Table) {
    bool isBuffer = table->kind == Symbol::Kind::Buffer;
    Diagnostic &diagnostic =
        diagnostics.error(expr.table.range, "expected a table, found the {} '{}'",
                          isBuffer ? "buffer" : "value", expr.table.text);
    if (table->range.hasPosition())
      diagnostic.note(table->range, "'{}' is declared here", expr.table.text);
    return std::nullopt;
  }
  if (table->shape.empty())
    return std::nullopt;
  if (indices.size() != table->shape.size()) {
    diagnostics
        .error(expr.range, "'{}' needs {} {}, found {}", table->name, table->shape.size(),
               table->shape.size() == 1 ? "index" : "indices", indices.size())
        .note(table->range, "'{}' is declared here", table->name);
    return std::nullopt;
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i])
      return std::nullopt;
    bool isBelow = indices[i]->isBelow(0), isBeyond = indices[i]->isAtLeast(table->shape[i]);
    if (!isBelow && !isBeyond)
      continue;
    if (Diagnostic *diagnostic = rangeError(
            expr.indices[i]->range, "the index is {}, but '{}' has entries 0 to {} there",
            isBelow ? describeHigh(*indices[i]) : describeLow(*indices[i]), table->name,
            table->shape[i] - 1))
      diagnostic->note(table->range, "'{}' is declared here", table->name);
    return unreachable ? table->value : std::nullopt;
  }
  return table->value;
}

Checker::MaybeValue Checker::evaluate(const FoldExpr &expr) {
  Scope scope(*this);
  int reachable = unreachable;
  checkClauses(expr.clauses);
  MaybeInterval value =
      evaluateInt(*expr.value, fmt::format("what '{}' puts together", spelling(expr.op)));
  unreachable = reachable;
  if (!value)
    return std::nullopt;
  if (expr.op != FoldOp::Sum)
    return Value::integer(*value);
  return Value::integer(value->isAtLeast(0) ? Interval::atLeast(0) : Interval());
}

Checker::MaybeValue Checker::evaluateLogical(const BinaryExpr &expr) {
  std::string what = fmt::format("an operand of '{}'", spelling(expr.op));
  // The value of the left operand that decides alone.
  bool deciding = expr.op == BinaryOp::Or;
  MaybeValue left = evaluateBool(*expr.left, what);
  bool isDecided = left && left->truth == deciding;
  MaybeValue right;
  {
    Unreachable skipped(*this, isDecided);
    right = evaluateBool(*expr.right, what);
  }
  if (!left || !right)
    return std::nullopt;
  if (isDecided || right->truth == deciding)
    return Value::boolean(deciding);
  if (left->truth && right->truth)
    return Value::boolean(!deciding);
  return Value::boolean(std::nullopt);
}

Checker::MaybeValue Checker::evaluateComparison(const BinaryExpr &expr) {
  MaybeValue left = evaluate(*expr.left), right = evaluate(*expr.right);
  if (!left || !right)
    return std::nullopt;
  bool isEquality = expr.op == BinaryOp::Equal || expr.op == BinaryOp::NotEqual;
  if (left->type != right->type) {
    diagnostics.error(expr.range, "cannot compare {} with {}", withArticle(left->type),
                      withArticle(right->type));
    return std::nullopt;
  }
  if (left->type == Type::Bool) {
    if (!isEquality) {
      diagnostics.error(expr.range, "an operand of '{}' must be an int, found a bool",
                        spelling(expr.op));
      return std::nullopt;
    }
    if (!left->truth || !right->truth)
      return Value::boolean(std::nullopt);
    return Value::boolean((*left->truth == *right->truth) == (expr.op == BinaryOp::Equal));
  }
  const Interval &a = left->range, &b = right->range;
  switch (expr.op) {
  case BinaryOp::Equal:
    return Value::boolean(isEqual(a, b));
  case BinaryOp::NotEqual: {
    std::optional<bool> truth = isEqual(a, b);
    return Value::boolean(truth ? std::optional(!*truth) : std::nullopt);
  }
  case BinaryOp::Less:
    return Value::boolean(isLess(a, b));
  case BinaryOp::LessEqual:
    return Value::boolean(isLessEqual(a, b));
  case BinaryOp::Greater:
    return Value::boolean(isLess(b, a));
  default:
    return Value::boolean(isLessEqual(b, a));
  }
}

Checker::MaybeInterval Checker::evaluateShift(const BinaryExpr &expr, const Interval &left,
                                              const Interval &right) {
  if (right.isBelow(0)) {
    rangeError(expr.right->range, "a shift must be by 0 to 63 bits, found {}", describeHigh(right));
    return unreachable ? MaybeInterval(Interval()) : std::nullopt;
  }
  if (right.isAtLeast(64)) {
    rangeError(expr.right->range, "a shift must be by 0 to 63 bits, found {}", describeLow(right));
    return unreachable ? MaybeInterval(Interval()) : std::nullopt;
  }
  if (expr.op == BinaryOp::ShiftRight)
    return shiftRight(left, right);
  std::optional<int64_t> value = left.asConstant(), bits = right.asConstant();
  if (value && bits) {
    int64_t shifted = int64_t(uint64_t(*value) << *bits);
    bool fits = (shifted >> *bits) == *value;
    return checkOverflow(expr, fits ? Interval::constant(shifted) : Interval(), true);
  }
  return left.isAtLeast(0) ? Interval::atLeast(0) : Interval();
}

Checker::MaybeValue Checker::evaluate(const BinaryExpr &expr) {
  if (expr.op == BinaryOp::And || expr.op == BinaryOp::Or)
    return evaluateLogical(expr);
  if (expr.op >= BinaryOp::Equal && expr.op <= BinaryOp::GreaterEqual)
    return evaluateComparison(expr);

  std::string what = fmt::format("an operand of '{}'", spelling(expr.op));
  MaybeInterval left = evaluateInt(*expr.left, what), right = evaluateInt(*expr.right, what);
  if (!left || !right)
    return std::nullopt;
  bool areConstants = left->asConstant() && right->asConstant();
  MaybeInterval result;
  switch (expr.op) {
  case BinaryOp::BitOr:
    result = areConstants ? Interval::constant(*left->asConstant() | *right->asConstant())
                          : bitOr(*left, *right);
    break;
  case BinaryOp::BitXor:
    result = areConstants ? Interval::constant(*left->asConstant() ^ *right->asConstant())
                          : bitOr(*left, *right);
    break;
  case BinaryOp::BitAnd:
    result = bitAnd(*left, *right);
    break;
  case BinaryOp::ShiftLeft:
  case BinaryOp::ShiftRight:
    result = evaluateShift(expr, *left, *right);
    break;
  case BinaryOp::Add:
    result = checkOverflow(expr, add(*left, *right), areConstants);
    break;
  case BinaryOp::Subtract:
    result = checkOverflow(expr, subtract(*left, *right), areConstants);
    break;
  case BinaryOp::Multiply:
    result = checkOverflow(expr, multiply(*left, *right), areConstants);
    break;
  default:
    if (right->asConstant() == 0) {
      rangeError(expr.right->range, "division by zero");
      result = unreachable ? MaybeInterval(Interval()) : std::nullopt;
    } else if (expr.op == BinaryOp::Divide) {
      result = checkOverflow(expr, floorDivide(*left, *right), areConstants);
    } else {
      result = floorRemainder(*left, *right);
    }
  }
  return result ? MaybeValue(Value::integer(*result)) : std::nullopt;
}

} // namespace coil
