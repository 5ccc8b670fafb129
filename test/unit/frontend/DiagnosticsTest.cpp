//===- DiagnosticsTest.cpp - Positions, rendering, suggestions ------------===//

#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/Suggest.h"
#include "test/unit/frontend/FrontendTesting.h"

using namespace coil;

namespace {

std::string rendered(const DiagnosticEngine &engine, bool color = false) {
  std::ostringstream out;
  render(engine, out, color);
  return out.str();
}

std::string renderedAt(const SourceFile &file, uint32_t begin, uint32_t end) {
  DiagnosticEngine engine;
  engine.error({&file, begin, end}, "wrong");
  return rendered(engine);
}

TEST(SourceFile, CountsCharactersFromOne) {
  SourceFile file("a.coil", "ab\n\xc3\xa9\xe2\x82\xac x\r\n\n");
  EXPECT_EQ(file.position(0), (LineColumn{1, 1}));
  EXPECT_EQ(file.position(2), (LineColumn{1, 3}));
  EXPECT_EQ(file.position(3), (LineColumn{2, 1}));
  EXPECT_EQ(file.position(5), (LineColumn{2, 2}));
  EXPECT_EQ(file.position(9), (LineColumn{2, 4}));
  EXPECT_EQ(file.position(12), (LineColumn{3, 1}));
  EXPECT_EQ(file.position(13), (LineColumn{4, 1}));
  EXPECT_EQ(file.line(2), "\xc3\xa9\xe2\x82\xac x");
  EXPECT_EQ(file.line(4), "");
}

TEST(SourceFile, CountsCharactersOfLongLines) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "\xe2\x82\xac";
  SourceFile file("a.coil", text + "x");
  EXPECT_EQ(file.position(3000), (LineColumn{1, 1001}));
  EXPECT_EQ(file.position(1500), (LineColumn{1, 501}));
}

TEST(SourceManager, ReportsWhatCannotBeRead) {
  SourceManager sources;
  DiagnosticEngine engine;
  EXPECT_EQ(sources.open("/nowhere/a.coil", engine), nullptr);
  EXPECT_EQ(sources.open("/", engine), nullptr);
  EXPECT_EQ(rendered(engine), "error: cannot read '/nowhere/a.coil': No such file or directory\n"
                              "error: cannot read '/': Is a directory\n");
}

TEST(DiagnosticsJson, PlacesAndNotes) {
  SourceFile file("a \"b\".coil", "ab\ncd\xc3\xa9"
                                  "f\n");
  DiagnosticEngine engine;
  engine.error({&file, 4, 7}, "wrong").note({&file, 0, 2}, "here").note({}, "or nowhere");
  std::ostringstream out;
  renderJson(engine.diagnostics().front(), out);
  EXPECT_EQ(out.str(), R"({"severity": "error", "file": "a \"b\".coil", "line": 2, "column": 2, )"
                       R"("end_line": 2, "end_column": 4, "message": "wrong", "notes": [)"
                       R"({"severity": "note", "file": "a \"b\".coil", "line": 1, "column": 1, )"
                       R"("end_line": 1, "end_column": 3, "message": "here"}, )"
                       R"({"severity": "note", "message": "or nowhere"}]})"
                       "\n");
}

TEST(DiagnosticsJson, StringsAreEscaped) {
  EXPECT_EQ(jsonString("a\"b\\c\n\x1b\x7f"), R"("a\"b\\c\u000a\u001b\u007f")");
  EXPECT_EQ(jsonString("\xc3\xa9\xff\xe2\x82"), "\"\xc3\xa9\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(jsonString(""), "\"\"");
}

TEST(SourceManager, FindsFilesByName) {
  SourceManager sources;
  const SourceFile &first = sources.add("a.coil", "a");
  sources.add("b.coil", "b");
  EXPECT_EQ(sources.find("a.coil"), &first);
  EXPECT_EQ(sources.find("c.coil"), nullptr);
}

TEST(Render, ShowsLineCaretAndNotes) {
  SourceFile file("ring.coil", "one\n\ttwo three\nfour");
  DiagnosticEngine engine;
  engine.error({&file, 9, 14}, "unknown name '{}'", "three").note({&file, 0, 3}, "see {}", "here");
  EXPECT_EQ(rendered(engine), "ring.coil:2:6: error: unknown name 'three'\n"
                              "      2 | \ttwo three\n"
                              "        | \t    ^~~~~\n"
                              "ring.coil:1:1: note: see here\n"
                              "      1 | one\n"
                              "        | ^~~\n");
}

TEST(Render, MarksTheEndOfALineAndOfTheFile) {
  SourceFile file("a.coil", "ab\ncd");
  EXPECT_EQ(renderedAt(file, 2, 2), "a.coil:1:3: error: wrong\n"
                                    "      1 | ab\n"
                                    "        |   ^\n");
  EXPECT_EQ(renderedAt(file, 5, 5), "a.coil:2:3: error: wrong\n"
                                    "      2 | cd\n"
                                    "        |   ^\n");
  // What goes on in the next line is marked to the end of its first.
  EXPECT_EQ(renderedAt(file, 1, 5), "a.coil:1:2: error: wrong\n"
                                    "      1 | ab\n"
                                    "        |  ^\n");
}

TEST(Render, CountsCharactersNotBytes) {
  SourceFile file("a.coil", "\xc3\xa9\xe2\x82\xac x");
  EXPECT_EQ(renderedAt(file, 2, 5), "a.coil:1:2: error: wrong\n"
                                    "      1 | \xc3\xa9\xe2\x82\xac x\n"
                                    "        |  ^\n");
}

TEST(Render, KeepsControlCharactersFromTheTerminal) {
  SourceFile file("a.coil", "a\x1b[1m\xff z");
  EXPECT_EQ(renderedAt(file, 7, 8), "a.coil:1:8: error: wrong\n"
                                    "      1 | a\xef\xbf\xbd[1m\xef\xbf\xbd z\n"
                                    "        |        ^\n");
}

TEST(Render, CutsLongLines) {
  SourceFile file("a.coil", std::string(1000, 'a') + "b" + std::string(1000, 'c'));
  EXPECT_EQ(renderedAt(file, 1000, 1001), "a.coil:1:1001: error: wrong\n      1 | ..." +
                                              std::string(80, 'a') + "b" + std::string(119, 'c') +
                                              "...\n        | " + std::string(83, ' ') + "^\n");
}

TEST(Render, ColorsOnDemand) {
  SourceFile file("a.coil", "ab");
  DiagnosticEngine engine;
  engine.warning({&file, 0, 1}, "odd");
  EXPECT_EQ(rendered(engine, /*color=*/true),
            "\033[1ma.coil:1:1: \033[1;35mwarning: \033[0m\033[1modd\033[0m\n"
            "      1 | ab\n"
            "        | \033[1;32m^\033[0m\n");
  EXPECT_FALSE(engine.hasErrors());
}

TEST(DiagnosticEngine, StopsAfterTwentyErrors) {
  DiagnosticEngine engine;
  for (int i = 0; i < 100; ++i)
    engine.error({}, "error {}", i).note({}, "note {}", i);
  EXPECT_TRUE(engine.isFull());
  ASSERT_EQ(engine.diagnostics().size(), 21u);
  EXPECT_EQ(engine.diagnostics()[19].message, "error 19");
  EXPECT_EQ(engine.diagnostics()[20].message, "too many errors; the first 20 are shown");
  EXPECT_TRUE(engine.diagnostics()[20].notes.empty());
}

TEST(Suggest, CountsEdits) {
  EXPECT_EQ(editDistance("stpe", "step", 3), 1u);
  EXPECT_EQ(editDistance("step", "step", 3), 0u);
  EXPECT_EQ(editDistance("", "abc", 3), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting", 3), 3u);
  EXPECT_EQ(editDistance("abc", "xyzabc", 2), 3u);
}

TEST(Suggest, OffersTheClosestOrNothing) {
  auto suggest = [](std::string_view misspelt) {
    Suggestion suggestion(misspelt);
    for (std::string_view name : {"ranks", "rank", "step", "c", "incoming"})
      suggestion.consider(name);
    return suggestion.text();
  };
  EXPECT_EQ(suggest("rnaks"), "; did you mean 'ranks'?");
  EXPECT_EQ(suggest("rankk"), "; did you mean 'ranks'?");
  EXPECT_EQ(suggest("incomming"), "; did you mean 'incoming'?");
  EXPECT_EQ(suggest("x"), "");
  EXPECT_EQ(suggest("elephant"), "");
  EXPECT_EQ(suggest(std::string(100000, 'a')), "");
}

} // namespace
