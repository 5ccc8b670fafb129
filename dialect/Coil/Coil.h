//===- Coil.h - The coil dialect --------------------------------*- C++ -*-===//
//
// Algorithms over all ranks at once; CoilOps.td describes each operation.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_DIALECT_COIL_COIL_H
#define COIL_DIALECT_COIL_COIL_H

#include <mlir/Bytecode/BytecodeOpInterface.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/OpDefinition.h>
#include <mlir/IR/OpImplementation.h>
#include <mlir/IR/SymbolTable.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

#include "dialect/Coil/CoilDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Coil/CoilTypes.h.inc"

#define GET_OP_CLASSES
#include "dialect/Coil/CoilOps.h.inc"

#endif // COIL_DIALECT_COIL_COIL_H
