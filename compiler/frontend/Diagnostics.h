//===- Diagnostics.h - Errors, warnings and how they are shown --*- C++ -*-===//
//
// Every stage reports into a DiagnosticEngine and goes on as far as it can;
// a tool renders what was collected:
//
//   ring.coil:7:27: error: unknown name 'stpe'; did you mean 'step'?
//         7 |     reduce data[c] @ (c + stpe - 1) -> data[c] @ (c + step)
//           |                           ^~~~
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_FRONTEND_DIAGNOSTICS_H
#define COIL_COMPILER_FRONTEND_DIAGNOSTICS_H

#include "compiler/frontend/SourceFile.h"

#include <deque>
#include <fmt/format.h>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coil {

enum class Severity : uint8_t { Error, Warning, Note };
/// "error", "warning", "note".
const char *nameOf(Severity severity);

struct Diagnostic {
  Severity severity = Severity::Error;
  SourceRange range;
  std::string message;
  std::vector<Diagnostic> notes;

  /// Adds a note, at another place or (with an empty range) without one.
  template <typename... Args>
  Diagnostic &note(SourceRange range, fmt::format_string<Args...> format, Args &&...args) {
    notes.push_back({Severity::Note, range, fmt::format(format, std::forward<Args>(args)...), {}});
    return *this;
  }
};

class DiagnosticEngine {
public:
  /// Errors kept; the next one is replaced by "too many errors", the rest is dropped.
  static constexpr size_t maxErrors = 20;

  template <typename... Args>
  Diagnostic &error(SourceRange range, fmt::format_string<Args...> format, Args &&...args) {
    return report(Severity::Error, range, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  Diagnostic &warning(SourceRange range, fmt::format_string<Args...> format, Args &&...args) {
    return report(Severity::Warning, range, fmt::format(format, std::forward<Args>(args)...));
  }
  /// The reference stays valid until the next report.
  Diagnostic &report(Severity severity, SourceRange range, std::string message);

  const std::deque<Diagnostic> &diagnostics() const { return reported; }
  size_t numErrors() const { return errors; }
  bool hasErrors() const { return errors > 0; }
  /// True if a further error would not be kept, so that work can stop.
  bool isFull() const { return errors > maxErrors; }

private:
  std::deque<Diagnostic> reported;
  /// Where a report beyond the limit goes.
  Diagnostic dropped;
  size_t errors = 0;
};

/// Writes a diagnostic, its source line with a caret, and its notes. Control
/// characters and broken UTF-8 of the source never reach the terminal.
void render(const Diagnostic &diagnostic, std::ostream &out, bool color = false);
/// Writes a diagnostic as one line: a JSON object with `severity` ("error", "warning" or "note"),
/// `message` and `notes`, a list of objects alike without notes of their own; with a place in a
/// file also `file`, `line`, `column`, `end_line` and `end_column`, counted from 1, columns in
/// characters, the end behind the last one. Broken UTF-8 becomes U+FFFD.
void renderJson(const Diagnostic &diagnostic, std::ostream &out);
/// A text in double quotes, as JSON writes it.
std::string jsonString(std::string_view text);
/// Writes all diagnostics in the order in which they were reported.
void render(const DiagnosticEngine &engine, std::ostream &out, bool color = false);

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_DIAGNOSTICS_H
