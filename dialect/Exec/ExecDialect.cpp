//===- ExecDialect.cpp - The exec dialect and its attributes --------------===//

#include "dialect/Exec/Exec.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/DialectImplementation.h>

#include "dialect/Exec/ExecDialect.cpp.inc"
#include "dialect/Exec/ExecEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Exec/ExecAttrs.cpp.inc"

namespace coil::exec {

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Exec/ExecAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Exec/ExecOps.cpp.inc"
      >();
}

} // namespace coil::exec
