//===- CoilOps.cpp - Verifiers and syntax of the coil dialect -------------===//

#include "dialect/Coil/Coil.h"

#include "dialect/CollectiveSyntax.h"
#include "runtime/base/MessageProtocol.h"
#include "runtime/base/Types.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Support/MathExtras.h>
#include <mlir/IR/Builders.h>

using namespace mlir;

namespace coil::ir {

/// custom<Keyword>: a string attribute that is an identifier, without quotes.
static ParseResult parseKeyword(OpAsmParser &parser, StringAttr &name) {
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  name = parser.getBuilder().getStringAttr(keyword);
  return success();
}

static void printKeyword(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer << name.getValue();
}

/// custom<Default>: what a parameter is without a value given, and its type.
static ParseResult parseDefault(OpAsmParser &parser,
                                std::optional<OpAsmParser::UnresolvedOperand> &value,
                                Type &valueType, Type &type) {
  if (succeeded(parser.parseOptionalKeyword("default"))) {
    value.emplace();
    if (parser.parseOperand(*value))
      return failure();
  }
  if (parser.parseColonType(type))
    return failure();
  if (value)
    valueType = type;
  return success();
}

static void printDefault(OpAsmPrinter &printer, Operation *, Value value, Type, Type type) {
  if (value)
    printer << "default " << value << " ";
  printer << ": " << type;
}

static bool isCallBuffer(llvm::StringRef name) {
  return name == "input" || name == "output" || name == "data";
}

void AlgorithmOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  static constexpr llvm::StringLiteral names[] = {"ranks", "root"};
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

/// At most one operation of the kind stands in the block.
template <typename Op> static LogicalResult verifyStandsOnce(Block &body) {
  auto all = body.getOps<Op>();
  if (all.empty() || llvm::hasSingleElement(all))
    return success();
  InFlightDiagnostic diagnostic = (*std::next(all.begin())).emitOpError() << "stands a second time";
  diagnostic.attachNote((*all.begin()).getLoc()) << "the first one is here";
  return diagnostic;
}

LogicalResult AlgorithmOp::verify() {
  if (failed(verifyCollective(*this, getCollective())))
    return failure();
  unsigned expected = hasRoot(*coil::parseCollective(std::string_view(getCollective()))) ? 2 : 1;
  Block &body = getBody().front();
  if (body.getNumArguments() != expected ||
      !llvm::all_of(body.getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError() << "expected " << expected << " block argument"
                         << (expected == 1 ? " of type index (the number of ranks)"
                                           : "s of type index (the number of ranks and the root)")
                         << ", found " << body.getNumArguments();
  if (failed(verifyStandsOnce<ChunksOp>(body)) || failed(verifyStandsOnce<ScheduleOp>(body)))
    return failure();
  bool isCustom = *coil::parseCollective(std::string_view(getCollective())) == Collective::Custom;
  auto segments = llvm::to_vector(body.getOps<SegmentsOp>());
  if (segments.size() != (isCustom ? 1 : 0))
    return emitOpError() << "expected " << (isCustom ? "one" : "no")
                         << " coil.segments, as it implements " << getCollective() << ", found "
                         << segments.size();
  return success();
}

LogicalResult ScheduleOp::verify() {
  if (getTransport() && *getTransport() != "p2p" && *getTransport() != "staged")
    return emitOpError() << "expected the transport p2p or staged, found '" << *getTransport()
                         << "'";
  if (getProtocol() && !coil::parseMessageProtocol(std::string_view(*getProtocol())))
    return emitOpError() << "expected the protocol simple, ll or ll128, found '" << *getProtocol()
                         << "'";
  if (getProtocol() && getTransport() == "p2p")
    return emitOpError() << "expected no protocol over p2p, which sends no messages, found "
                         << *getProtocol();
  return success();
}

LogicalResult EnsuresOp::verify() {
  auto algorithm = (*this)->getParentOfType<AlgorithmOp>();
  if (algorithm &&
      *coil::parseCollective(std::string_view(algorithm.getCollective())) == Collective::Custom)
    return success();
  return emitOpError() << "expected to stand in a coil.algorithm that implements custom";
}

LogicalResult SourceOp::verify() {
  if ((*this)->getParentOfType<EnsuresOp>())
    return success();
  return emitOpError() << "expected to stand in a coil.ensures";
}

LogicalResult ParameterOp::verify() {
  if (getValue() && getValue().getType() != getResult().getType())
    return emitOpError() << "expected a default of type " << getResult().getType() << ", found "
                         << getValue().getType();
  if (static_cast<bool>(getLow()) != static_cast<bool>(getHigh()))
    return emitOpError() << "expected both ends of a range";
  if (getLow() && !getResult().getType().isIndex())
    return emitOpError() << "expected no range for type " << getResult().getType();
  for (auto other : cast<AlgorithmOp>((*this)->getParentOp()).getOps<ParameterOp>()) {
    if (other == *this)
      break;
    if (other.getName() == getName()) {
      InFlightDiagnostic diagnostic = emitOpError() << "declares '" << getName() << "' again";
      diagnostic.attachNote(other.getLoc()) << "the first declaration is here";
      return diagnostic;
    }
  }
  return success();
}

LogicalResult TableOp::verify() {
  int64_t count = getShape().empty() ? 0 : 1;
  for (int64_t length : getShape())
    if (length < 1 || llvm::MulOverflow(count, length, count))
      return emitOpError() << "expected dimensions of at least 1";
  if (count != static_cast<int64_t>(getEntries().size()) || count == 0)
    return emitOpError() << "expected " << count << " entries, found " << getEntries().size();
  return success();
}

LogicalResult EntryOp::verify() {
  auto table = getTable().getDefiningOp<TableOp>();
  if (!table)
    return emitOpError() << "expected the result of a coil.table";
  if (table.getShape().size() != getIndices().size())
    return emitOpError() << "expected " << table.getShape().size() << " indices, found "
                         << getIndices().size();
  return success();
}

LogicalResult ScratchOp::verify() {
  if (isCallBuffer(getName()))
    return emitOpError() << "expected a name other than input, output and data, found '"
                         << getName() << "'";
  auto algorithm = cast<AlgorithmOp>((*this)->getParentOp());
  for (auto other : algorithm.getOps<ScratchOp>()) {
    if (other == *this)
      break;
    if (other.getName() == getName()) {
      InFlightDiagnostic diagnostic = emitOpError() << "declares '" << getName() << "' again";
      diagnostic.attachNote(other.getLoc()) << "the first declaration is here";
      return diagnostic;
    }
  }
  return success();
}

void PlaceOp::build(OpBuilder &builder, OperationState &state, llvm::StringRef buffer, Value begin,
                    Value end, Value rank) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.setBuffer(builder.getStringAttr(buffer));
  state.addOperands(begin);
  if (end)
    state.addOperands(end);
  state.addOperands(rank);
  state.addTypes(PlaceType::get(builder.getContext()));
}

static LogicalResult verifyBuffer(Operation *op, llvm::StringRef name) {
  if (isCallBuffer(name))
    return success();
  auto algorithm = op->getParentOfType<AlgorithmOp>();
  if (!algorithm)
    return op->emitOpError() << "expected to stand in a coil.algorithm";
  for (auto scratch : algorithm.getOps<ScratchOp>())
    if (scratch.getName() == name)
      return success();
  return op->emitOpError() << "names the buffer '" << name
                           << "'; expected input, output, data or a declared scratch buffer";
}

LogicalResult PlaceOp::verify() { return verifyBuffer(*this, getBuffer()); }

LogicalResult OperandOp::verify() {
  for (Operation *parent = (*this)->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<ReduceOp, CombineOp>(parent))
      return success();
  return emitOpError() << "expected to stand in a coil.reduce or coil.combine";
}

LogicalResult ExchangeOp::verify() {
  if (auto outer = (*this)->getParentOfType<ExchangeOp>()) {
    InFlightDiagnostic diagnostic = emitOpError() << "is nested in another exchange";
    diagnostic.attachNote(outer.getLoc()) << "the outer one is here";
    return diagnostic;
  }
  return success();
}

LogicalResult ApplyOp::verify() {
  if (getArguments().size() != getNames().size())
    return emitOpError() << "expected a name for each argument, found " << getNames().size()
                         << " for " << getArguments().size();
  if (getTarget().has_value() == getTargetItems().empty())
    return emitOpError() << "expected a target with its chunks";
  if (failed(verifyBuffer(*this, getView())) ||
      (getTarget() && failed(verifyBuffer(*this, *getTarget()))))
    return failure();
  if (auto outer = (*this)->getParentOfType<ExchangeOp>()) {
    InFlightDiagnostic diagnostic = emitOpError() << "stands in an exchange";
    diagnostic.attachNote(outer.getLoc()) << "the exchange is here";
    return diagnostic;
  }
  return success();
}

LogicalResult ApplyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<AlgorithmOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "expected an algorithm, found " << getCalleeAttr();
  if (static_cast<bool>(getRoot()) != static_cast<bool>(callee.getRoot()))
    return emitOpError() << (getRoot() ? "gives a root, but " : "gives no root, but ")
                         << getCalleeAttr() << (getRoot() ? " has none" : " has one");
  llvm::StringMap<Type> given;
  for (auto [name, argument] :
       llvm::zip_equal(getNames().getAsValueRange<StringAttr>(), getArguments()))
    if (!given.try_emplace(name, argument.getType()).second)
      return emitOpError() << "gives '" << name << "' twice";
  for (auto parameter : callee.getOps<ParameterOp>()) {
    auto found = given.find(parameter.getName());
    if (found == given.end()) {
      if (!parameter.getValue())
        return emitOpError() << "gives no value for '" << parameter.getName() << "'";
      continue;
    }
    if (found->second != parameter.getType())
      return emitOpError() << "expected type " << parameter.getType() << " for '"
                           << parameter.getName() << "', found " << found->second;
    given.erase(found);
  }
  if (!given.empty())
    return emitOpError() << "gives '" << given.begin()->getKey() << "', which " << getCalleeAttr()
                         << " does not have";
  return success();
}

LogicalResult ItemOp::verify() {
  if ((*this)->getParentOfType<ApplyOp>())
    return success();
  return emitOpError() << "expected to stand in a coil.apply";
}

} // namespace coil::ir

#define GET_OP_CLASSES
#include "dialect/Coil/CoilOps.cpp.inc"
