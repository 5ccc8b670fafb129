//===- Imports.h - The files that a program imports -------------*- C++ -*-===//

#ifndef COIL_COMPILER_FRONTEND_IMPORTS_H
#define COIL_COMPILER_FRONTEND_IMPORTS_H

#include "compiler/frontend/Ast.h"
#include "compiler/frontend/Diagnostics.h"

#include <memory>
#include <string>
#include <vector>

namespace coil {

/// Files and bytes that a program may import.
inline constexpr size_t maxImportedFiles = 256;
inline constexpr size_t maxImportedBytes = size_t(64) << 20;

/// Parses the file at `path` ("-" is standard input), and every file that it
/// imports, once. An import is looked for beside the file that it stands in (for
/// standard input: in the current folder), then in `folders`, in their order.
/// Returns the files, the first being the one at `path`, with their imports
/// resolved and prefixes of their own. Reports an error and returns nothing if a
/// file cannot be read or parsed, imports itself through others, or is too much.
std::vector<std::unique_ptr<ast::File>> parseProgram(const std::string &path,
                                                     const std::vector<std::string> &folders,
                                                     SourceManager &sources,
                                                     DiagnosticEngine &diagnostics);

/// The folder of the algorithms that come with Coil, found from where the running
/// program lies; empty if there is none.
std::string libraryFolder();

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_IMPORTS_H
