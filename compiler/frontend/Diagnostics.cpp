//===- Diagnostics.cpp - Errors, warnings and how they are shown ----------===//

#include "compiler/frontend/Diagnostics.h"

#include "compiler/frontend/Utf8.h"

#include <algorithm>
#include <ostream>

namespace coil {

const char *nameOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "";
}

Diagnostic &DiagnosticEngine::report(Severity severity, SourceRange range, std::string message) {
  if (isFull()) {
    dropped = {};
    return dropped;
  }
  if (severity == Severity::Error && ++errors > maxErrors) {
    reported.push_back({Severity::Error,
                        SourceRange{},
                        fmt::format("too many errors; the first {} are shown", maxErrors),
                        {}});
    dropped = {};
    return dropped;
  }
  reported.push_back({severity, range, std::move(message), {}});
  return reported.back();
}

namespace {

/// A source line cut to what fits on a screen, and the marks below it.
struct Excerpt {
  std::string text;
  std::string marks;
};

/// Characters of a line that are shown before and after where an error begins.
constexpr size_t shownBefore = 80, shownAfter = 120;

Excerpt excerpt(std::string_view line, size_t begin, size_t end) {
  Excerpt result;
  begin = std::min(begin, line.size());
  end = std::min(std::max(end, begin + 1), line.size() + 1);
  // Byte windows cost the same for any line; they are widened to whole characters.
  size_t first = begin > shownBefore ? begin - shownBefore : 0;
  size_t last = std::min(line.size(), begin + shownAfter);
  while (first > 0 && (static_cast<unsigned char>(line[first]) & 0xc0) == 0x80)
    --first;
  if (first > 0) {
    result.text = "...";
    result.marks = "   ";
  }
  size_t offset = first;
  while (offset < last) {
    Utf8Character character = decodeUtf8(line.substr(offset));
    size_t bytes = std::max<size_t>(character.bytes, 1);
    bool isTab = character.bytes && character.codePoint == '\t';
    bool isControl =
        character.codePoint < 0x20 || (character.codePoint >= 0x7f && character.codePoint < 0xa0);
    if (isTab)
      result.text += '\t';
    else if (!character.bytes || isControl)
      result.text += "\xef\xbf\xbd"; // U+FFFD, the replacement character
    else
      result.text += line.substr(offset, bytes);
    if (offset < begin)
      result.marks += isTab ? '\t' : ' ';
    else if (offset < end)
      result.marks += offset == begin ? '^' : '~';
    offset += bytes;
  }
  if (begin == line.size())
    result.marks += '^';
  if (last < line.size())
    result.text += "...";
  return result;
}

const char *colorOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "\033[1;31m";
  case Severity::Warning:
    return "\033[1;35m";
  case Severity::Note:
    return "\033[1;36m";
  }
  return "";
}

void renderOne(const Diagnostic &diagnostic, std::ostream &out, bool color) {
  const SourceRange &range = diagnostic.range;
  const char *bold = color ? "\033[1m" : "", *reset = color ? "\033[0m" : "";
  LineColumn position;
  if (range.hasPosition()) {
    position = range.file->position(range.begin);
    out << fmt::format("{}{}:{}:{}: ", bold, range.file->name(), position.line, position.column);
  } else if (range.file) {
    out << fmt::format("{}{}: ", bold, range.file->name());
  }
  out << fmt::format("{}{}: {}{}{}{}\n", color ? colorOf(diagnostic.severity) : "",
                     nameOf(diagnostic.severity), reset, bold, diagnostic.message, reset);
  if (!range.hasPosition())
    return;
  uint32_t lineBegin = range.file->lineBegin(position.line);
  Excerpt shown =
      excerpt(range.file->line(position.line), range.begin - lineBegin, range.end - lineBegin);
  out << fmt::format("{:7} | {}\n{:7} | {}{}{}\n", position.line, shown.text, "",
                     color ? "\033[1;32m" : "", shown.marks, reset);
}

} // namespace

void render(const Diagnostic &diagnostic, std::ostream &out, bool color) {
  renderOne(diagnostic, out, color);
  for (const Diagnostic &note : diagnostic.notes)
    render(note, out, color);
}

void render(const DiagnosticEngine &engine, std::ostream &out, bool color) {
  for (const Diagnostic &diagnostic : engine.diagnostics())
    render(diagnostic, out, color);
}

} // namespace coil
