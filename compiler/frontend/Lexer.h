//===- Lexer.h - Text to tokens ----------------------------------*- C++ -*-===//

#ifndef COIL_COMPILER_FRONTEND_LEXER_H
#define COIL_COMPILER_FRONTEND_LEXER_H

#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/Token.h"

namespace coil {

/// Reports the first thing that makes a file no program text at all: more than
/// SourceFile::maxBytes, a NUL byte, or broken UTF-8. The lexer needs a file
/// that passed.
bool checkText(const SourceFile &file, DiagnosticEngine &diagnostics);

/// Cuts a text into tokens, one a call. What is no token is reported and
/// skipped, so that a caller sees well-formed tokens only.
class Lexer {
public:
  Lexer(const SourceFile &file, DiagnosticEngine &diagnostics);

  /// The next token; EndOfFile for ever after the last one.
  Token next();

private:
  /// Skips blanks and comments; true if a line ended among them.
  bool skipBlanks();
  Token word(Token token);
  Token number(Token token);
  /// False if the literal is unusable and was reported.
  bool string(Token &token);
  /// False if there is no such punctuation.
  bool punctuation(Token &token);
  void reportUnexpected(uint32_t begin);

  char peek(uint32_t ahead = 0) const;
  SourceRange range(uint32_t begin, uint32_t end) const { return {&file, begin, end}; }

  const SourceFile &file;
  DiagnosticEngine &diagnostics;
  std::string_view text;
  uint32_t offset = 0;
};

/// The characters that a String token stands for.
std::string unescape(std::string_view literal);

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_LEXER_H
