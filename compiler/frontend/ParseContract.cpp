//===- ParseContract.cpp - What an algorithm itself promises --------------===//

#include "compiler/frontend/Parser.h"

namespace coil {

using namespace ast;

ExprPtr Parser::parseSegmentsOf(std::string_view buffer) {
  if (!expectWord(buffer, " and its number of segments"))
    return nullptr;
  SourceRange opener = here();
  if (!expect(TokenKind::LeftBracket, " and the number of segments"))
    return nullptr;
  ExprPtr count = parseExpr();
  return count && expectClosing(TokenKind::RightBracket, opener) ? std::move(count) : nullptr;
}

StmtPtr Parser::parseSegments() {
  uint32_t begin = advance().begin;
  ExprPtr input = parseSegmentsOf("input");
  if (!input || !expect(TokenKind::Comma, " and the output's segments"))
    return nullptr;
  ExprPtr output = parseSegmentsOf("output");
  if (!output)
    return nullptr;
  return std::make_unique<SegmentsStmt>(rangeFrom(begin), std::move(input), std::move(output));
}

StmtPtr Parser::parseEnsures() {
  uint32_t begin = advance().begin;
  auto stmt = std::make_unique<EnsuresStmt>(SourceRange());
  std::optional<Place> place = parsePlace(/*isCompared=*/true);
  if (!place || !expect(TokenKind::EqualEqual, " and what the place ends as"))
    return nullptr;
  stmt->place = std::move(*place);
  stmt->isSum = at(TokenKind::Identifier) && here().text() == "sum";
  if (stmt->isSum) {
    advance();
    SourceRange opener = here();
    if (!expect(TokenKind::LeftParen, " and what is summed"))
      return nullptr;
    do {
      std::optional<Operand> source = parseOperand();
      if (!source)
        return nullptr;
      stmt->sources.push_back(std::move(*source));
    } while (accept(TokenKind::Comma));
    if (!expectClosing(TokenKind::RightParen, opener))
      return nullptr;
  } else {
    std::optional<Place> source = parsePlace();
    if (!source)
      return nullptr;
    Operand &operand = stmt->sources.emplace_back();
    operand.range = source->range;
    operand.place = std::move(*source);
  }
  stmt->range = rangeFrom(begin);
  return stmt;
}

} // namespace coil
