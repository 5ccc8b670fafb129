//===- CollectiveSyntax.cpp - Collectives as keywords in IR text ----------===//

#include "dialect/CollectiveSyntax.h"

#include "runtime/base/Types.h"

#include <mlir/IR/Builders.h>

namespace coil {

mlir::ParseResult parseCollective(mlir::OpAsmParser &parser, mlir::StringAttr &collective) {
  llvm::StringRef keyword;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  if (!coil::parseCollective(std::string_view(keyword)))
    return parser.emitError(loc) << "expected the name of a collective, found '" << keyword << "'";
  collective = parser.getBuilder().getStringAttr(keyword);
  return mlir::success();
}

void printCollective(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr collective) {
  printer << collective.getValue();
}

mlir::LogicalResult verifyCollective(mlir::Operation *op, llvm::StringRef collective) {
  if (coil::parseCollective(std::string_view(collective)))
    return mlir::success();
  return op->emitOpError() << "expected the name of a collective, found '" << collective << "'";
}

} // namespace coil
