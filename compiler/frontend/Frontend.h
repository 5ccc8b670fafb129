//===- Frontend.h - From program text to a checked tree ---------*- C++ -*-===//
//
//   SourceManager sources;
//   DiagnosticEngine diagnostics;
//   const SourceFile *source = sources.open("ring.coil", diagnostics);
//   std::unique_ptr<ast::File> file = source ? parseFile(*source, diagnostics) : nullptr;
//   bool isValid = file && checkFile(*file, diagnostics);
//   render(diagnostics, std::cerr);
//
// docs/language.md describes the language; compiler/frontend/Lower.h goes on to
// the coil dialect.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_FRONTEND_FRONTEND_H
#define COIL_COMPILER_FRONTEND_FRONTEND_H

#include "compiler/frontend/Ast.h"
#include "compiler/frontend/Diagnostics.h"

#include <iosfwd>
#include <memory>

namespace coil {

/// Parses a whole file. Reports every error that it can tell apart and returns
/// null if there was any. The tree refers to `source`, which must outlive it.
std::unique_ptr<ast::File> parseFile(const SourceFile &source, DiagnosticEngine &diagnostics);

/// Checks names, types, placement and every number that is wrong whatever the
/// number of ranks is. Reports all errors; true if there was none. A tree that
/// passed can be lowered.
bool checkFile(const ast::File &file, DiagnosticEngine &diagnostics);

/// Writes the tree, a node a line, with where each node begins and ends.
void dumpAst(const ast::File &file, std::ostream &out);

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_FRONTEND_H
