//===- SourceFile.cpp - The text of a program and its positions -----------===//

#include "compiler/frontend/SourceFile.h"

#include "compiler/frontend/Diagnostics.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace coil {

static constexpr uint32_t blockBytes = 256;

static bool isContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

SourceFile::SourceFile(std::string name, std::string text)
    : fileName(std::move(name)), content(std::move(text)) {
  if (content.size() > maxBytes)
    return;
  lineBegins.push_back(0);
  continuations.push_back(0);
  uint32_t count = 0;
  for (uint32_t i = 0; i < content.size(); ++i) {
    if (content[i] == '\n')
      lineBegins.push_back(i + 1);
    count += isContinuation(content[i]);
    if ((i + 1) % blockBytes == 0)
      continuations.push_back(count);
  }
}

uint32_t SourceFile::continuationsBefore(uint32_t offset) const {
  uint32_t block = offset / blockBytes;
  return continuations[block] + uint32_t(std::count_if(content.begin() + block * blockBytes,
                                                       content.begin() + offset, isContinuation));
}

LineColumn SourceFile::position(uint32_t offset) const {
  assert(!lineBegins.empty() && offset <= content.size() && "no such position");
  auto next = std::upper_bound(lineBegins.begin(), lineBegins.end(), offset);
  uint32_t begin = *std::prev(next);
  uint32_t characters = offset - begin - (continuationsBefore(offset) - continuationsBefore(begin));
  return {uint32_t(next - lineBegins.begin()), characters + 1};
}

std::string_view SourceFile::line(uint32_t line) const {
  uint32_t begin = lineBegin(line);
  uint32_t end = line < numLines() ? lineBegins[line] - 1 : uint32_t(content.size());
  if (end > begin && content[end - 1] == '\r')
    --end;
  return std::string_view(content).substr(begin, end - begin);
}

const SourceFile &SourceManager::add(std::string name, std::string text) {
  files.push_back(std::make_unique<SourceFile>(std::move(name), std::move(text)));
  return *files.back();
}

/// Reads at most one byte more than a source may have. Returns an errno value.
static int readAll(std::FILE *stream, std::string &text) {
  std::array<char, 1 << 16> buffer;
  while (text.size() <= SourceFile::maxBytes) {
    errno = 0;
    size_t size = std::fread(buffer.data(), 1, buffer.size(), stream);
    text.append(buffer.data(), size);
    if (size < buffer.size() && std::ferror(stream))
      return errno ? errno : EIO;
    if (size < buffer.size())
      break;
  }
  return 0;
}

const SourceFile *SourceManager::open(const std::string &path, DiagnosticEngine &diagnostics) {
  bool isStandardInput = path == "-";
  std::string name = isStandardInput ? "<stdin>" : path, text;
  int error = 0;
  if (isStandardInput) {
    error = readAll(stdin, text);
  } else if (std::FILE *stream = std::fopen(path.c_str(), "rb")) {
    error = readAll(stream, text);
    std::fclose(stream);
  } else {
    error = errno;
  }
  if (error) {
    diagnostics.error({}, "cannot read '{}': {}", name, std::strerror(error));
    return nullptr;
  }
  const SourceFile &file = add(std::move(name), std::move(text));
  if (file.text().size() > SourceFile::maxBytes) {
    diagnostics.error({&file}, "the file is longer than {} MiB", SourceFile::maxBytes >> 20);
    return nullptr;
  }
  return &file;
}

const SourceFile *SourceManager::find(std::string_view name) const {
  auto found = std::find_if(files.begin(), files.end(),
                            [&](const auto &file) { return file->name() == name; });
  return found == files.end() ? nullptr : found->get();
}

} // namespace coil
