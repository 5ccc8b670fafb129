//===- ParseSchedule.cpp - How an algorithm should run --------------------===//

#include "compiler/frontend/Parser.h"

#include "compiler/frontend/Suggest.h"

namespace coil {

using namespace ast;

std::optional<ScheduleStmt::Entry> Parser::parseScheduleEntry() {
  std::optional<Name> word = expectName("'slices', 'parallel' or 'transport'");
  if (!word)
    return std::nullopt;
  ScheduleStmt::Entry entry{std::move(*word), nullptr, {}};
  if (entry.word.text == "slices" || entry.word.text == "parallel") {
    entry.value = parseExpr();
    return entry.value ? std::optional(std::move(entry)) : std::nullopt;
  }
  if (entry.word.text == "transport") {
    std::optional<Name> choice = expectName("'p2p' or 'staged'");
    if (!choice)
      return std::nullopt;
    entry.choice = std::move(*choice);
    return entry;
  }
  Suggestion nearest(entry.word.text);
  for (std::string_view known : {"slices", "parallel", "transport"})
    nearest.consider(known);
  diagnostics.error(entry.word.range, "expected 'slices', 'parallel' or 'transport', found '{}'{}",
                    entry.word.text, nearest.text());
  return std::nullopt;
}

StmtPtr Parser::parseSchedule() {
  auto stmt = std::make_unique<ScheduleStmt>(SourceRange());
  uint32_t begin = advance().begin;
  SourceRange opener = here();
  if (!expect(TokenKind::LeftBrace, " and how the algorithm should run"))
    return nullptr;
  while (!at(TokenKind::RightBrace) && !at(TokenKind::EndOfFile)) {
    std::optional<ScheduleStmt::Entry> entry = parseScheduleEntry();
    if (!entry) {
      // The rest of the block says nothing to what follows it.
      while (!at(TokenKind::RightBrace) && !at(TokenKind::EndOfFile) &&
             !startsDeclaration(token.kind))
        advance();
      accept(TokenKind::RightBrace);
      return nullptr;
    }
    stmt->entries.push_back(std::move(*entry));
  }
  if (!expectClosing(TokenKind::RightBrace, opener))
    return nullptr;
  stmt->range = rangeFrom(begin);
  return stmt;
}

} // namespace coil
