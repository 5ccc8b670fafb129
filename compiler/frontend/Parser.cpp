//===- Parser.cpp - Statements --------------------------------------------===//

#include "compiler/frontend/Parser.h"

#include "compiler/frontend/Suggest.h"

namespace coil {

using namespace ast;

Parser::Parser(const SourceFile &source, DiagnosticEngine &diagnostics)
    : source(source), diagnostics(diagnostics), lexer(source, diagnostics) {
  token = lexer.next();
}

//===----------------------------------------------------------------------===//
// Tokens, errors and recovery
//===----------------------------------------------------------------------===//

SourceRange Parser::advance() {
  SourceRange left = here();
  previousEnd = token.end;
  token = lexer.next();
  if (diagnostics.isFull())
    stop();
  return left;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind))
    return false;
  advance();
  return true;
}

bool Parser::expect(TokenKind kind, std::string_view where) {
  if (accept(kind))
    return true;
  reportExpected(describe(kind) + std::string(where));
  return false;
}

bool Parser::expectClosing(TokenKind kind, SourceRange opener) {
  if (accept(kind))
    return true;
  if (Diagnostic *diagnostic = reportExpected(describe(kind)))
    diagnostic->note(opener, "to close this '{}'", opener.text());
  return false;
}

std::optional<Name> Parser::expectName(std::string_view what) {
  if (!at(TokenKind::Identifier)) {
    reportExpected(what);
    return std::nullopt;
  }
  SourceRange range = advance();
  return Name{std::string(range.text()), range};
}

std::string Parser::describeToken() const {
  std::string_view text = here().text();
  constexpr size_t longest = 40;
  bool isCut = text.size() > longest || text.find('\n') != std::string_view::npos;
  switch (token.kind) {
  case TokenKind::EndOfFile:
    return "end of file";
  case TokenKind::String:
    return isCut ? "a string" : std::string(text);
  case TokenKind::Identifier:
  case TokenKind::Integer:
    return fmt::format("'{}{}'", text.substr(0, longest), isCut ? "..." : "");
  default:
    return startsStatement(token.kind) || keywordKind(text) ? fmt::format("the keyword '{}'", text)
                                                            : fmt::format("'{}'", text);
  }
}

Diagnostic *Parser::reportExpected(std::string_view what) {
  if (isStopped || lastError == token.begin)
    return nullptr;
  lastError = token.begin;
  // What is missing at the end of a line is missing there, not on the next one.
  SourceRange range = here();
  if (previousEnd > 0 && (token.startsLine || at(TokenKind::EndOfFile)))
    range = {&source, previousEnd, previousEnd};
  return &diagnostics.error(range, "expected {}, found {}", what, describeToken());
}

void Parser::stop() {
  isStopped = true;
  token = {};
  token.begin = token.end = uint32_t(source.text().size());
}

bool Parser::Nesting::check() {
  if (parser.nesting <= maxNesting)
    return true;
  if (!parser.isStopped)
    parser.diagnostics.error(parser.here(), "nested more than {} levels deep", maxNesting);
  parser.stop();
  return false;
}

void Parser::recover() {
  while (true) {
    switch (token.kind) {
    case TokenKind::EndOfFile:
    case TokenKind::RightBrace:
      return;
    case TokenKind::LeftBrace: {
      Nesting level(*this);
      if (!level.check())
        return;
      parseBlock("block");
      if (!accept(TokenKind::Else))
        return;
      continue;
    }
    case TokenKind::For:
    case TokenKind::If:
      // In the middle of a line these belong to an operand.
      if (token.startsLine)
        return;
      break;
    default:
      if (startsStatement(token.kind) || startsDeclaration(token.kind))
        return;
    }
    advance();
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

std::optional<Block> Parser::parseBlock(std::string_view owner) {
  SourceRange opener = here();
  if (!at(TokenKind::LeftBrace)) {
    reportExpected(fmt::format("'{{' and the {}'s statements", owner));
    return std::nullopt;
  }
  advance();
  Block block;
  parseStatements(block.statements);
  if (!expectClosing(TokenKind::RightBrace, opener))
    return std::nullopt;
  block.range = rangeFrom(opener.begin);
  return block;
}

std::optional<Block> Parser::parseBody(std::string_view where) {
  if (at(TokenKind::LeftBrace))
    return parseBlock("block");
  if (!startsStatement(token.kind) && !atSegments()) {
    reportExpected(fmt::format("'{{' or a statement{}", where));
    return std::nullopt;
  }
  Block block;
  StmtPtr statement = parseStatement();
  if (!statement)
    return std::nullopt;
  block.range = statement->range;
  block.statements.push_back(std::move(statement));
  return block;
}

void Parser::parseStatements(std::vector<StmtPtr> &statements) {
  while (!at(TokenKind::RightBrace) && !at(TokenKind::EndOfFile) &&
         !startsDeclaration(token.kind)) {
    if (StmtPtr statement = parseStatement())
      statements.push_back(std::move(statement));
    else
      recover();
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

StmtPtr Parser::parseStatement() {
  Nesting level(*this);
  if (!level.check())
    return nullptr;
  switch (token.kind) {
  case TokenKind::Chunks:
    return parseChunks();
  case TokenKind::Scratch:
    return parseScratch();
  case TokenKind::Let:
    return parseLet();
  case TokenKind::For:
    return parseFor();
  case TokenKind::If:
    return parseIf();
  case TokenKind::Assert:
  case TokenKind::Requires:
    return parseAssert();
  case TokenKind::Ensures:
    return parseEnsures();
  case TokenKind::Send:
    return parseMove(Verb::Send);
  case TokenKind::Copy:
    return parseMove(Verb::Copy);
  case TokenKind::Reduce:
    return parseMove(Verb::Reduce);
  case TokenKind::Combine:
    return parseMove(Verb::Combine);
  case TokenKind::Exchange:
    return parseExchange();
  case TokenKind::Apply:
    return parseApply();
  case TokenKind::Schedule:
    return parseSchedule();
  default:
    if (atSegments())
      return parseSegments();
    break;
  }
  if (!isStopped && lastError != token.begin) {
    lastError = token.begin;
    std::string suggestion;
    if (at(TokenKind::Identifier)) {
      Suggestion nearest(here().text());
      for (std::string_view word :
           {"chunks", "scratch", "let", "for", "if", "assert", "send", "copy", "reduce", "combine",
            "exchange", "apply", "requires", "ensures", "segments", "schedule"})
        nearest.consider(word);
      suggestion = nearest.text();
    }
    diagnostics.error(here(), "expected a statement, found {}{}", describeToken(), suggestion);
  }
  // A block without a head is parsed by recover().
  if (!at(TokenKind::LeftBrace))
    advance();
  return nullptr;
}

StmtPtr Parser::parseChunks() {
  uint32_t begin = advance().begin;
  ExprPtr count = parseExpr();
  if (!count)
    return nullptr;
  return std::make_unique<ChunksStmt>(rangeFrom(begin), std::move(count));
}

StmtPtr Parser::parseScratch() {
  uint32_t begin = advance().begin;
  std::optional<Name> name = expectName("a name for the scratch buffer");
  if (!name)
    return nullptr;
  SourceRange opener = here();
  if (!expect(TokenKind::LeftBracket, " and the number of slots"))
    return nullptr;
  ExprPtr count = parseExpr();
  if (!count || !expectClosing(TokenKind::RightBracket, opener))
    return nullptr;
  return std::make_unique<ScratchStmt>(rangeFrom(begin), std::move(*name), std::move(count));
}

StmtPtr Parser::parseLet() {
  uint32_t begin = advance().begin;
  std::optional<Name> name = expectName("a name for the value");
  if (!name || !expect(TokenKind::Equal, fmt::format(" after 'let {}'", name->text)))
    return nullptr;
  if (at(TokenKind::LeftBracket)) {
    std::optional<TableRow> rows = parseTableRow();
    if (!rows)
      return nullptr;
    return std::make_unique<TableStmt>(rangeFrom(begin), std::move(*name), std::move(*rows));
  }
  ExprPtr value = parseExpr();
  if (!value)
    return nullptr;
  return std::make_unique<LetStmt>(rangeFrom(begin), std::move(*name), std::move(value));
}

std::optional<TableRow> Parser::parseTableRow() {
  Nesting level(*this);
  if (!level.check())
    return std::nullopt;
  TableRow row;
  SourceRange opener = advance();
  do {
    if (at(TokenKind::LeftBracket)) {
      std::optional<TableRow> inner = parseTableRow();
      if (!inner)
        return std::nullopt;
      row.entries.push_back(std::move(*inner));
      continue;
    }
    TableRow entry;
    if (!(entry.number = parseExpr()))
      return std::nullopt;
    entry.range = entry.number->range;
    row.entries.push_back(std::move(entry));
  } while (accept(TokenKind::Comma));
  if (!expectClosing(TokenKind::RightBracket, opener))
    return std::nullopt;
  row.range = rangeFrom(opener.begin);
  return row;
}

StmtPtr Parser::parseFor() {
  uint32_t begin = token.begin;
  std::optional<Loop> loop = parseLoop();
  if (!loop)
    return nullptr;
  std::optional<Block> body = parseBody(" as the loop's body");
  if (!body)
    return nullptr;
  return std::make_unique<ForStmt>(rangeFrom(begin), std::move(*loop), std::move(*body));
}

StmtPtr Parser::parseIf() {
  uint32_t begin = advance().begin;
  ExprPtr condition = parseExpr();
  if (!condition)
    return nullptr;
  if (at(TokenKind::Equal)) {
    reportExpected("'==' in a condition");
    return nullptr;
  }
  std::optional<Block> thenBody = parseBody(" after the condition");
  if (!thenBody)
    return nullptr;
  std::optional<Block> elseBody;
  if (accept(TokenKind::Else)) {
    elseBody = parseBody(" after 'else'");
    if (!elseBody)
      return nullptr;
  }
  return std::make_unique<IfStmt>(rangeFrom(begin), std::move(condition), std::move(*thenBody),
                                  std::move(elseBody));
}

/// Makes one blank of each run of blanks.
static std::string onOneLine(std::string_view text) {
  std::string result;
  for (char c : text) {
    bool isBlank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!isBlank)
      result += c;
    else if (!result.ends_with(' '))
      result += ' ';
  }
  return result;
}

StmtPtr Parser::parseAssert() {
  bool isRequirement = at(TokenKind::Requires);
  uint32_t begin = advance().begin;
  ExprPtr condition = parseExpr();
  if (!condition)
    return nullptr;
  std::string message = onOneLine(condition->range.text());
  if (at(TokenKind::String))
    message = unescape(advance().text());
  return std::make_unique<AssertStmt>(rangeFrom(begin), isRequirement, std::move(condition),
                                      std::move(message));
}

StmtPtr Parser::parseMove(Verb verb) {
  uint32_t begin = advance().begin;
  bool takesList = verb == Verb::Reduce || verb == Verb::Combine;
  std::vector<Operand> operands;
  do {
    std::optional<Operand> operand = parseOperand();
    if (!operand)
      return nullptr;
    operands.push_back(std::move(*operand));
    if (!takesList && !operands.back().clauses.empty()) {
      diagnostics.error(operands.back().clauses.front().loop.range,
                        "'{}' takes one place; write the loop as a statement around it",
                        spelling(verb));
      return nullptr;
    }
  } while (takesList && accept(TokenKind::Comma));
  if (!expect(TokenKind::Arrow, " and a destination"))
    return nullptr;
  std::optional<Place> destination = parsePlace();
  if (!destination)
    return nullptr;
  return std::make_unique<MoveStmt>(rangeFrom(begin), verb, std::move(operands),
                                    std::move(*destination));
}

StmtPtr Parser::parseExchange() {
  uint32_t begin = advance().begin;
  std::optional<Block> body = parseBlock("exchange");
  if (!body)
    return nullptr;
  return std::make_unique<ExchangeStmt>(rangeFrom(begin), std::move(*body));
}

std::optional<Operand> Parser::parseOperand() {
  std::optional<Place> place = parsePlace();
  if (!place)
    return std::nullopt;
  Operand operand;
  uint32_t begin = place->range.begin;
  operand.place = std::move(*place);
  std::optional<std::vector<Clause>> clauses = parseClauses();
  if (!clauses)
    return std::nullopt;
  operand.clauses = std::move(*clauses);
  operand.range = rangeFrom(begin);
  return operand;
}

std::optional<std::vector<Clause>> Parser::parseClauses() {
  std::vector<Clause> clauses;
  while (at(TokenKind::For)) {
    // Loops of a comprehension nest without recursion here, but not later on.
    if (clauses.size() == maxNesting) {
      diagnostics.error(here(), "nested more than {} levels deep", maxNesting);
      stop();
      return std::nullopt;
    }
    std::optional<Loop> loop = parseLoop();
    if (!loop)
      return std::nullopt;
    ExprPtr condition;
    if (accept(TokenKind::If) && !(condition = parseExpr()))
      return std::nullopt;
    clauses.push_back({std::move(*loop), std::move(condition)});
  }
  return clauses;
}

std::optional<Place> Parser::parsePlace(bool isCompared) {
  Place place;
  std::optional<Name> buffer = expectName("a place such as 'data[0] @ 0'");
  if (!buffer)
    return std::nullopt;
  place.buffer = std::move(*buffer);
  SourceRange opener = here();
  if (!expect(TokenKind::LeftBracket, " and a chunk index after the buffer's name"))
    return std::nullopt;
  if (!(place.begin = parseExpr()))
    return std::nullopt;
  if (accept(TokenKind::DotDot) && !(place.end = parseExpr()))
    return std::nullopt;
  if (!expectClosing(TokenKind::RightBracket, opener) ||
      !expect(TokenKind::At, " and a rank after the place") ||
      !(place.rank = isCompared ? parseBinary(comparisonPrecedence + 1) : parseExpr()))
    return std::nullopt;
  place.range = rangeFrom(place.buffer.range.begin);
  return place;
}

std::optional<Loop> Parser::parseLoop() {
  Loop loop;
  uint32_t begin = advance().begin;
  std::optional<Name> variable = expectName("a name for the loop variable");
  if (!variable)
    return std::nullopt;
  loop.variable = std::move(*variable);
  if (!expect(TokenKind::In, " after the loop variable") || !(loop.begin = parseExpr()) ||
      !expect(TokenKind::DotDot, " and the end of the range") || !(loop.end = parseExpr()))
    return std::nullopt;
  // 'step' is a word of its own only here, where no name can stand.
  if (at(TokenKind::Identifier) && here().text() == "step") {
    advance();
    if (!(loop.step = parseExpr()))
      return std::nullopt;
  }
  loop.range = rangeFrom(begin);
  return loop;
}

} // namespace coil
