//===- Token.h - The words of the language -----------------------*- C++ -*-===//

#ifndef COIL_COMPILER_FRONTEND_TOKEN_H
#define COIL_COMPILER_FRONTEND_TOKEN_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coil {

enum class TokenKind : uint8_t {
  EndOfFile,
  Identifier,
  Integer,
  String,

  // Keywords.
  Algorithm,
  Chunks,
  Scratch,
  Let,
  For,
  In,
  If,
  Else,
  Assert,
  Requires,
  Ensures,
  Send,
  Copy,
  Reduce,
  Combine,
  Exchange,
  Apply,
  Schedule,
  Fn,
  Import,
  True,
  False,

  // Punctuation.
  LeftBrace,
  RightBrace,
  LeftBracket,
  RightBracket,
  LeftParen,
  RightParen,
  Comma,
  Colon,
  At,
  Arrow,
  Dot,
  DotDot,
  Equal,

  // Operators.
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  ShiftLeft,
  ShiftRight,
  Ampersand,
  Pipe,
  Caret,
  Tilde,
  EqualEqual,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  AndAnd,
  OrOr,
  Not,
};

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  /// True if only blanks and comments precede it on its line.
  bool startsLine = false;
  uint32_t begin = 0;
  uint32_t end = 0;
  /// The value of an Integer.
  int64_t integer = 0;
};

/// The fixed text of a keyword or of punctuation, and a description in words
/// ("a name", "end of file") of the other kinds.
std::string_view spelling(TokenKind kind);

/// The keyword that `text` is.
std::optional<TokenKind> keywordKind(std::string_view text);

/// True for the words that begin a declaration, which stands in a file directly.
bool startsDeclaration(TokenKind kind);

/// True for the words that begin a statement.
bool startsStatement(TokenKind kind);

/// "'->'", "a name", "end of file": a kind as error messages name it.
std::string describe(TokenKind kind);

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_TOKEN_H
