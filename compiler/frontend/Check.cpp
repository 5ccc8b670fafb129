//===- Check.cpp - Names and statements of a program ----------------------===//

#include "compiler/frontend/Check.h"

#include "compiler/frontend/Suggest.h"

#include <algorithm>

namespace coil {

using namespace ast;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Checker::Scope::~Scope() {
  while (checker.declared.size() > size) {
    Symbol *symbol = checker.declared.back();
    symbol->isVisible = false;
    checker.visible.erase(symbol->name);
    checker.declared.pop_back();
  }
}

Checker::Symbol *Checker::find(std::string_view name) {
  auto found = visible.find(name);
  return found == visible.end() ? nullptr : found->second;
}

void Checker::declareBuiltin(std::string name, Symbol symbol) {
  symbol.name = std::move(name);
  symbols.push_back(std::move(symbol));
  visible.emplace(symbols.back().name, &symbols.back());
}

Checker::Symbol *Checker::declare(const Name &name, Symbol::Kind kind) {
  Symbol *symbol = &symbols.emplace_back();
  symbol->kind = kind;
  symbol->name = name.text;
  symbol->range = name.range;
  auto [other, isNew] = visible.emplace(symbol->name, symbol);
  if (isBuiltinFunction(name.text) || names.functions.contains(name.text)) {
    diagnostics.error(name.range, "'{}' is the name of a function; choose another name", name.text);
  } else if (!isNew && other->second->range.hasPosition()) {
    diagnostics.error(name.range, "'{}' is declared already", name.text)
        .note(other->second->range, "the first declaration is here");
  } else if (!isNew) {
    diagnostics.error(name.range, "'{}' is a word of the language; choose another name", name.text);
  }
  // A second declaration is kept out of sight but gives its uses no errors.
  if (isNew)
    declared.push_back(symbol);
  return symbol;
}

void Checker::reportUnknown(const Name &name, Symbol::Kind kind) {
  const char *what = kind == Symbol::Kind::Buffer  ? "buffer"
                     : kind == Symbol::Kind::Table ? "table"
                                                   : "name";
  Suggestion nearest(name.text);
  const Symbol *outOfScope = nullptr;
  for (auto symbol = symbols.rbegin(); symbol != symbols.rend(); ++symbol) {
    if (symbol->kind != kind)
      continue;
    if (symbol->isVisible)
      nearest.consider(symbol->name);
    else if (symbol->name == name.text && !outOfScope)
      outOfScope = &*symbol;
  }
  Diagnostic &diagnostic = diagnostics.error(name.range, "unknown {} '{}'{}", what, name.text,
                                             outOfScope ? "" : nearest.text());
  if (outOfScope)
    diagnostic.note(outOfScope->range, "'{}' is declared here, in a block that has ended",
                    name.text);
  else if (function)
    diagnostic.note(function->name.range, "a function sees its parameters alone");
}

const Checker::Symbol *Checker::resolveBuffer(const Name &name) {
  const Symbol *symbol = find(name.text);
  if (!symbol) {
    reportUnknown(name, Symbol::Kind::Buffer);
    return nullptr;
  }
  if (symbol->kind == Symbol::Kind::Buffer)
    return symbol;
  Diagnostic &diagnostic =
      diagnostics.error(name.range, "expected a buffer, found the {} '{}'",
                        symbol->kind == Symbol::Kind::Table ? "table" : "value", name.text);
  if (symbol->range.hasPosition())
    diagnostic.note(symbol->range, "'{}' is declared here", name.text);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Checker::checkBlock(const Block &block) {
  Scope scope(*this);
  ++depth;
  for (const StmtPtr &stmt : block.statements)
    visit(*stmt, *this);
  --depth;
}

void Checker::checkChunks(const ChunksStmt &stmt) {
  if (chunks)
    diagnostics.error(stmt.range, "the number of chunks is given already")
        .note(chunks->range, "it is given here");
  else
    checkComesFirst(stmt, "'chunks'");
  bool isFirst = !chunks;
  if (isFirst)
    chunks = &stmt;
  MaybeInterval count = evaluateInt(*stmt.count, "the number of chunks");
  if (!count)
    return;
  if (count->isAtMost(0))
    rangeError(stmt.count->range, "the number of chunks must be at least 1, found {}",
               describeHigh(*count));
  else if (isFirst)
    chunksOfSegment = count;
  setBufferSizes();
}

void Checker::operator()(const ChunksStmt &stmt) {
  diagnostics.error(stmt.range, "'chunks' must stand at the top level of the algorithm");
}

void Checker::operator()(const ScratchStmt &stmt) {
  MaybeInterval count = evaluateInt(*stmt.count, "the number of slots");
  if (depth > 0)
    diagnostics.error(stmt.range, "'scratch' must stand at the top level of the algorithm");
  else if (count && count->isAtMost(0))
    rangeError(stmt.count->range, "scratch '{}' must have at least 1 slot, found {}",
               stmt.name.text, describeHigh(*count));
  Symbol *symbol = declare(stmt.name, Symbol::Kind::Buffer);
  if (count && !count->isAtMost(0))
    symbol->size = count;
}

void Checker::operator()(const LetStmt &stmt) {
  MaybeValue value = evaluate(*stmt.value);
  declare(stmt.name, Symbol::Kind::Value)->value = value;
}

/// A row of a table has at most as many dimensions, each of at most as many entries.
static constexpr size_t maxDimensions = 8;

bool Checker::checkRow(const TableRow &row, size_t dimension, std::vector<int64_t> &shape,
                       MaybeInterval &entries) {
  auto length = static_cast<int64_t>(row.entries.size());
  bool isFirst = dimension == shape.size();
  if (isFirst)
    shape.push_back(length);
  if (shape[dimension] != length) {
    diagnostics.error(row.range, "expected {} entries, as the first row has, found {}",
                      shape[dimension], length);
    return false;
  }
  bool areRows = isFirst ? !row.entries.front().number : dimension + 1 < shape.size();
  if (areRows && dimension + 1 == maxDimensions) {
    diagnostics.error(row.range, "a table has at most {} dimensions", maxDimensions);
    return false;
  }
  for (const TableRow &entry : row.entries) {
    if (areRows == (entry.number != nullptr)) {
      diagnostics.error(entry.range, "expected {}, as the first entry is, found {}",
                        areRows ? "a row" : "a number", areRows ? "a number" : "a row");
      return false;
    }
    if (areRows) {
      if (!checkRow(entry, dimension + 1, shape, entries))
        return false;
      continue;
    }
    MaybeInterval number = evaluateInt(*entry.number, "an entry of a table");
    if (!number)
      return false;
    entries = entries ? Interval{minimum(*entries, *number).low, maximum(*entries, *number).high}
                      : *number;
  }
  return true;
}

void Checker::operator()(const TableStmt &stmt) {
  std::vector<int64_t> shape;
  MaybeInterval entries;
  bool isRight = checkRow(stmt.rows, 0, shape, entries);
  Symbol *table = declare(stmt.name, Symbol::Kind::Table);
  if (!isRight)
    return;
  table->shape = std::move(shape);
  table->value = Value::integer(*entries);
}

bool Checker::checkLoop(const Loop &loop) {
  MaybeInterval begin = evaluateInt(*loop.begin, "the begin of a range");
  MaybeInterval end = evaluateInt(*loop.end, "the end of a range");
  MaybeInterval step = Interval::constant(1);
  if (loop.step) {
    step = evaluateInt(*loop.step, "a step");
    if (step && step->asConstant() == 0)
      rangeError(loop.step->range, "a step must not be 0");
  }
  Symbol *variable = declare(loop.variable, Symbol::Kind::Value);
  if (!begin || !end)
    return false;
  bool goesUp = step && step->isAtLeast(1), goesDown = step && step->isBelow(0);
  if (goesUp && isLess(*end, *begin) == true)
    rangeError(loop.begin->range.to(loop.end->range),
               "the range is reversed: it begins at {} and ends at {}", describeLow(*begin),
               describeHigh(*end));
  if (goesDown && isLess(*begin, *end) == true)
    rangeError(loop.begin->range.to(loop.end->range),
               "the range is reversed: it goes down, begins at {} and ends at {}",
               describeHigh(*begin), describeLow(*end));
  bool isEmpty = (goesUp && isLessEqual(*end, *begin) == true) ||
                 (goesDown && isLessEqual(*begin, *end) == true);
  // Without the step's sign, nothing is known of the values.
  Interval values;
  if (goesUp && !isEmpty)
    values = {begin->low, add(*end, Interval::constant(-1)).high};
  else if (goesDown && !isEmpty)
    values = {add(*end, Interval::constant(1)).low, begin->high};
  variable->value = Value::integer(values);
  return isEmpty;
}

void Checker::operator()(const ForStmt &stmt) {
  Scope scope(*this);
  Unreachable skipped(*this, checkLoop(stmt.loop));
  checkBlock(stmt.body);
}

void Checker::operator()(const IfStmt &stmt) {
  MaybeValue condition = evaluateBool(*stmt.condition, "a condition");
  std::optional<bool> truth = condition ? condition->truth : std::nullopt;
  {
    Unreachable skipped(*this, truth == false);
    checkBlock(stmt.thenBody);
  }
  if (stmt.elseBody) {
    Unreachable skipped(*this, truth == true);
    checkBlock(*stmt.elseBody);
  }
}

void Checker::operator()(const AssertStmt &stmt) {
  if (stmt.isRequirement) {
    if (depth > 0)
      diagnostics.error(stmt.range, "'requires' must stand at the top level of the algorithm");
    else
      checkComesFirst(stmt, "'requires'");
  }
  MaybeValue condition = evaluateBool(*stmt.condition, "a condition");
  if (condition && condition->truth == false)
    rangeError(stmt.range, "this {} never holds: {}",
               stmt.isRequirement ? "requirement" : "assertion", stmt.message);
}

void Checker::operator()(const ExchangeStmt &stmt) {
  if (exchange)
    diagnostics.error(stmt.range, "an exchange cannot stand in another exchange")
        .note(exchange->range, "the outer one is here");
  const ExchangeStmt *outer = std::exchange(exchange, exchange ? exchange : &stmt);
  checkBlock(stmt.body);
  exchange = outer;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// "1 chunk", "at most 3 chunks".
static std::string countText(std::string count) {
  return count + (count == "1" ? " chunk" : " chunks");
}

Checker::MaybeInterval Checker::checkPlace(const Place &place) {
  MaybeInterval count = checkChunkRun(place.buffer, *place.begin, place.end.get());
  evaluateInt(*place.rank, "a rank");
  return count;
}

Checker::MaybeInterval Checker::checkChunkRun(const Name &name, const Expr &first,
                                              const Expr *last) {
  const Symbol *buffer = resolveBuffer(name);
  MaybeInterval begin = evaluateInt(first, "a chunk index"), end;
  if (last)
    end = evaluateInt(*last, "a chunk index");
  if (!buffer || !begin || (last && !end))
    return std::nullopt;

  if (begin->isBelow(0)) {
    rangeError(first.range, "the chunk index is {}; chunks are counted from 0",
               describeHigh(*begin));
    return std::nullopt;
  }
  if (end && isLessEqual(*end, *begin) == true) {
    rangeError(first.range.to(last->range),
               "a run of chunks must end after it begins; it begins at {} and ends at {}",
               describeLow(*begin), describeHigh(*end));
    return std::nullopt;
  }
  // The last chunk that is used lies beyond the buffer, whatever the size is.
  Interval highest = end ? add(*end, Interval::constant(-1)) : *begin;
  if (buffer->size && isLessEqual(*buffer->size, highest) == true) {
    SourceRange range = last ? last->range : first.range;
    Diagnostic *diagnostic = rangeError(
        range, "the {} is {}, but '{}' has {}", end ? "end of the run" : "chunk index",
        describeLow(end ? *end : *begin), buffer->name, countText(describeHigh(*buffer->size)));
    if (diagnostic && buffer->range.hasPosition())
      diagnostic->note(buffer->range, "'{}' is declared here", buffer->name);
    return std::nullopt;
  }
  return end ? subtract(*end, *begin) : Interval::constant(1);
}

void Checker::checkClauses(const std::vector<Clause> &clauses) {
  for (const Clause &clause : clauses) {
    unreachable += checkLoop(clause.loop);
    if (!clause.condition)
      continue;
    MaybeValue condition = evaluateBool(*clause.condition, "a condition");
    unreachable += condition && condition->truth == false;
  }
}

Checker::MaybeInterval Checker::checkOperand(const Operand &operand) {
  Scope scope(*this);
  int reachable = unreachable;
  checkClauses(operand.clauses);
  MaybeInterval count = checkPlace(operand.place);
  unreachable = reachable;
  return count;
}

void Checker::operator()(const MoveStmt &stmt) {
  std::vector<MaybeInterval> counts;
  for (const Operand &operand : stmt.operands)
    counts.push_back(checkOperand(operand));
  MaybeInterval room = checkPlace(stmt.destination);
  if (stmt.destination.buffer.text == "input")
    diagnostics.error(stmt.destination.buffer.range,
                      "cannot write to 'input': the caller's input is never written");
  for (size_t i = 0; i < counts.size(); ++i) {
    const MaybeInterval &count = counts[i];
    if (!room || !count || isEqual(*count, *room) != false)
      continue;
    bool isSmaller = isLess(*count, *room) == true;
    Diagnostic *diagnostic =
        rangeError(stmt.operands[i].place.range, "this place has {}, but the destination has {}",
                   countText(isSmaller ? describeHigh(*count) : describeLow(*count)),
                   countText(isSmaller ? describeLow(*room) : describeHigh(*room)));
    if (diagnostic)
      diagnostic->note(stmt.destination.range, "the destination is here");
  }
}

} // namespace coil
