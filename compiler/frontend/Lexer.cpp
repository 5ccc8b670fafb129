//===- Lexer.cpp - Text to tokens -----------------------------------------===//

#include "compiler/frontend/Lexer.h"

#include "compiler/frontend/Utf8.h"

#include <algorithm>

namespace coil {

static constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool isWordPart(char c) { return isWordStart(c) || isDigit(c); }
static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool checkText(const SourceFile &file, DiagnosticEngine &diagnostics) {
  std::string_view text = file.text();
  if (text.size() > SourceFile::maxBytes) {
    diagnostics.error({&file}, "the text is longer than {} MiB", SourceFile::maxBytes >> 20);
    return false;
  }
  for (uint32_t offset = 0; offset < text.size();) {
    Utf8Character character = decodeUtf8(text.substr(offset));
    SourceRange here = {&file, offset, offset + 1};
    if (!character.bytes) {
      diagnostics.error(here, "expected UTF-8, found the byte 0x{:02x}",
                        static_cast<unsigned char>(text[offset]));
      return false;
    }
    if (character.codePoint == 0) {
      diagnostics.error(here, "expected text, found a NUL byte");
      return false;
    }
    offset += uint32_t(character.bytes);
  }
  return true;
}

Lexer::Lexer(const SourceFile &file, DiagnosticEngine &diagnostics)
    : file(file), diagnostics(diagnostics), text(file.text()) {
  if (text.starts_with(byteOrderMark))
    offset = uint32_t(byteOrderMark.size());
}

char Lexer::peek(uint32_t ahead) const {
  return offset + ahead < text.size() ? text[offset + ahead] : '\0';
}

bool Lexer::skipBlanks() {
  bool sawLineEnd = offset == 0 || text.substr(0, offset) == byteOrderMark;
  while (offset < text.size()) {
    if (isBlank(peek())) {
      sawLineEnd |= peek() == '\n';
      ++offset;
    } else if (peek() == '/' && peek(1) == '/') {
      offset = uint32_t(std::min(text.find('\n', offset), text.size()));
    } else if (peek() == '/' && peek(1) == '*') {
      size_t close = text.find("*/", offset + 2);
      if (close == std::string_view::npos) {
        diagnostics.error(range(offset, offset + 2), "expected '*/' to end this comment, "
                                                     "found end of file");
        offset = uint32_t(text.size());
        break;
      }
      sawLineEnd |= text.substr(offset, close - offset).find('\n') != std::string_view::npos;
      offset = uint32_t(close + 2);
    } else {
      break;
    }
  }
  return sawLineEnd;
}

Token Lexer::next() {
  bool startsLine = false;
  while (true) {
    startsLine |= skipBlanks();
    Token token;
    token.startsLine = startsLine;
    token.begin = token.end = offset;
    // Garbage beyond the last error that is kept is not worth reading.
    if (offset == text.size() || diagnostics.isFull())
      return token;
    if (isWordStart(peek()))
      return word(token);
    if (isDigit(peek()))
      return number(token);
    if (peek() == '"') {
      if (string(token))
        return token;
    } else if (punctuation(token)) {
      return token;
    } else {
      reportUnexpected(token.begin);
    }
  }
}

Token Lexer::word(Token token) {
  while (isWordPart(peek()))
    ++offset;
  token.end = offset;
  token.kind = keywordKind(text.substr(token.begin, token.end - token.begin))
                   .value_or(TokenKind::Identifier);
  return token;
}

Token Lexer::number(Token token) {
  while (isWordPart(peek()))
    ++offset;
  token.end = offset;
  token.kind = TokenKind::Integer;
  SourceRange whole = range(token.begin, token.end);
  std::string_view literal = whole.text();
  bool isHexadecimal = literal.starts_with("0x") || literal.starts_with("0X");
  std::string_view digits = isHexadecimal ? literal.substr(2) : literal;
  int64_t base = isHexadecimal ? 16 : 10;
  bool separated = true; // an underscore may not come first
  for (char c : digits) {
    int digit = isDigit(c)             ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 16;
    if (c == '_' && !separated) {
      separated = true;
      continue;
    }
    if (digit >= base) {
      diagnostics.error(whole, "expected an integer, found '{}'", literal.substr(0, 40));
      return token;
    }
    separated = false;
    if (__builtin_mul_overflow(token.integer, base, &token.integer) ||
        __builtin_add_overflow(token.integer, int64_t(digit), &token.integer)) {
      diagnostics.error(whole, "integer is larger than {}, the largest of 64 signed bits",
                        INT64_MAX);
      token.integer = 0;
      return token;
    }
  }
  if (separated)
    diagnostics.error(whole, "expected an integer, found '{}'", literal.substr(0, 40));
  return token;
}

bool Lexer::string(Token &token) {
  bool isUsable = true;
  ++offset;
  while (true) {
    if (offset == text.size() || peek() == '\n') {
      diagnostics.error(range(token.begin, offset), "expected '\"' to end this string, found {}",
                        offset == text.size() ? "end of file" : "end of line");
      return false;
    }
    char c = peek();
    if (c == '"')
      break;
    uint32_t begin = offset;
    if (c == '\\') {
      char escaped = peek(1);
      if (escaped == '"' || escaped == '\\') {
        offset += 2;
        continue;
      }
      diagnostics.error(range(begin, begin + 1),
                        "expected '\\\"' or '\\\\' in a string, found another escape");
      isUsable = false;
    }
    Utf8Character character = decodeUtf8(text.substr(offset));
    offset += uint32_t(character.bytes);
    bool isLineEnd = c == '\r' && peek() == '\n';
    bool isControl =
        character.codePoint < 0x20 || (character.codePoint >= 0x7f && character.codePoint < 0xa0);
    if (isControl && !isLineEnd) {
      diagnostics.error(range(begin, offset),
                        "expected printable characters in a string, found U+{:04X}",
                        character.codePoint);
      isUsable = false;
    }
  }
  ++offset;
  token.end = offset;
  token.kind = TokenKind::String;
  return isUsable;
}

std::string unescape(std::string_view literal) {
  std::string result;
  std::string_view inner = literal.substr(1, literal.size() - 2);
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == '\\')
      ++i;
    result += inner[i];
  }
  return result;
}

bool Lexer::punctuation(Token &token) {
  struct Punctuation {
    std::string_view text;
    TokenKind kind;
  };
  // The longest text that fits is taken, so two characters come first.
  static constexpr Punctuation table[] = {
      {"->", TokenKind::Arrow},      {"..", TokenKind::DotDot},       {"<<", TokenKind::ShiftLeft},
      {">>", TokenKind::ShiftRight}, {"==", TokenKind::EqualEqual},   {"!=", TokenKind::NotEqual},
      {"<=", TokenKind::LessEqual},  {">=", TokenKind::GreaterEqual}, {"&&", TokenKind::AndAnd},
      {"||", TokenKind::OrOr},       {"{", TokenKind::LeftBrace},     {"}", TokenKind::RightBrace},
      {"[", TokenKind::LeftBracket}, {"]", TokenKind::RightBracket},  {"(", TokenKind::LeftParen},
      {")", TokenKind::RightParen},  {",", TokenKind::Comma},         {":", TokenKind::Colon},
      {"@", TokenKind::At},          {"=", TokenKind::Equal},         {"+", TokenKind::Plus},
      {"-", TokenKind::Minus},       {"*", TokenKind::Star},          {"/", TokenKind::Slash},
      {"%", TokenKind::Percent},     {"&", TokenKind::Ampersand},     {"|", TokenKind::Pipe},
      {"^", TokenKind::Caret},       {"~", TokenKind::Tilde},         {"<", TokenKind::Less},
      {">", TokenKind::Greater},     {"!", TokenKind::Not},           {".", TokenKind::Dot},
  };
  for (const Punctuation &entry : table) {
    if (!text.substr(offset).starts_with(entry.text))
      continue;
    offset += uint32_t(entry.text.size());
    token.end = offset;
    token.kind = entry.kind;
    return true;
  }
  return false;
}

void Lexer::reportUnexpected(uint32_t begin) {
  Utf8Character character = decodeUtf8(text.substr(begin));
  offset = begin + uint32_t(character.bytes);
  SourceRange here = range(begin, offset);
  bool isVisible = character.codePoint > 0x20 && character.codePoint != 0x7f &&
                   !(character.codePoint >= 0x80 && character.codePoint < 0xa0);
  if (character.codePoint == ';')
    diagnostics.error(here, "unexpected ';'; statements need no separator");
  else if (character.codePoint < 0x80 && isVisible)
    diagnostics.error(here, "unexpected character '{}'", here.text());
  else if (isVisible)
    diagnostics.error(here, "unexpected character '{}' (U+{:04X}); names and operators are ASCII",
                      here.text(), character.codePoint);
  else
    diagnostics.error(here, "unexpected control character U+{:04X}", character.codePoint);
}

} // namespace coil
