//===- LexerTest.cpp - Tokens, comments, encodings ------------------------===//

#include "compiler/frontend/Lexer.h"
#include "compiler/frontend/Utf8.h"
#include "test/unit/frontend/FrontendTesting.h"

using namespace coil;
using namespace coil::testing;

namespace {

/// The tokens of a text, each as its text; "!" leads the reported errors.
std::vector<std::string> tokensOf(std::string text) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  const SourceFile &file = sources.add("test.coil", std::move(text));
  std::vector<std::string> tokens;
  Lexer lexer(file, diagnostics);
  for (Token token = lexer.next(); token.kind != TokenKind::EndOfFile; token = lexer.next())
    tokens.emplace_back(file.text().substr(token.begin, token.end - token.begin));
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    tokens.push_back("!" + diagnostic.message);
  return tokens;
}

using ::testing::ElementsAre;

TEST(Lexer, TakesTheLongestPunctuation) {
  EXPECT_THAT(tokensOf("a->b-c<<1<2..3=4==5"), ElementsAre("a", "->", "b", "-", "c", "<<", "1", "<",
                                                           "2", "..", "3", "=", "4", "==", "5"));
  EXPECT_THAT(tokensOf("0..ranks"), ElementsAre("0", "..", "ranks"));
}

TEST(Lexer, SkipsComments) {
  EXPECT_THAT(tokensOf("a // b\nc /* d\n* / e */ f /**/ g / h"),
              ElementsAre("a", "c", "f", "g", "/", "h"));
  EXPECT_THAT(tokensOf("a /* b"),
              ElementsAre("a", "!expected '*/' to end this comment, found end of file"));
  EXPECT_THAT(tokensOf("a /*/"),
              ElementsAre("a", "!expected '*/' to end this comment, found end of file"));
}

TEST(Lexer, ReadsIntegers) {
  auto valueOf = [](std::string text) {
    SourceFile file("test.coil", std::move(text));
    DiagnosticEngine diagnostics;
    Token token = Lexer(file, diagnostics).next();
    EXPECT_EQ(token.kind, TokenKind::Integer);
    EXPECT_FALSE(diagnostics.hasErrors());
    return token.integer;
  };
  EXPECT_EQ(valueOf("0"), 0);
  EXPECT_EQ(valueOf("1_000_000"), 1000000);
  EXPECT_EQ(valueOf("0x7fFF_ffff"), 0x7fffffff);
  EXPECT_EQ(valueOf("9223372036854775807"), INT64_MAX);
}

TEST(Lexer, RefusesOtherNumbers) {
  const std::string tooLarge =
      "!integer is larger than 9223372036854775807, the largest of 64 signed bits";
  EXPECT_THAT(tokensOf("9223372036854775808"), ElementsAre("9223372036854775808", tooLarge));
  EXPECT_THAT(tokensOf("0x8000000000000000"), ElementsAre("0x8000000000000000", tooLarge));
  for (std::string bad : {"0x", "12ab", "1__0", "1_", "0xg", "0x_1"})
    EXPECT_THAT(tokensOf(bad), ElementsAre(bad, "!expected an integer, found '" + bad + "'"));
}

TEST(Lexer, ReadsStrings) {
  EXPECT_THAT(tokensOf(R"("a \"b\" \\" c)"), ElementsAre(R"("a \"b\" \\")", "c"));
  EXPECT_EQ(unescape(R"("a \"b\" \\")"), R"(a "b" \)");
  EXPECT_THAT(tokensOf("\"gr\xc3\xbc\xc3\x9f\""), ElementsAre("\"gr\xc3\xbc\xc3\x9f\""));
  EXPECT_THAT(tokensOf("\"a\nb"),
              ElementsAre("b", "!expected '\"' to end this string, found end of line"));
  EXPECT_THAT(tokensOf("\"a\\n\" b"),
              ElementsAre("b", "!expected '\\\"' or '\\\\' in a string, found another escape"));
  EXPECT_THAT(tokensOf("\"\x1b[31m\" a"),
              ElementsAre("a", "!expected printable characters in a string, found U+001B"));
}

TEST(Lexer, NamesUnexpectedCharacters) {
  EXPECT_THAT(tokensOf("a $ b"), ElementsAre("a", "b", "!unexpected character '$'"));
  EXPECT_THAT(tokensOf("a; b"),
              ElementsAre("a", "b", "!unexpected ';'; statements need no separator"));
  EXPECT_THAT(tokensOf("\xc3\xa9"),
              ElementsAre("!unexpected character '\xc3\xa9' (U+00E9); names and operators are "
                          "ASCII"));
  EXPECT_THAT(tokensOf("\x1b"), ElementsAre("!unexpected control character U+001B"));
}

TEST(Lexer, KnowsWhereLinesBegin) {
  SourceFile file("test.coil", "\xef\xbb\xbf a b\r\n/* c\n */ d e");
  DiagnosticEngine diagnostics;
  Lexer lexer(file, diagnostics);
  std::vector<bool> startsLine;
  for (Token token = lexer.next(); token.kind != TokenKind::EndOfFile; token = lexer.next())
    startsLine.push_back(token.startsLine);
  EXPECT_THAT(startsLine, ElementsAre(true, false, true, false));
}

TEST(Utf8, RefusesWhatIsNotWellFormed) {
  EXPECT_EQ(decodeUtf8("a").bytes, 1u);
  EXPECT_EQ(decodeUtf8("\xc3\xa9").codePoint, 0xe9u);
  EXPECT_EQ(decodeUtf8("\xf0\x9f\x98\x80").codePoint, 0x1f600u);
  for (const char *bad : {"", "\x80", "\xc0\x80", "\xc3", "\xc3(", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff"})
    EXPECT_EQ(decodeUtf8(bad).bytes, 0u) << bad;
}

TEST(CheckText, RefusesWhatIsNoText) {
  EXPECT_EQ(errorsOf(std::string("algorithm\0", 10)),
            "1:10: error: expected text, found a NUL byte\n");
  EXPECT_EQ(errorsOf("// \xc3\xa9\n// \xff"), "2:4: error: expected UTF-8, found the byte 0xff\n");
  EXPECT_EQ(errorsOf(std::string(SourceFile::maxBytes + 1, ' ')),
            "error: the text is longer than 16 MiB\n");
  EXPECT_EQ(errorsOf(std::string(SourceFile::maxBytes, ' ')),
            "1:16777217: error: expected an algorithm, found end of file\n");
}

TEST(CheckText, AcceptsByteOrderMarksAndWindowsLines) {
  EXPECT_EQ(errorsOf("\xef\xbb\xbf"
                     "algorithm a : allreduce {\r\n  chunks 1\r\n}\r\n"),
            "");
}

} // namespace
