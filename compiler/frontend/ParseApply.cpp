//===- ParseApply.cpp - Applications of algorithms ------------------------===//

#include "compiler/frontend/Parser.h"

namespace coil {

using namespace ast;

bool Parser::expectWord(std::string_view word, std::string_view where) {
  if (at(TokenKind::Identifier) && here().text() == word) {
    advance();
    return true;
  }
  reportExpected(fmt::format("'{}'{}", word, where));
  return false;
}

StmtPtr Parser::parseApply() {
  uint32_t begin = advance().begin;
  auto stmt = std::make_unique<ApplyStmt>(SourceRange());
  std::optional<Name> callee;
  // An imported collective may begin with a verb: reduce.ring.
  if (at(TokenKind::Reduce)) {
    SourceRange range = advance();
    callee = Name{std::string(range.text()), range};
  } else {
    callee = expectName("the name of an algorithm");
  }
  if (!callee || !parseQualified(*callee))
    return nullptr;
  stmt->callee = std::move(*callee);
  if (at(TokenKind::LeftParen) && !parseArguments(stmt->arguments))
    return nullptr;
  if (!expectWord("over", " and the group's ranks") ||
      !parseList(stmt->group, "the group's ranks") ||
      !expectWord("on", " and the chunks to work on") || !parseView(stmt->view))
    return nullptr;
  if (accept(TokenKind::Arrow)) {
    stmt->output.emplace();
    if (!parseView(*stmt->output))
      return nullptr;
  }
  stmt->range = rangeFrom(begin);
  return stmt;
}

bool Parser::parseArguments(std::vector<ApplyStmt::Argument> &arguments) {
  SourceRange opener = advance();
  if (accept(TokenKind::RightParen))
    return true;
  do {
    ExprPtr value = parseExpr();
    if (!value)
      return false;
    std::optional<Name> name;
    if (value->kind == Expr::Kind::Name && accept(TokenKind::Equal)) {
      name = Name{static_cast<const NameExpr &>(*value).name, value->range};
      if (!(value = parseExpr()))
        return false;
    }
    arguments.push_back({std::move(name), std::move(value)});
  } while (accept(TokenKind::Comma));
  return expectClosing(TokenKind::RightParen, opener);
}

bool Parser::parseList(std::vector<ListItem> &items, std::string_view what) {
  SourceRange opener = here();
  if (!expect(TokenKind::LeftBracket, fmt::format(" and {}", what)))
    return false;
  do {
    ListItem item;
    uint32_t begin = token.begin;
    std::optional<std::vector<Clause>> clauses = parseClauses();
    if (!clauses)
      return false;
    item.clauses = std::move(*clauses);
    if (!item.clauses.empty() && !expect(TokenKind::Colon, " after the loop"))
      return false;
    if (!(item.begin = parseExpr()) || (accept(TokenKind::DotDot) && !(item.end = parseExpr())))
      return false;
    item.range = rangeFrom(begin);
    items.push_back(std::move(item));
  } while (accept(TokenKind::Comma));
  return expectClosing(TokenKind::RightBracket, opener);
}

bool Parser::parseView(ApplyStmt::View &view) {
  std::optional<Name> buffer = expectName("chunks such as 'data[0..ranks]'");
  if (!buffer)
    return false;
  view.buffer = std::move(*buffer);
  if (!parseList(view.chunks, "chunks of the buffer"))
    return false;
  view.range = rangeFrom(view.buffer.range.begin);
  return true;
}

} // namespace coil
