//===- Output.h - What coilc writes -----------------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COILC_OUTPUT_H
#define COIL_TOOLS_COILC_OUTPUT_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace coil {

/// From now on fail() writes JSON, as the compiler's diagnostics are written.
void failAsJson();

/// Prints an error to standard error; gives the exit status 1.
int fail(std::string_view message);

/// Writes to the file at `path` ("-": standard output); a file appears whole or
/// not at all. Gives the exit status, after an error message if it is 1.
int writeOutput(const std::string &path, std::string_view bytes);
int writeOutput(const std::string &path, std::span<const uint8_t> bytes);

/// True if a path names a folder: it ends in a slash, or there is one.
bool namesFolder(const std::string &path);

} // namespace coil

#endif // COIL_TOOLS_COILC_OUTPUT_H
