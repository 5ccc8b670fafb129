//===- CoilDialect.cpp - The coil dialect and its type --------------------===//

#include "dialect/Coil/Coil.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/DialectImplementation.h>

#include "dialect/Coil/CoilDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Coil/CoilTypes.cpp.inc"

namespace coil::ir {

void CoilDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Coil/CoilTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Coil/CoilOps.cpp.inc"
      >();
}

} // namespace coil::ir
