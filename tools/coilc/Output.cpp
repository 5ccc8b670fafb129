//===- Output.cpp - What coilc writes -------------------------------------===//

#include "tools/coilc/Output.h"

#include "compiler/frontend/Diagnostics.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>

namespace coil {

static bool isJson = false;

void failAsJson() { isJson = true; }

int fail(std::string_view message) {
  if (isJson)
    renderJson(Diagnostic{Severity::Error, {}, std::string(message), {}}, std::cerr);
  else
    fmt::print(stderr, "coilc: {}\n", message);
  return 1;
}

int writeOutput(const std::string &path, std::string_view bytes) {
  bool standard = path == "-";
  std::string temporary = path + ".tmp";
  std::FILE *file = standard ? stdout : std::fopen(temporary.c_str(), "wb");
  if (!file)
    return fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  written &= (standard ? std::fflush(file) : std::fclose(file)) == 0;
  if (written && !standard)
    written = std::rename(temporary.c_str(), path.c_str()) == 0;
  if (written)
    return 0;
  int status = fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  if (!standard)
    std::remove(temporary.c_str());
  return status;
}

int writeOutput(const std::string &path, std::span<const uint8_t> bytes) {
  return writeOutput(path,
                     std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
}

bool namesFolder(const std::string &path) {
  std::error_code ignored;
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

} // namespace coil
