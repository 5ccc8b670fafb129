//===- Lower.h - From a checked tree to the coil dialect ---------*- C++ -*-===//

#ifndef COIL_COMPILER_FRONTEND_LOWER_H
#define COIL_COMPILER_FRONTEND_LOWER_H

#include "compiler/frontend/Ast.h"
#include "compiler/frontend/Diagnostics.h"

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/OwningOpRef.h>

namespace coil {

/// Lowers every algorithm of a file that checkFile accepted to a
/// coil.algorithm. Loops and conditions stay (scf), integers become index
/// arithmetic (arith), and every operation carries the line and column of the
/// source. Loads the dialects that it needs into `context`.
///
/// Reports an error and returns null if the module does not verify, which
/// would be a mistake of checkFile.
mlir::OwningOpRef<mlir::ModuleOp> lowerToCoil(const ast::File &file, mlir::MLIRContext &context,
                                              DiagnosticEngine &diagnostics);
/// As above, for a file and all that it imports, of which the first is public.
mlir::OwningOpRef<mlir::ModuleOp> lowerToCoil(const std::vector<const ast::File *> &files,
                                              mlir::MLIRContext &context,
                                              DiagnosticEngine &diagnostics);

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_LOWER_H
