//===- CollectiveSyntax.h - Collectives as keywords in IR text --*- C++ -*-===//

#ifndef COIL_DIALECT_COLLECTIVESYNTAX_H
#define COIL_DIALECT_COLLECTIVESYNTAX_H

#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/OpImplementation.h>

namespace coil {

/// custom<Collective>: a string attribute with the name of a collective
/// (runtime/base/Types.h), written as a bare keyword.
mlir::ParseResult parseCollective(mlir::OpAsmParser &parser, mlir::StringAttr &collective);
void printCollective(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr collective);

/// Reports an attribute that names no collective.
mlir::LogicalResult verifyCollective(mlir::Operation *op, llvm::StringRef collective);

} // namespace coil

#endif // COIL_DIALECT_COLLECTIVESYNTAX_H
