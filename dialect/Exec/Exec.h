//===- Exec.h - The exec dialect --------------------------------*- C++ -*-===//
//
// Rank programs; ExecOps.td describes each operation.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_DIALECT_EXEC_EXEC_H
#define COIL_DIALECT_EXEC_EXEC_H

#include "runtime/base/Symmetry.h"

#include <mlir/Bytecode/BytecodeOpInterface.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/OpDefinition.h>
#include <mlir/IR/OpImplementation.h>
#include <mlir/IR/SymbolTable.h>

#include "dialect/Exec/ExecDialect.h.inc"
#include "dialect/Exec/ExecEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Exec/ExecAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialect/Exec/ExecOps.h.inc"

#endif // COIL_DIALECT_EXEC_EXEC_H
