//===- RobustnessTest.cpp - No text crashes or hangs the front end --------===//

#include "compiler/frontend/Imports.h"
#include "test/unit/frontend/FrontendTesting.h"

#include <filesystem>
#include <fstream>
#include <random>

using namespace coil;
using namespace coil::testing;

namespace {

std::string repeated(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += text;
  return result;
}

TEST(Nesting, AcceptsWhatPeopleWrite) {
  EXPECT_EQ(errorsIn("let x = " + repeated("(", 200) + "1" + repeated(")", 200)), "");
  EXPECT_EQ(errorsIn(repeated("if ranks > 1 {", 200) + repeated("}", 200)), "");
  EXPECT_EQ(errorsIn("let x = 1" + repeated(" + 1", 200)), "");
  EXPECT_EQ(errorsIn(repeated("if ranks > 1 {} else ", 200) + "{}"), "");
  EXPECT_EQ(errorsIn(repeated("for i in 0..2 {}\n", 20000)), "");
}

TEST(Nesting, RefusesWhatWouldExhaustTheStack) {
  using ::testing::HasSubstr;
  const size_t many = 1000000;
  EXPECT_EQ(errorsIn("let x = " + repeated("(", many)),
            "2:264: error: nested more than 256 levels deep\n");
  for (std::string text :
       {"let x = " + repeated("-", many), "let x = " + repeated("min(", many),
        "let x = 1" + repeated("+1", many), repeated("if ranks>1 ", many),
        "let x = 1" + repeated("||1", many), repeated("for i in 0..1 ", many),
        repeated("exchange{", many), repeated("{", many), repeated("for {", many),
        repeated("if 1>0{}else ", many), "reduce data[0] @ 0" + repeated(" for i in 0..1", many)}) {
    Program program("algorithm a : allreduce {\n" + text + "\n}");
    EXPECT_EQ(program.file, nullptr);
    EXPECT_LE(program.diagnostics.diagnostics().size(), DiagnosticEngine::maxErrors + 1);
    EXPECT_TRUE(program.diagnostics.hasErrors());
  }
}

/// Parses, checks, dumps and renders; only crashes and hangs can fail it.
void exercise(std::string text) {
  Program program(std::move(text));
  std::ostringstream out;
  render(program.diagnostics, out);
  if (program.file)
    dumpAst(*program.file, out);
  EXPECT_EQ(program.isValid, !program.diagnostics.hasErrors());
}

std::string textOf(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::filesystem::path> examples() {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(COIL_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".coil")
      paths.push_back(entry.path());
  return paths;
}

/// What a file and those that it imports are reported for, each with its path.
std::string errorsOfFile(const std::string &path) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  auto files = parseProgram(path, {COIL_SOURCE_DIR "/examples"}, sources, diagnostics);
  EXPECT_EQ(files.empty(), diagnostics.hasErrors());
  for (const auto &file : files)
    checkFile(*file, diagnostics);
  std::string result;
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    result += path + ":" + shortText(diagnostic);
  return result;
}

TEST(Examples, AreValid) {
  std::vector<std::filesystem::path> paths = examples();
  EXPECT_GE(paths.size(), 6u);
  for (const std::filesystem::path &path : paths)
    EXPECT_EQ(errorsOfFile(path), "");
}

TEST(Documentation, ShowsValidPrograms) {
  std::string page = textOf(COIL_SOURCE_DIR "/docs/language.md");
  const std::string open = "```coil\n", close = "```";
  int programs = 0;
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    std::string path = fmt::format("{}/documented{}.coil", ::testing::TempDir(), programs++);
    std::ofstream(path) << page.substr(at, page.find(close, at) - at);
    EXPECT_EQ(errorsOfFile(path), "");
  }
  EXPECT_GE(programs, 3);
}

TEST(Robustness, SurvivesRandomWords) {
  const std::vector<std::string> words = {"algorithm", "a",         ":",
                                          "allreduce", "broadcast", "{",
                                          "}",         "[",         "]",
                                          "(",         ")",         ",",
                                          "@",         "->",        "..",
                                          "=",         "+",         "-",
                                          "*",         "/",         "%",
                                          "<<",        "&",         "<",
                                          "==",        "&&",        "!",
                                          "~",         "0",         "1",
                                          "7",         "0x10",      "99999999999999999999",
                                          "ranks",     "data",      "input",
                                          "scratch",   "chunks",    "let",
                                          "for",       "in",        "if",
                                          "else",      "assert",    "send",
                                          "copy",      "reduce",    "combine",
                                          "exchange",  "step",      "log2",
                                          "\"text\"",  "\"",        "/*",
                                          "//",        "\n",        "\xff",
                                          "$",         ";",         "fn",
                                          "x"};
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string text = i % 2 ? "algorithm a : allreduce {" : "";
    for (size_t length = random() % 60; length > 0; --length)
      text += words[random() % words.size()] + (random() % 8 ? " " : "");
    exercise(std::move(text));
  }
}

TEST(Robustness, SurvivesDamagedExamples) {
  std::vector<std::string> texts;
  for (const std::filesystem::path &path : examples())
    texts.push_back(textOf(path));
  ASSERT_FALSE(texts.empty());
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    std::string text = texts[random() % texts.size()];
    for (size_t edits = 1 + random() % 4; edits > 0 && !text.empty(); --edits) {
      size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text.erase(at, 1 + random() % 8);
        break;
      case 1:
        text[at] = char(random());
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 32));
        break;
      default:
        text.resize(at);
      }
    }
    exercise(std::move(text));
  }
}

} // namespace
