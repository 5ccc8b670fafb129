//===- Parser.h - Tokens to a syntax tree ------------------------*- C++ -*-===//
//
// Recursive descent, one token of lookahead. A function that returns a null
// pointer or an empty optional has reported why. After an error in a statement,
// parsing goes on at the next one, so that one run shows several errors.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_FRONTEND_PARSER_H
#define COIL_COMPILER_FRONTEND_PARSER_H

#include "compiler/frontend/Ast.h"
#include "compiler/frontend/Lexer.h"

namespace coil {

class Parser {
public:
  Parser(const SourceFile &source, DiagnosticEngine &diagnostics);

  std::unique_ptr<ast::File> parse();

private:
  // Declarations (ParseDecl.cpp).
  std::unique_ptr<ast::Algorithm> parseAlgorithm();
  bool parseHeader(ast::Algorithm &algorithm);
  bool parseParameters(ast::Algorithm &algorithm);
  std::unique_ptr<ast::Function> parseFunction();
  std::optional<ast::Import> parseImport();
  /// The rest of a name with dots, of which the first part is taken.
  bool parseQualified(ast::Name &name);
  std::optional<ast::ValueType> parseType();
  void skipToDeclaration();

  // Blocks (Parser.cpp).
  /// Statements in braces; an error names whose they are ("algorithm").
  std::optional<ast::Block> parseBlock(std::string_view owner);
  /// A block or a single statement; an error ends in `where` (" after 'else'").
  std::optional<ast::Block> parseBody(std::string_view where);
  void parseStatements(std::vector<ast::StmtPtr> &statements);

  // Statements (Parser.cpp).
  ast::StmtPtr parseStatement();
  ast::StmtPtr parseChunks();
  ast::StmtPtr parseScratch();
  ast::StmtPtr parseLet();
  /// The entries of a table, from its '[' on.
  std::optional<ast::TableRow> parseTableRow();
  ast::StmtPtr parseFor();
  ast::StmtPtr parseIf();
  /// Also what is required.
  ast::StmtPtr parseAssert();
  ast::StmtPtr parseSegments();
  /// `buffer[expression]`.
  ast::ExprPtr parseSegmentsOf(std::string_view buffer);
  ast::StmtPtr parseEnsures();
  /// True at 'segments', which is a word of its own where no name can stand.
  bool atSegments() const { return at(TokenKind::Identifier) && here().text() == "segments"; }
  ast::StmtPtr parseMove(ast::Verb verb);
  ast::StmtPtr parseExchange();
  std::optional<std::vector<ast::Clause>> parseClauses();
  std::optional<ast::Operand> parseOperand();
  /// `isCompared` where '==' behind it does not belong to its rank.
  std::optional<ast::Place> parsePlace(bool isCompared = false);
  std::optional<ast::Loop> parseLoop();

  // Schedules (ParseSchedule.cpp).
  ast::StmtPtr parseSchedule();
  std::optional<ast::ScheduleStmt::Entry> parseScheduleEntry();

  // Applications (ParseApply.cpp).
  ast::StmtPtr parseApply();
  bool parseArguments(std::vector<ast::ApplyStmt::Argument> &arguments);
  /// Items in brackets; an error names what they are.
  bool parseList(std::vector<ast::ListItem> &items, std::string_view what);
  bool parseView(ast::ApplyStmt::View &view);
  /// Takes a word that is one only here.
  bool expectWord(std::string_view word, std::string_view where);

  // Expressions (ParseExpr.cpp).
  ast::ExprPtr parseExpr() { return parseBinary(1); }
  static constexpr int comparisonPrecedence = 3;
  ast::ExprPtr parseBinary(int lowestPrecedence);
  ast::ExprPtr parseUnary();
  ast::ExprPtr parsePrimary();
  ast::ExprPtr parseConditional();
  ast::ExprPtr parseCall(ast::Name callee);
  ast::ExprPtr parseFold(ast::Name name, SourceRange opener, ast::ExprPtr value);
  ast::ExprPtr parseEntry(ast::Name table);
  /// Refuses an expression that is too deep to recurse over.
  ast::ExprPtr checkDepth(ast::ExprPtr expr);

  // Tokens.
  bool at(TokenKind kind) const { return token.kind == kind; }
  /// Goes to the next token and returns the range of the one left behind.
  SourceRange advance();
  bool accept(TokenKind kind);
  /// Takes a token of that kind, or reports that it is expected `where`
  /// (" after the condition"; may be empty).
  bool expect(TokenKind kind, std::string_view where = "");
  /// As expect, for what closes `opener`; an error points there as well.
  bool expectClosing(TokenKind kind, SourceRange opener);
  std::optional<ast::Name> expectName(std::string_view what);
  SourceRange here() const { return {&source, token.begin, token.end}; }
  SourceRange rangeFrom(uint32_t begin) const { return {&source, begin, previousEnd}; }
  std::string describeToken() const;

  // Errors and recovery.
  Diagnostic *reportExpected(std::string_view what);
  /// Skips to where a statement may begin again; parses the block of a
  /// statement whose head was wrong.
  void recover();
  /// Gives up on the rest of the file after an error that leaves no way on.
  void stop();

  /// Counts a level of recursion for as long as it lives.
  class Nesting {
  public:
    explicit Nesting(Parser &parser) : parser(parser) { ++parser.nesting; }
    ~Nesting() { --parser.nesting; }
    Nesting(const Nesting &) = delete;
    Nesting &operator=(const Nesting &) = delete;
    /// False, after an error, beyond ast::maxNesting levels.
    bool check();

  private:
    Parser &parser;
  };

  const SourceFile &source;
  DiagnosticEngine &diagnostics;
  Lexer lexer;
  Token token;
  uint32_t previousEnd = 0;
  uint32_t nesting = 0;
  /// Where the last syntax error was: one place gives one error.
  std::optional<uint32_t> lastError;
  bool isStopped = false;
};

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_PARSER_H
