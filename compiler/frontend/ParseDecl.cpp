//===- ParseDecl.cpp - What stands in a file directly ---------------------===//

#include "compiler/frontend/Parser.h"

#include "compiler/frontend/Frontend.h"

namespace coil {

using namespace ast;

std::unique_ptr<File> parseFile(const SourceFile &source, DiagnosticEngine &diagnostics) {
  size_t errorsBefore = diagnostics.numErrors();
  if (!checkText(source, diagnostics))
    return nullptr;
  std::unique_ptr<File> file = Parser(source, diagnostics).parse();
  return diagnostics.numErrors() == errorsBefore ? std::move(file) : nullptr;
}

std::unique_ptr<File> Parser::parse() {
  auto file = std::make_unique<File>();
  file->source = &source;
  if (at(TokenKind::EndOfFile))
    reportExpected("an algorithm");
  while (!at(TokenKind::EndOfFile)) {
    switch (token.kind) {
    case TokenKind::Algorithm:
      file->algorithms.push_back(parseAlgorithm());
      continue;
    case TokenKind::Fn:
      if (std::unique_ptr<Function> function = parseFunction())
        file->functions.push_back(std::move(function));
      else
        skipToDeclaration();
      continue;
    case TokenKind::Import:
      if (std::optional<Import> import = parseImport())
        file->imports.push_back(std::move(*import));
      else
        skipToDeclaration();
      continue;
    default:
      reportExpected("'algorithm', 'fn' or 'import'");
      advance();
      skipToDeclaration();
    }
  }
  return file;
}

void Parser::skipToDeclaration() {
  while (!startsDeclaration(token.kind) && !at(TokenKind::EndOfFile))
    advance();
}

/// The last folder that a path names, if any, and the file's name without ".coil",
/// with a dot between them.
static std::string moduleOf(std::string_view path) {
  size_t slash = path.rfind('/');
  std::string_view stem = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (stem.ends_with(".coil"))
    stem.remove_suffix(5);
  std::string_view folder = slash == std::string_view::npos ? "" : path.substr(0, slash);
  if (size_t before = folder.rfind('/'); before != std::string_view::npos)
    folder.remove_prefix(before + 1);
  bool isNamed = !folder.empty() && folder != "." && folder != "..";
  return isNamed ? fmt::format("{}.{}", folder, stem) : std::string(stem);
}

/// True for ASCII names with dots between them.
static bool isModuleName(std::string_view text) {
  bool begins = true;
  for (char c : text) {
    bool isDigit = c >= '0' && c <= '9';
    bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (c == '.' ? begins : !isLetter && (!isDigit || begins))
      return false;
    begins = c == '.';
  }
  return !begins;
}

std::optional<Import> Parser::parseImport() {
  Import import;
  uint32_t begin = advance().begin;
  if (!at(TokenKind::String)) {
    reportExpected("the path of a file, as in \"ring.coil\"");
    return std::nullopt;
  }
  SourceRange path = advance();
  import.path = unescape(path.text());
  import.module = {moduleOf(import.path), path};
  if (at(TokenKind::Identifier) && here().text() == "as") {
    advance();
    std::optional<Name> name = expectName("a name for what is imported");
    if (!name)
      return std::nullopt;
    import.module = std::move(*name);
  }
  if (!isModuleName(import.module.text)) {
    diagnostics.error(path, "'{}' cannot be a name; give one, as in 'import {} as name'",
                      import.module.text, path.text());
    return std::nullopt;
  }
  import.range = rangeFrom(begin);
  return import;
}

bool Parser::parseQualified(Name &name) {
  while (accept(TokenKind::Dot)) {
    // A collective and its verb share a name: reduce.
    if (!at(TokenKind::Identifier) && !at(TokenKind::Reduce)) {
      reportExpected("a name after '.'");
      return false;
    }
    SourceRange part = advance();
    name.text += '.';
    name.text += part.text();
    name.range = name.range.to(part);
  }
  return true;
}

std::unique_ptr<Algorithm> Parser::parseAlgorithm() {
  auto algorithm = std::make_unique<Algorithm>();
  uint32_t begin = advance().begin;
  if (!parseHeader(*algorithm))
    while (!at(TokenKind::LeftBrace) && !startsDeclaration(token.kind) && !at(TokenKind::EndOfFile))
      advance();
  if (std::optional<Block> body = parseBlock("algorithm"))
    algorithm->body = std::move(*body);
  algorithm->range = rangeFrom(begin);
  return algorithm;
}

bool Parser::parseHeader(Algorithm &algorithm) {
  std::optional<Name> name = expectName("the algorithm's name");
  if (!name)
    return false;
  algorithm.name = std::move(*name);
  if (at(TokenKind::LeftParen) && !parseParameters(algorithm))
    return false;
  if (!expect(TokenKind::Colon, " and the collective that the algorithm implements"))
    return false;
  // A collective may have a verb's name: reduce.
  bool isWord = at(TokenKind::Identifier) || at(TokenKind::Reduce);
  if (!isWord) {
    reportExpected("the name of a collective");
    return false;
  }
  SourceRange range = advance();
  algorithm.contract.collective = {std::string(range.text()), range};
  if (!at(TokenKind::LeftParen))
    return true;
  SourceRange opener = advance();
  algorithm.contract.root = expectName("a name for the root's rank");
  return algorithm.contract.root && expectClosing(TokenKind::RightParen, opener);
}

std::optional<ValueType> Parser::parseType() {
  if (at(TokenKind::Identifier) && (here().text() == "int" || here().text() == "bool"))
    return advance().text() == "int" ? ValueType::Int : ValueType::Bool;
  reportExpected("the type 'int' or 'bool'");
  return std::nullopt;
}

bool Parser::parseParameters(Algorithm &algorithm) {
  SourceRange opener = advance();
  if (accept(TokenKind::RightParen))
    return true;
  do {
    Parameter parameter;
    std::optional<Name> name = expectName("a name for the parameter");
    if (!name || !expect(TokenKind::Colon, " and the parameter's type"))
      return false;
    parameter.name = std::move(*name);
    std::optional<ValueType> type = parseType();
    if (!type)
      return false;
    parameter.type = *type;
    if (at(TokenKind::In)) {
      SourceRange word = advance();
      if (!(parameter.low = parseExpr()) ||
          !expect(TokenKind::DotDot, " and the end of the range") ||
          !(parameter.high = parseExpr()))
        return false;
      if (parameter.type == ValueType::Bool) {
        diagnostics.error(word.to(parameter.high->range), "a bool parameter has no range");
        return false;
      }
    }
    if (accept(TokenKind::Equal) && !(parameter.value = parseExpr()))
      return false;
    parameter.range = rangeFrom(parameter.name.range.begin);
    algorithm.parameters.push_back(std::move(parameter));
  } while (accept(TokenKind::Comma));
  return expectClosing(TokenKind::RightParen, opener);
}

std::unique_ptr<Function> Parser::parseFunction() {
  auto function = std::make_unique<Function>();
  uint32_t begin = advance().begin;
  std::optional<Name> name = expectName("the function's name");
  SourceRange opener = here();
  if (!name || !expect(TokenKind::LeftParen, " and the function's parameters"))
    return nullptr;
  function->name = std::move(*name);
  if (!at(TokenKind::RightParen)) {
    do {
      std::optional<Name> parameter = expectName("a name for the parameter");
      if (!parameter)
        return nullptr;
      ValueType type = ValueType::Int;
      if (accept(TokenKind::Colon)) {
        std::optional<ValueType> written = parseType();
        if (!written)
          return nullptr;
        type = *written;
      }
      function->parameters.push_back({std::move(*parameter), type});
    } while (accept(TokenKind::Comma));
  }
  if (!expectClosing(TokenKind::RightParen, opener))
    return nullptr;
  if (accept(TokenKind::Colon)) {
    std::optional<ValueType> type = parseType();
    if (!type)
      return nullptr;
    function->type = *type;
  }
  if (!expect(TokenKind::Equal, " and the function's value") || !(function->body = parseExpr()))
    return nullptr;
  function->range = rangeFrom(begin);
  return function;
}

} // namespace coil
