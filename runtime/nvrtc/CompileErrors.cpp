//===- CompileErrors.cpp - NVRTC's messages with their lines --------------===//

#include "runtime/nvrtc/CompileErrors.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <vector>

namespace coil::nvrtc {

namespace {

constexpr size_t mostErrors = 5;
constexpr size_t linesAround = 2;

std::vector<std::string_view> splitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

struct Place {
  std::string_view file;
  size_t line;
};

/// The place in "ring.cu(23): error: ...".
std::optional<Place> errorPlace(std::string_view message) {
  size_t close = std::string_view::npos;
  for (std::string_view mark : {"): error", "): catastrophic error"})
    if (size_t found = message.find(mark); found != std::string_view::npos)
      close = found;
  size_t open = close == std::string_view::npos ? close : message.rfind('(', close);
  if (open == std::string_view::npos)
    return std::nullopt;
  Place place{message.substr(0, open), 0};
  auto [end, error] =
      std::from_chars(message.data() + open + 1, message.data() + close, place.line);
  if (error != std::errc() || end != message.data() + close)
    return std::nullopt;
  return place;
}

void appendSource(std::string &text, std::string_view source, size_t line) {
  std::vector<std::string_view> lines = splitLines(source);
  if (line == 0 || line > lines.size())
    return;
  size_t first = line > linesAround ? line - linesAround : 1;
  for (size_t number = first; number <= std::min(line + linesAround, lines.size()); ++number)
    text += fmt::format("{} {:>5} | {}\n", number == line ? '>' : ' ', number, lines[number - 1]);
}

} // namespace

std::string
explainLog(std::string_view log,
           const std::function<std::optional<std::string_view>(std::string_view)> &sourceOf) {
  std::string text;
  size_t errors = 0;
  for (std::string_view line : splitLines(log)) {
    std::optional<Place> place = errorPlace(line);
    if (place && ++errors > mostErrors)
      return text + "(more errors follow)\n";
    if (!line.empty())
      text.append(line).append("\n");
    if (!place)
      continue;
    if (std::optional<std::string_view> source = sourceOf(place->file))
      appendSource(text, *source, place->line);
  }
  return text;
}

} // namespace coil::nvrtc
