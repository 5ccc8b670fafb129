//===- FrontendTesting.h - Programs as strings, errors as strings -*- C++ -*-===//

#ifndef COIL_TEST_UNIT_FRONTEND_FRONTENDTESTING_H
#define COIL_TEST_UNIT_FRONTEND_FRONTENDTESTING_H

#include "compiler/frontend/Frontend.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace coil::testing {

/// A text that went through the parser and, if it parsed, the checker.
struct Program {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  std::unique_ptr<ast::File> file;
  bool isValid = false;

  explicit Program(std::string text) {
    file = parseFile(sources.add("test.coil", std::move(text)), diagnostics);
    isValid = file && checkFile(*file, diagnostics);
  }
};

inline std::string shortText(const Diagnostic &diagnostic) {
  static constexpr const char *names[] = {"error", "warning", "note"};
  std::string place;
  if (diagnostic.range.hasPosition()) {
    LineColumn position = diagnostic.range.file->position(diagnostic.range.begin);
    place = fmt::format("{}:{}: ", position.line, position.column);
  }
  std::string text =
      fmt::format("{}{}: {}\n", place, names[int(diagnostic.severity)], diagnostic.message);
  for (const Diagnostic &note : diagnostic.notes)
    text += shortText(note);
  return text;
}

/// What a program is reported for: "line:column: severity: message" a line.
inline std::string errorsOf(std::string text) {
  Program program(std::move(text));
  std::string result;
  for (const Diagnostic &diagnostic : program.diagnostics.diagnostics())
    result += shortText(diagnostic);
  EXPECT_EQ(program.isValid, result.empty());
  return result;
}

/// As errorsOf, for the body of an all-reduce; it begins in line 2, column 1.
inline std::string errorsIn(std::string_view body) {
  return errorsOf(fmt::format("algorithm a : allreduce {{\n{}\n}}\n", body));
}

} // namespace coil::testing

#endif // COIL_TEST_UNIT_FRONTEND_FRONTENDTESTING_H
