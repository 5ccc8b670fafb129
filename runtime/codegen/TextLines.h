//===- TextLines.h - Lines of generated text --------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_CODEGEN_TEXTLINES_H
#define COIL_RUNTIME_CODEGEN_TEXTLINES_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coil::codegen {

/// Lines, each with its indentation, up to a number of bytes: more are counted out.
class TextLines {
public:
  explicit TextLines(size_t limit) : limit(limit) {}

  /// The column that text should not go beyond.
  static constexpr size_t width = 100;

  void add(size_t indent, std::string_view line) {
    bytes += indent + line.size() + 1;
    if (!isFull())
      lines.push_back(line.empty() ? std::string() : std::string(indent, ' ').append(line));
  }

  /// `head`, the arguments with commas between, and `tail`: on one line if they fit,
  /// else filled into several.
  void addCall(size_t indent, std::string_view head, const std::vector<std::string> &arguments,
               std::string_view tail) {
    std::string line(head);
    size_t from = indent;
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::string_view after = i + 1 < arguments.size() ? "," : tail;
      bool begins = line.empty() || line.size() == head.size();
      if (!begins && from + line.size() + 1 + arguments[i].size() + after.size() > width) {
        add(from, line);
        line.clear();
        from = indent + 4;
        begins = true;
      }
      line.append(begins ? "" : " ").append(arguments[i]).append(after);
    }
    if (arguments.empty())
      line += tail;
    add(from, line);
  }

  /// Puts another's lines behind, further in by `indent`.
  void append(size_t indent, const TextLines &other) {
    for (const std::string &line : other.lines)
      add(indent, line);
    if (other.isFull())
      bytes = limit + 1;
  }

  bool isFull() const { return bytes > limit; }
  size_t size() const { return lines.size(); }
  const std::string &operator[](size_t line) const { return lines[line]; }
  std::string text() const {
    std::string all;
    for (const std::string &line : lines)
      all.append(line).append("\n");
    return all;
  }

private:
  size_t limit;
  size_t bytes = 0;
  std::vector<std::string> lines;
};

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_TEXTLINES_H
