//===- SourceFile.h - The text of a program and its positions ---*- C++ -*-===//
//
// A SourceFile keeps a name, a text and where its lines begin. A SourceRange is
// a run of bytes of one file; every token, tree node and diagnostic carries one.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_FRONTEND_SOURCEFILE_H
#define COIL_COMPILER_FRONTEND_SOURCEFILE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coil {

class DiagnosticEngine;

/// A line and a column as people count them: from 1, the column in characters
/// (code points), not in bytes.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const LineColumn &) const = default;
};

class SourceFile {
public:
  /// The largest text that is parsed, in bytes.
  static constexpr size_t maxBytes = size_t(16) << 20;

  /// A text longer than maxBytes is kept but not indexed: parseFile refuses it.
  SourceFile(std::string name, std::string text);

  const std::string &name() const { return fileName; }
  std::string_view text() const { return content; }

  /// The position of byte `offset`, which may be the text's length.
  LineColumn position(uint32_t offset) const;
  uint32_t numLines() const { return uint32_t(lineBegins.size()); }
  /// First byte of a line counted from 1, which must exist.
  uint32_t lineBegin(uint32_t line) const { return lineBegins[line - 1]; }
  /// A line without its line ending.
  std::string_view line(uint32_t line) const;

private:
  /// Bytes before `offset` that continue a UTF-8 sequence.
  uint32_t continuationsBefore(uint32_t offset) const;

  std::string fileName;
  std::string content;
  std::vector<uint32_t> lineBegins;
  /// continuationsBefore each multiple of blockBytes, so that a column costs
  /// the same in a line of any length.
  std::vector<uint32_t> continuations;
};

/// Bytes `begin` up to, not including, `end` of a file.
struct SourceRange {
  const SourceFile *file = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;

  /// False for an error about a file as a whole, or about none.
  bool hasPosition() const { return file && file->numLines() > 0; }
  std::string_view text() const { return file->text().substr(begin, end - begin); }
  /// From the beginning of this range to the end of `last`.
  SourceRange to(SourceRange last) const { return {file, begin, last.end}; }
};

/// Owns the files of one compilation; references stay valid as long as it lives.
class SourceManager {
public:
  const SourceFile &add(std::string name, std::string text);
  /// Reads a file, or standard input for "-". Reports an error and returns null
  /// if it cannot be read or is longer than SourceFile::maxBytes.
  const SourceFile *open(const std::string &path, DiagnosticEngine &diagnostics);
  /// The file added or opened under a name; null if there is none.
  const SourceFile *find(std::string_view name) const;

private:
  std::vector<std::unique_ptr<SourceFile>> files;
};

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_SOURCEFILE_H
