//===- ParseSchedule.cpp - How an algorithm should run --------------------===//

#include "compiler/frontend/Parser.h"

#include "compiler/frontend/ScheduleWords.h"
#include "compiler/frontend/Suggest.h"

namespace coil {

using namespace ast;

std::optional<ScheduleStmt::Entry> Parser::parseScheduleEntry() {
  std::optional<Name> word = expectName(listOfScheduleWords());
  if (!word)
    return std::nullopt;
  ScheduleStmt::Entry entry{std::move(*word), nullptr, {}};
  const ScheduleWord *known = findScheduleWord(entry.word.text);
  if (!known) {
    Suggestion nearest(entry.word.text);
    for (const ScheduleWord &each : scheduleWords())
      nearest.consider(each.word);
    diagnostics.error(entry.word.range, "expected {}, found '{}'{}", listOfScheduleWords(),
                      entry.word.text, nearest.text());
    return std::nullopt;
  }
  if (known->choices.empty()) {
    entry.value = parseExpr();
    return entry.value ? std::optional(std::move(entry)) : std::nullopt;
  }
  std::optional<Name> choice = expectName(listOfChoices(*known));
  if (!choice)
    return std::nullopt;
  entry.choice = std::move(*choice);
  return entry;
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
