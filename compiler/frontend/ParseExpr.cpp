//===- ParseExpr.cpp - Expressions ----------------------------------------===//

#include "compiler/frontend/Parser.h"

namespace coil {

using namespace ast;

namespace {
struct Operator {
  BinaryOp op;
  int precedence;
};
} // namespace

/// Bits bind tighter than comparisons, so that `ranks & (ranks - 1) == 0` asks
/// what it says.
static std::optional<Operator> binaryOperator(TokenKind kind, int comparisonPrecedence) {
  switch (kind) {
  case TokenKind::OrOr:
    return Operator{BinaryOp::Or, 1};
  case TokenKind::AndAnd:
    return Operator{BinaryOp::And, 2};
  case TokenKind::EqualEqual:
    return Operator{BinaryOp::Equal, comparisonPrecedence};
  case TokenKind::NotEqual:
    return Operator{BinaryOp::NotEqual, comparisonPrecedence};
  case TokenKind::Less:
    return Operator{BinaryOp::Less, comparisonPrecedence};
  case TokenKind::LessEqual:
    return Operator{BinaryOp::LessEqual, comparisonPrecedence};
  case TokenKind::Greater:
    return Operator{BinaryOp::Greater, comparisonPrecedence};
  case TokenKind::GreaterEqual:
    return Operator{BinaryOp::GreaterEqual, comparisonPrecedence};
  case TokenKind::Pipe:
    return Operator{BinaryOp::BitOr, 4};
  case TokenKind::Caret:
    return Operator{BinaryOp::BitXor, 5};
  case TokenKind::Ampersand:
    return Operator{BinaryOp::BitAnd, 6};
  case TokenKind::ShiftLeft:
    return Operator{BinaryOp::ShiftLeft, 7};
  case TokenKind::ShiftRight:
    return Operator{BinaryOp::ShiftRight, 7};
  case TokenKind::Plus:
    return Operator{BinaryOp::Add, 8};
  case TokenKind::Minus:
    return Operator{BinaryOp::Subtract, 8};
  case TokenKind::Star:
    return Operator{BinaryOp::Multiply, 9};
  case TokenKind::Slash:
    return Operator{BinaryOp::Divide, 9};
  case TokenKind::Percent:
    return Operator{BinaryOp::Remainder, 9};
  default:
    return std::nullopt;
  }
}

ExprPtr Parser::checkDepth(ExprPtr expr) {
  if (expr->depth <= maxNesting)
    return expr;
  if (!isStopped)
    diagnostics.error({&source, expr->range.begin, expr->range.begin},
                      "expression is nested more than {} levels deep", maxNesting);
  stop();
  return nullptr;
}

ExprPtr Parser::parseBinary(int lowestPrecedence) {
  ExprPtr left = parseUnary();
  bool isComparison = false;
  while (left) {
    std::optional<Operator> next = binaryOperator(token.kind, comparisonPrecedence);
    if (!next || next->precedence < lowestPrecedence)
      break;
    if (isComparison && next->precedence == comparisonPrecedence) {
      diagnostics.error(here(), "comparisons do not chain; join two of them with '&&'");
      lastError = token.begin;
      return nullptr;
    }
    isComparison = next->precedence == comparisonPrecedence;
    advance();
    ExprPtr right = parseBinary(next->precedence + 1);
    if (!right)
      return nullptr;
    left = checkDepth(std::make_unique<BinaryExpr>(next->op, std::move(left), std::move(right)));
  }
  return left;
}

ExprPtr Parser::parseUnary() {
  Nesting level(*this);
  if (!level.check())
    return nullptr;
  UnaryOp op;
  switch (token.kind) {
  case TokenKind::Minus:
    op = UnaryOp::Negate;
    break;
  case TokenKind::Tilde:
    op = UnaryOp::Complement;
    break;
  case TokenKind::Not:
    op = UnaryOp::Not;
    break;
  default:
    return parsePrimary();
  }
  uint32_t begin = advance().begin;
  ExprPtr operand = parseUnary();
  if (!operand)
    return nullptr;
  return checkDepth(std::make_unique<UnaryExpr>(rangeFrom(begin), op, std::move(operand)));
}

ExprPtr Parser::parsePrimary() {
  switch (token.kind) {
  case TokenKind::Integer: {
    int64_t value = token.integer;
    return std::make_unique<IntegerExpr>(advance(), value);
  }
  case TokenKind::True:
  case TokenKind::False: {
    bool value = at(TokenKind::True);
    return std::make_unique<BooleanExpr>(advance(), value);
  }
  case TokenKind::If:
    return parseConditional();
  case TokenKind::Identifier: {
    SourceRange range = advance();
    std::string text(range.text());
    if (at(TokenKind::Dot)) {
      Name name{std::move(text), range};
      if (!parseQualified(name))
        return nullptr;
      if (at(TokenKind::LeftParen))
        return parseCall(std::move(name));
      reportExpected("'(' and the arguments of a function");
      return nullptr;
    }
    if (at(TokenKind::LeftParen))
      return parseCall({std::move(text), range});
    if (at(TokenKind::LeftBracket))
      return parseEntry({std::move(text), range});
    return std::make_unique<NameExpr>(range, std::move(text));
  }
  case TokenKind::LeftParen: {
    SourceRange opener = advance();
    ExprPtr inner = parseExpr();
    if (!inner || !expectClosing(TokenKind::RightParen, opener))
      return nullptr;
    // The parentheses belong to what messages underline.
    inner->range = rangeFrom(opener.begin);
    return inner;
  }
  default:
    reportExpected("an expression");
    return nullptr;
  }
}

ExprPtr Parser::parseConditional() {
  uint32_t begin = advance().begin;
  ExprPtr condition = parseExpr();
  if (!condition)
    return nullptr;
  // As 'step' behind a range, 'then' is a word of its own where no name can stand.
  if (!at(TokenKind::Identifier) || here().text() != "then") {
    reportExpected("'then' after the condition");
    return nullptr;
  }
  advance();
  ExprPtr whenTrue = parseExpr();
  if (!whenTrue || !expect(TokenKind::Else, " and the value otherwise"))
    return nullptr;
  ExprPtr whenFalse = parseExpr();
  if (!whenFalse)
    return nullptr;
  return checkDepth(std::make_unique<ConditionalExpr>(rangeFrom(begin), std::move(condition),
                                                      std::move(whenTrue), std::move(whenFalse)));
}

ExprPtr Parser::parseCall(Name callee) {
  SourceRange opener = advance();
  std::vector<ExprPtr> arguments;
  if (!at(TokenKind::RightParen)) {
    do {
      ExprPtr argument = parseExpr();
      if (!argument)
        return nullptr;
      if (arguments.empty() && at(TokenKind::For))
        return parseFold(std::move(callee), opener, std::move(argument));
      arguments.push_back(std::move(argument));
    } while (accept(TokenKind::Comma));
  }
  if (!expectClosing(TokenKind::RightParen, opener))
    return nullptr;
  uint32_t begin = callee.range.begin;
  return checkDepth(
      std::make_unique<CallExpr>(rangeFrom(begin), std::move(callee), std::move(arguments)));
}

ExprPtr Parser::parseFold(Name name, SourceRange opener, ExprPtr value) {
  std::optional<FoldOp> op;
  for (FoldOp each : {FoldOp::Sum, FoldOp::Min, FoldOp::Max})
    if (name.text == spelling(each))
      op = each;
  if (!op) {
    reportExpected(fmt::format("',' or ')', since only 'sum', 'min' and 'max' take loops and '{}' "
                               "does not",
                               name.text));
    return nullptr;
  }
  std::optional<std::vector<Clause>> clauses = parseClauses();
  if (!clauses || !expectClosing(TokenKind::RightParen, opener))
    return nullptr;
  return checkDepth(std::make_unique<FoldExpr>(rangeFrom(name.range.begin), *op, std::move(value),
                                               std::move(*clauses)));
}

ExprPtr Parser::parseEntry(Name table) {
  std::vector<ExprPtr> indices;
  while (at(TokenKind::LeftBracket)) {
    SourceRange opener = advance();
    ExprPtr index = parseExpr();
    if (!index || !expectClosing(TokenKind::RightBracket, opener))
      return nullptr;
    indices.push_back(std::move(index));
  }
  uint32_t begin = table.range.begin;
  return checkDepth(
      std::make_unique<EntryExpr>(rangeFrom(begin), std::move(table), std::move(indices)));
}

} // namespace coil
