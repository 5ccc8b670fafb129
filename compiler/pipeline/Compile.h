//===- Compile.h - From a program's text to a plan --------------*- C++ -*-===//
//
// The compiler as a library call, without any header of MLIR: what coil-run and
// other programs use that compile in memory.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_PIPELINE_COMPILE_H
#define COIL_COMPILER_PIPELINE_COMPILE_H

#include "runtime/plan/Plan.h"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace coil {

struct CompileOptions {
  /// Number of ranks of the instance.
  int64_t ranks = 0;
  /// For a collective with a root: the one root to compile for; without it, all.
  std::optional<int64_t> root;
  /// Nodes that the ranks lie on; divides their number.
  int64_t nodes = 1;
  /// Values of the algorithm's parameters: "radix=4", "fast=true".
  std::vector<std::string> parameters;
  /// Folders where imports are looked for, behind that of the file.
  std::vector<std::string> importFolders;
  /// The algorithm to compile, where the file holds several.
  std::string algorithm;
};

/// Compiles the .coil file at `path` ("-" is standard input) and proves the
/// result. On failure returns none, and `diagnostics` has been given every error
/// with its place in the source, the line and a caret. The digest of the plan
/// is not set; writePlan's bytes carry it.
std::optional<Plan> compileFile(const std::string &path, const CompileOptions &options,
                                std::ostream &diagnostics);

} // namespace coil

#endif // COIL_COMPILER_PIPELINE_COMPILE_H
