//===- Token.cpp - The words of the language ------------------------------===//

#include "compiler/frontend/Token.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace coil {

namespace {
struct Word {
  std::string_view text;
  TokenKind kind;
};
} // namespace

static constexpr Word words[] = {
    {"algorithm", TokenKind::Algorithm},
    {"chunks", TokenKind::Chunks},
    {"scratch", TokenKind::Scratch},
    {"let", TokenKind::Let},
    {"for", TokenKind::For},
    {"in", TokenKind::In},
    {"if", TokenKind::If},
    {"else", TokenKind::Else},
    {"assert", TokenKind::Assert},
    {"requires", TokenKind::Requires},
    {"ensures", TokenKind::Ensures},
    {"send", TokenKind::Send},
    {"copy", TokenKind::Copy},
    {"reduce", TokenKind::Reduce},
    {"combine", TokenKind::Combine},
    {"exchange", TokenKind::Exchange},
    {"fn", TokenKind::Fn},
    {"true", TokenKind::True},
    {"false", TokenKind::False},
    {"import", TokenKind::Import},
    {"apply", TokenKind::Apply},
    {"schedule", TokenKind::Schedule},
};

std::optional<TokenKind> keywordKind(std::string_view text) {
  auto found = std::ranges::find(words, text, &Word::text);
  return found == std::end(words) ? std::nullopt : std::optional(found->kind);
}

std::string_view spelling(TokenKind kind) {
  switch (kind) {
  case TokenKind::EndOfFile:
    return "end of file";
  case TokenKind::Identifier:
    return "a name";
  case TokenKind::Integer:
    return "an integer";
  case TokenKind::String:
    return "a string";
  case TokenKind::LeftBrace:
    return "{";
  case TokenKind::RightBrace:
    return "}";
  case TokenKind::LeftBracket:
    return "[";
  case TokenKind::RightBracket:
    return "]";
  case TokenKind::LeftParen:
    return "(";
  case TokenKind::RightParen:
    return ")";
  case TokenKind::Comma:
    return ",";
  case TokenKind::Colon:
    return ":";
  case TokenKind::At:
    return "@";
  case TokenKind::Arrow:
    return "->";
  case TokenKind::Dot:
    return ".";
  case TokenKind::DotDot:
    return "..";
  case TokenKind::Equal:
    return "=";
  case TokenKind::Plus:
    return "+";
  case TokenKind::Minus:
    return "-";
  case TokenKind::Star:
    return "*";
  case TokenKind::Slash:
    return "/";
  case TokenKind::Percent:
    return "%";
  case TokenKind::ShiftLeft:
    return "<<";
  case TokenKind::ShiftRight:
    return ">>";
  case TokenKind::Ampersand:
    return "&";
  case TokenKind::Pipe:
    return "|";
  case TokenKind::Caret:
    return "^";
  case TokenKind::Tilde:
    return "~";
  case TokenKind::EqualEqual:
    return "==";
  case TokenKind::NotEqual:
    return "!=";
  case TokenKind::Less:
    return "<";
  case TokenKind::LessEqual:
    return "<=";
  case TokenKind::Greater:
    return ">";
  case TokenKind::GreaterEqual:
    return ">=";
  case TokenKind::AndAnd:
    return "&&";
  case TokenKind::OrOr:
    return "||";
  case TokenKind::Not:
    return "!";
  default:
    return std::ranges::find(words, kind, &Word::kind)->text;
  }
}

bool startsDeclaration(TokenKind kind) {
  return kind == TokenKind::Algorithm || kind == TokenKind::Fn || kind == TokenKind::Import;
}

bool startsStatement(TokenKind kind) {
  switch (kind) {
  case TokenKind::Chunks:
  case TokenKind::Scratch:
  case TokenKind::Let:
  case TokenKind::For:
  case TokenKind::If:
  case TokenKind::Assert:
  case TokenKind::Requires:
  case TokenKind::Ensures:
  case TokenKind::Send:
  case TokenKind::Copy:
  case TokenKind::Reduce:
  case TokenKind::Combine:
  case TokenKind::Exchange:
  case TokenKind::Apply:
  case TokenKind::Schedule:
    return true;
  default:
    return false;
  }
}

std::string describe(TokenKind kind) {
  switch (kind) {
  case TokenKind::EndOfFile:
  case TokenKind::Identifier:
  case TokenKind::Integer:
  case TokenKind::String:
    return std::string(spelling(kind));
  default:
    return fmt::format("'{}'", spelling(kind));
  }
}

} // namespace coil
