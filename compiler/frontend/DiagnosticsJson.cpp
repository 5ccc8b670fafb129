//===- DiagnosticsJson.cpp - Diagnostics for other programs ---------------===//

#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/Utf8.h"

#include <algorithm>
#include <ostream>

namespace coil {

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    Utf8Character character = decodeUtf8(text);
    size_t bytes = std::max<size_t>(character.bytes, 1);
    if (!character.bytes)
      result += "\\ufffd"; // the replacement character
    else if (character.codePoint == '"' || character.codePoint == '\\')
      result += fmt::format("\\{}", static_cast<char>(character.codePoint));
    else if (character.codePoint < 0x20 || character.codePoint == 0x7f)
      result += fmt::format("\\u{:04x}", character.codePoint);
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result + '"';
}

static std::string toJson(const Diagnostic &diagnostic) {
  std::string text = fmt::format("{{\"severity\": {}", jsonString(nameOf(diagnostic.severity)));
  const SourceRange &range = diagnostic.range;
  if (range.file)
    text += fmt::format(", \"file\": {}", jsonString(range.file->name()));
  if (range.hasPosition()) {
    LineColumn begin = range.file->position(range.begin), end = range.file->position(range.end);
    text += fmt::format(", \"line\": {}, \"column\": {}, \"end_line\": {}, \"end_column\": {}",
                        begin.line, begin.column, end.line, end.column);
  }
  text += fmt::format(", \"message\": {}", jsonString(diagnostic.message));
  if (diagnostic.severity == Severity::Note)
    return text + "}";
  text += ", \"notes\": [";
  for (const Diagnostic &note : diagnostic.notes)
    text += (&note == &diagnostic.notes.front() ? "" : ", ") + toJson(note);
  return text + "]}";
}

void renderJson(const Diagnostic &diagnostic, std::ostream &out) {
  out << toJson(diagnostic) << '\n';
}

} // namespace coil
