//===- CheckDecl.cpp - What stands in a file directly, and heads ----------===//

#include "compiler/frontend/Check.h"

#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Suggest.h"

#include <algorithm>

namespace coil {

using namespace ast;

namespace {

/// A collective that an algorithm can promise, and which of its buffers hold a
/// segment for each rank instead of one. Of `custom` the algorithm says it.
struct Collective {
  std::string_view name;
  bool hasRoot;
  bool isInputPerRank;
  bool isOutputPerRank;
};

constexpr Collective collectives[] = {
    {"allreduce", false, false, false},     {"allgather", false, false, true},
    {"reduce_scatter", false, true, false}, {"broadcast", true, false, false},
    {"reduce", true, false, false},         {"gather", true, false, true},
    {"scatter", true, true, false},         {"alltoall", false, true, true},
    {"sendrecv", false, false, false},      {"barrier", false, false, false},
    {"custom", false, false, false},
};

const Collective *findCollective(std::string_view name) {
  auto found = std::ranges::find(collectives, name, &Collective::name);
  return found == std::end(collectives) ? nullptr : found;
}

/// True if a statement that moves chunks is the statement or stands in it.
bool movesChunks(const Stmt &stmt) {
  auto any = [](const Block &block) {
    return std::ranges::any_of(block.statements,
                               [](const StmtPtr &each) { return movesChunks(*each); });
  };
  switch (stmt.kind) {
  case Stmt::Kind::Move:
  case Stmt::Kind::Exchange:
  case Stmt::Kind::Apply:
    return true;
  case Stmt::Kind::For:
    return any(static_cast<const ForStmt &>(stmt).body);
  case Stmt::Kind::If: {
    const auto &condition = static_cast<const IfStmt &>(stmt);
    return any(condition.thenBody) || (condition.elseBody && any(*condition.elseBody));
  }
  default:
    return false;
  }
}

} // namespace

FileNames::FileNames(const File &file) {
  for (const auto &function : file.functions)
    functions.insert({function->name.text, {function.get(), &file}});
  for (const auto &algorithm : file.algorithms)
    algorithms.insert({algorithm->name.text, {algorithm.get(), &file}});
  for (const Import &import : file.imports) {
    if (!import.file)
      continue;
    std::string stem = import.path.substr(import.path.rfind('/') + 1);
    if (stem.ends_with(".coil"))
      stem.resize(stem.size() - 5);
    for (const auto &function : import.file->functions)
      functions.insert(
          {import.module.text + "." + function->name.text, {function.get(), import.file}});
    for (const auto &algorithm : import.file->algorithms) {
      algorithms.insert(
          {import.module.text + "." + algorithm->name.text, {algorithm.get(), import.file}});
      // What a file is named for needs no name of its own.
      if (algorithm->name.text == stem)
        algorithms.insert({import.module.text, {algorithm.get(), import.file}});
    }
  }
}

bool checkFile(const File &file, DiagnosticEngine &diagnostics) {
  size_t errorsBefore = diagnostics.numErrors();
  FileNames names(file);
  std::unordered_map<std::string_view, SourceRange> declared;
  auto isNew = [&](const char *what, const Name &name) {
    auto [first, inserted] = declared.emplace(name.text, name.range);
    if (!inserted)
      diagnostics.error(name.range, "{} named '{}' exists already", what, name.text)
          .note(first->second, "the first one is here");
    return inserted;
  };
  std::unordered_map<std::string_view, SourceRange> modules;
  for (const Import &import : file.imports) {
    auto [first, isFirst] = modules.emplace(import.module.text, import.range);
    if (!isFirst)
      diagnostics.error(import.range, "'{}' is imported already", import.module.text)
          .note(first->second, "the first import is here");
    if (!import.file)
      diagnostics.error(import.range, "the file '{}' is not loaded", import.path);
  }
  for (const auto &function : file.functions) {
    if (Checker::isReserved(function->name.text))
      diagnostics.error(function->name.range, "'{}' is a word of the language; choose another name",
                        function->name.text);
    else
      isNew("a function", function->name);
  }
  for (const auto &algorithm : file.algorithms)
    isNew("an algorithm", algorithm->name);

  for (const auto &function : file.functions) {
    Checker(names, diagnostics).check(*function);
    if (diagnostics.isFull())
      break;
  }
  for (const auto &algorithm : file.algorithms) {
    Checker(names, diagnostics).check(*algorithm);
    if (diagnostics.isFull())
      break;
  }
  return diagnostics.numErrors() == errorsBefore;
}

bool Checker::isReserved(std::string_view name) {
  constexpr std::string_view words[] = {"ranks", "nodes",  "ranks_per_node",
                                        "input", "output", "data"};
  return isBuiltinFunction(name) || std::ranges::find(words, name) != std::end(words);
}

void Checker::check(const Function &checked) {
  function = &checked;
  for (const Function::Parameter &parameter : checked.parameters) {
    Symbol *symbol = declare(parameter.name, Symbol::Kind::Value);
    symbol->value = Value::unknown(parameter.type);
  }
  MaybeValue value = evaluate(*checked.body);
  if (value && value->type != checked.type)
    diagnostics.error(checked.body->range, "'{}' has the type {}, but its value is {}",
                      checked.name.text, spelling(checked.type), withArticle(value->type));
}

void Checker::checkParameter(const Parameter &parameter) {
  Value value = Value::unknown(parameter.type);
  if (parameter.low) {
    MaybeInterval low = evaluateInt(*parameter.low, "the begin of a range");
    MaybeInterval high = evaluateInt(*parameter.high, "the end of a range");
    if (low && high) {
      if (isLessEqual(*high, *low) == true)
        rangeError(parameter.low->range.to(parameter.high->range),
                   "the range of '{}' holds nothing: it begins at {} and ends at {}",
                   parameter.name.text, describeLow(*low), describeHigh(*high));
      value.range = {low->low, add(*high, Interval::constant(-1)).high};
    }
  }
  if (parameter.value) {
    MaybeValue given = evaluate(*parameter.value);
    if (given && given->type != parameter.type)
      diagnostics.error(parameter.value->range, "'{}' must be {}, found {}", parameter.name.text,
                        withArticle(parameter.type), withArticle(given->type));
    else if (given && given->type == ValueType::Int &&
             (isLess(given->range, value.range) == true ||
              isLess(value.range, given->range) == true))
      rangeError(parameter.value->range, "the default of '{}' is out of its range",
                 parameter.name.text);
  }
  declare(parameter.name, Symbol::Kind::Value)->value = value;
}

void Checker::check(const Algorithm &algorithm) {
  auto declareValue = [&](const char *name, Interval range) {
    Symbol symbol;
    symbol.value = Value::integer(range);
    declareBuiltin(name, std::move(symbol));
  };
  Interval upToRanks = {Bound{0, 1}, Bound{1, 0}};
  declareValue("ranks", Interval::ranks());
  declareValue("nodes", upToRanks);
  declareValue("ranks_per_node", upToRanks);
  for (const char *name : {"input", "output", "data"}) {
    Symbol buffer;
    buffer.kind = Symbol::Kind::Buffer;
    declareBuiltin(name, std::move(buffer));
  }
  contract = &algorithm.contract;
  checkContract(algorithm.contract);
  for (const Parameter &parameter : algorithm.parameters)
    checkParameter(parameter);
  bool hasChunks = std::ranges::any_of(algorithm.body.statements, [](const StmtPtr &stmt) {
    return stmt->kind == Stmt::Kind::Chunks;
  });
  if (!hasChunks)
    chunksOfSegment = Interval::constant(1);
  setBufferSizes();
  for (const StmtPtr &stmt : algorithm.body.statements) {
    if (!firstMove && movesChunks(*stmt))
      firstMove = stmt.get();
    if (stmt->kind == Stmt::Kind::Chunks)
      checkChunks(static_cast<const ChunksStmt &>(*stmt));
    else
      visit(*stmt, *this);
  }
  if (isCustom() && !segments)
    diagnostics.error(algorithm.contract.collective.range,
                      "'custom' needs the segments of its buffers, as in 'segments input[1], "
                      "output[2]'");
  if (isCustom() && !hasEnsures)
    diagnostics.error(algorithm.contract.collective.range,
                      "'custom' needs what the algorithm promises, as in 'ensures output[0] @ 1 == "
                      "input[0] @ 0'");
}

void Checker::checkContract(const Contract &contract) {
  const Name &name = contract.collective;
  const Collective *collective = findCollective(name.text);
  if (!collective) {
    std::string known;
    Suggestion nearest(name.text);
    for (const Collective &each : collectives) {
      known +=
          fmt::format("{}{}{}", known.empty() ? "" : ", ", each.name, each.hasRoot ? "(root)" : "");
      nearest.consider(each.name);
    }
    diagnostics.error(name.range, "expected one of the collectives {}, found '{}'{}", known,
                      name.text, nearest.text());
  } else if (collective->hasRoot && !contract.root) {
    diagnostics.error(name.range, "'{0}' needs a name for its root's rank, as in '{0}(root)'",
                      name.text);
  } else if (!collective->hasRoot && contract.root) {
    diagnostics.error(contract.root->range, "'{}' has no root", name.text);
  }
  if (contract.root) {
    Symbol *root = declare(*contract.root, Symbol::Kind::Value);
    root->value = Value::integer({Bound{0, 0}, Bound{1, -1}});
  }
}

void Checker::setBufferSizes() {
  const Collective *collective = findCollective(contract->collective.text);
  if (!collective || !chunksOfSegment)
    return;
  if (isCustom()) {
    auto sized = [&](const MaybeInterval &segments) {
      return segments ? MaybeInterval(multiply(*chunksOfSegment, *segments)) : std::nullopt;
    };
    find("input")->size = sized(inputSegments);
    find("output")->size = sized(outputSegments);
    return;
  }
  const Interval &chunks = *chunksOfSegment;
  Interval perRank = multiply(chunks, Interval::ranks());
  find("input")->size = collective->isInputPerRank ? perRank : chunks;
  find("output")->size = collective->isOutputPerRank ? perRank : chunks;
  bool isDataPerRank = collective->isInputPerRank || collective->isOutputPerRank;
  find("data")->size = isDataPerRank ? perRank : chunks;
}

} // namespace coil
