//===- Lower.cpp - From a checked tree to the coil dialect ----------------===//

#include "compiler/frontend/Lower.h"

#include "compiler/frontend/Lowering.h"
#include "dialect/Coil/Coil.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/Verifier.h>

namespace coil {

namespace arith = mlir::arith;
namespace func = mlir::func;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

Location Lowering::location(SourceRange range) {
  LineColumn position = range.file->position(range.begin);
  return mlir::FileLineColLoc::get(builder.getContext(), range.file->name(), position.line,
                                   position.column);
}

mlir::Type Lowering::typeOf(ast::ValueType type) {
  return type == ast::ValueType::Int ? indexType : builder.getI1Type();
}

void Lowering::declare(const ast::Function &function) {
  llvm::SmallVector<mlir::Type> parameters;
  for (const ast::Function::Parameter &parameter : function.parameters)
    parameters.push_back(typeOf(parameter.type));
  auto type = builder.getFunctionType(parameters, typeOf(function.type));
  auto op = func::FuncOp::create(builder, location(function.range),
                                 file.prefix + function.name.text, type);
  op.setPrivate();
}

void Lowering::lower(const ast::Function &function) {
  auto op = module.lookupSymbol<func::FuncOp>(file.prefix + function.name.text);
  constantBlock = &op.getBody().emplaceBlock();
  for (const ast::Function::Parameter &parameter : function.parameters)
    names[parameter.name.text] =
        constantBlock->addArgument(typeOf(parameter.type), location(parameter.name.range));
  builder.setInsertionPointToStart(constantBlock);
  Value value = lower(*function.body);
  func::ReturnOp::create(builder, location(function.body->range), value);
}

void Lowering::lower(const ast::Algorithm &algorithm) {
  Location loc = location(algorithm.range);
  auto op = ir::AlgorithmOp::create(builder, loc, file.prefix + algorithm.name.text,
                                    algorithm.contract.collective.text);
  // Imported algorithms are there to be applied.
  if (!file.prefix.empty())
    mlir::SymbolTable::setSymbolVisibility(op, mlir::SymbolTable::Visibility::Private);
  mlir::Block &body = op.getBody().emplaceBlock();
  names["ranks"] = body.addArgument(indexType, loc);
  if (algorithm.contract.root)
    names[algorithm.contract.root->text] =
        body.addArgument(indexType, location(algorithm.contract.root->range));
  builder.setInsertionPointToStart(&body);
  constantBlock = &body;
  for (const ast::Parameter &parameter : algorithm.parameters)
    lower(parameter);
  lower(algorithm.body);
}

void Lowering::lower(const ast::Parameter &parameter) {
  auto optional = [&](const ast::ExprPtr &expr) { return expr ? lower(*expr) : Value(); };
  Value low = optional(parameter.low), high = optional(parameter.high);
  Value value = optional(parameter.value);
  names[parameter.name.text] =
      ir::ParameterOp::create(builder, location(parameter.range), typeOf(parameter.type),
                              parameter.name.text, low, high, value);
}

void Lowering::lower(const ast::Block &block) {
  for (const ast::StmtPtr &stmt : block.statements)
    ast::visit(*stmt, *this);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Lowering::operator()(const ast::ChunksStmt &stmt) {
  Value count = lower(*stmt.count);
  ir::ChunksOp::create(builder, location(stmt.range), count);
}

void Lowering::operator()(const ast::ScheduleStmt &stmt) {
  auto valueOf = [&](llvm::StringRef word) {
    const ast::ScheduleStmt::Entry *entry = stmt.find(word);
    return entry ? lower(*entry->value) : Value();
  };
  Value slices = valueOf("slices"), parallel = valueOf("parallel");
  auto choiceOf = [&](llvm::StringRef word) {
    const ast::ScheduleStmt::Entry *entry = stmt.find(word);
    return entry ? builder.getStringAttr(entry->choice.text) : mlir::StringAttr();
  };
  ir::ScheduleOp::create(builder, location(stmt.range), slices, parallel, choiceOf("transport"),
                         choiceOf("protocol"));
}

void Lowering::operator()(const ast::ScratchStmt &stmt) {
  Value count = lower(*stmt.count);
  ir::ScratchOp::create(builder, location(stmt.range), stmt.name.text, count);
}

void Lowering::operator()(const ast::LetStmt &stmt) { names[stmt.name.text] = lower(*stmt.value); }

void Lowering::operator()(const ast::TableStmt &stmt) {
  llvm::SmallVector<int64_t> shape;
  for (const ast::TableRow *row = &stmt.rows; !row->number; row = &row->entries.front())
    shape.push_back(static_cast<int64_t>(row->entries.size()));
  llvm::SmallVector<Value> entries;
  auto add = [&](auto &&add, const ast::TableRow &row) -> void {
    if (row.number)
      entries.push_back(lower(*row.number));
    for (const ast::TableRow &entry : row.entries)
      add(add, entry);
  };
  add(add, stmt.rows);
  names[stmt.name.text] = ir::TableOp::create(
      builder, location(stmt.range), ir::TableType::get(builder.getContext()), shape, entries);
}

void Lowering::operator()(const ast::ForStmt &stmt) {
  inLoop(stmt.loop, {}, [&](const State &) {
    lower(stmt.body);
    return State();
  });
}

void Lowering::operator()(const ast::IfStmt &stmt) {
  Value condition = lower(*stmt.condition);
  auto op = scf::IfOp::create(builder, location(stmt.range), condition,
                              /*withElseRegion=*/stmt.elseBody.has_value());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  lower(stmt.thenBody);
  if (stmt.elseBody) {
    builder.setInsertionPointToStart(op.elseBlock());
    lower(*stmt.elseBody);
  }
}

void Lowering::operator()(const ast::AssertStmt &stmt) {
  Value condition = lower(*stmt.condition);
  ir::AssertOp::create(builder, location(stmt.range), condition, stmt.message);
}

void Lowering::operator()(const ast::SegmentsStmt &stmt) {
  Value input = lower(*stmt.input), output = lower(*stmt.output);
  ir::SegmentsOp::create(builder, location(stmt.range), input, output);
}

void Lowering::operator()(const ast::EnsuresStmt &stmt) {
  auto parts = [&](const ast::Place &place) {
    Value begin = lower(*place.begin), end = place.end ? lower(*place.end) : Value();
    return std::tuple(begin, end, lower(*place.rank));
  };
  auto [begin, end, rank] = parts(stmt.place);
  auto op = ir::EnsuresOp::create(builder, location(stmt.range), begin, end, rank);
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block &block = op.getSources().emplaceBlock();
  for (const ast::Operand &source : stmt.sources) {
    builder.setInsertionPointToEnd(&block);
    inClauses(source.clauses, [&] {
      auto [first, last, owner] = parts(source.place);
      ir::SourceOp::create(builder, location(source.place.range), first, last, owner);
    });
  }
}

void Lowering::operator()(const ast::ExchangeStmt &stmt) {
  auto op = ir::ExchangeOp::create(builder, location(stmt.range));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
  lower(stmt.body);
}

void Lowering::operator()(const ast::MoveStmt &stmt) {
  Location loc = location(stmt.range);
  switch (stmt.verb) {
  case ast::Verb::Send: {
    Value source = lower(stmt.operands.front().place), destination = lower(stmt.destination);
    ir::SendOp::create(builder, loc, source, destination);
    return;
  }
  case ast::Verb::Copy: {
    Value source = lower(stmt.operands.front().place), destination = lower(stmt.destination);
    ir::CopyOp::create(builder, loc, source, destination);
    return;
  }
  case ast::Verb::Reduce:
    lowerOperands(ir::ReduceOp::create(builder, loc, lower(stmt.destination)), stmt);
    return;
  case ast::Verb::Combine:
    lowerOperands(ir::CombineOp::create(builder, loc, lower(stmt.destination)), stmt);
    return;
  }
}

//===----------------------------------------------------------------------===//
// Places and loops
//===----------------------------------------------------------------------===//

Value Lowering::lower(const ast::Place &place) {
  Value begin = lower(*place.begin), end = place.end ? lower(*place.end) : Value();
  Value rank = lower(*place.rank);
  return ir::PlaceOp::create(builder, location(place.range), place.buffer.text, begin, end, rank);
}

/// True if a step counts upwards whatever it is computed from.
static bool isPositive(const ast::Expr &expr) {
  if (expr.kind == ast::Expr::Kind::Integer)
    return static_cast<const ast::IntegerExpr &>(expr).value > 0;
  // Declared by the language, and by nobody else.
  static constexpr llvm::StringLiteral positive[] = {"ranks", "nodes", "ranks_per_node"};
  return expr.kind == ast::Expr::Kind::Name &&
         llvm::is_contained(positive, static_cast<const ast::NameExpr &>(expr).name);
}

Lowering::State Lowering::inLoop(const ast::Loop &loop, const State &first,
                                 llvm::function_ref<State(const State &)> makeBody) {
  Location loc = location(loop.range);
  Value begin = lower(*loop.begin), end = lower(*loop.end);
  Value step = loop.step ? lower(*loop.step) : constant(1);
  OpBuilder::InsertionGuard guard(builder);
  auto run = [&](scf::ForOp op) {
    State next = makeBody(State(op.getRegionIterArgs()));
    if (!first.empty())
      scf::YieldOp::create(builder, loc, next);
    return State(op.getResults());
  };
  if (!loop.step || isPositive(*loop.step)) {
    auto op = scf::ForOp::create(builder, loc, begin, end, step, first);
    names[loop.variable.text] = op.getInductionVar();
    builder.setInsertionPointToStart(op.getBody());
    return run(op);
  }
  // scf.for counts up only: it counts the values, of which there are
  // ceil((end - begin) / step) in either direction.
  Location stepLoc = location(loop.step->range);
  Value isStep =
      arith::CmpIOp::create(builder, stepLoc, arith::CmpIPredicate::ne, step, constant(0));
  ir::AssertOp::create(builder, stepLoc, isStep, "a step must not be 0");
  Value length = arith::SubIOp::create(builder, loc, begin, end);
  Value negated = arith::FloorDivSIOp::create(builder, loc, length, step);
  Value count = arith::SubIOp::create(builder, loc, constant(0), negated);
  auto op = scf::ForOp::create(builder, loc, constant(0), count, constant(1), first);
  builder.setInsertionPointToStart(op.getBody());
  Value distance = arith::MulIOp::create(builder, loc, op.getInductionVar(), step);
  names[loop.variable.text] = arith::AddIOp::create(builder, loc, begin, distance);
  return run(op);
}

template <typename Op> void Lowering::lowerOperands(Op op, const ast::MoveStmt &stmt) {
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block &block = op.getOperandsRegion().emplaceBlock();
  for (const ast::Operand &operand : stmt.operands) {
    builder.setInsertionPointToEnd(&block);
    inClauses(operand.clauses, [&] {
      Value place = lower(operand.place);
      ir::OperandOp::create(builder, location(operand.place.range), place);
    });
  }
}

Lowering::State Lowering::inClauses(llvm::ArrayRef<ast::Clause> clauses, const State &first,
                                    llvm::function_ref<State(const State &)> makeBody) {
  if (clauses.empty())
    return makeBody(first);
  const ast::ExprPtr &condition = clauses.front().condition;
  return inLoop(clauses.front().loop, first, [&](const State &state) {
    if (!condition)
      return inClauses(clauses.drop_front(), state, makeBody);
    Location loc = location(condition->range);
    auto op = scf::IfOp::create(builder, loc, mlir::TypeRange(mlir::ValueRange(state)),
                                lower(*condition), /*withElseRegion=*/!state.empty());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op.thenBlock());
    State next = inClauses(clauses.drop_front(), state, makeBody);
    if (!state.empty()) {
      scf::YieldOp::create(builder, loc, next);
      builder.setInsertionPointToStart(op.elseBlock());
      scf::YieldOp::create(builder, loc, state);
    }
    return State(op.getResults());
  });
}

void Lowering::inClauses(llvm::ArrayRef<ast::Clause> clauses, llvm::function_ref<void()> makeBody) {
  inClauses(clauses, {}, [&](const State &) {
    makeBody();
    return State();
  });
}

//===----------------------------------------------------------------------===//
// Applications
//===----------------------------------------------------------------------===//

void Lowering::lowerList(const std::vector<ast::ListItem> &items, mlir::Region &region) {
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block &block = region.emplaceBlock();
  for (const ast::ListItem &item : items) {
    builder.setInsertionPointToEnd(&block);
    inClauses(item.clauses, [&] {
      Value begin = lower(*item.begin), end = item.end ? lower(*item.end) : Value();
      ir::ItemOp::create(builder, location(item.range), begin, end);
    });
  }
}

void Lowering::operator()(const ast::ApplyStmt &stmt) {
  auto [algorithm, calleeFile] = fileNames.algorithms.find(stmt.callee.text)->second;
  const ast::Algorithm &callee = *algorithm;
  // The root and the parameters in their order, as arguments without names count.
  llvm::SmallVector<llvm::StringRef> slots;
  if (callee.contract.root)
    slots.push_back(callee.contract.root->text);
  for (const ast::Parameter &parameter : callee.parameters)
    slots.push_back(parameter.name.text);
  Value root;
  llvm::SmallVector<Value> arguments;
  llvm::SmallVector<llvm::StringRef> argumentNames;
  for (auto [i, argument] : llvm::enumerate(stmt.arguments)) {
    llvm::StringRef name = argument.name ? llvm::StringRef(argument.name->text) : slots[i];
    Value value = lower(*argument.value);
    if (callee.contract.root && name == callee.contract.root->text) {
      root = value;
      continue;
    }
    arguments.push_back(value);
    argumentNames.push_back(name);
  }
  mlir::StringAttr target =
      stmt.output ? builder.getStringAttr(stmt.output->buffer.text) : mlir::StringAttr();
  auto op = ir::ApplyOp::create(
      builder, location(stmt.range), calleeFile->prefix + callee.name.text, root, arguments,
      builder.getStrArrayAttr(argumentNames), builder.getStringAttr(stmt.view.buffer.text), target);
  lowerList(stmt.group, op.getGroup());
  lowerList(stmt.view.chunks, op.getViewItems());
  if (stmt.output)
    lowerList(stmt.output->chunks, op.getTargetItems());
}

mlir::OwningOpRef<mlir::ModuleOp> lowerToCoil(const ast::File &file, mlir::MLIRContext &context,
                                              DiagnosticEngine &diagnostics) {
  return lowerToCoil(std::vector{&file}, context, diagnostics);
}

mlir::OwningOpRef<mlir::ModuleOp> lowerToCoil(const std::vector<const ast::File *> &files,
                                              mlir::MLIRContext &context,
                                              DiagnosticEngine &diagnostics) {
  context.loadDialect<ir::CoilDialect, arith::ArithDialect, mlir::func::FuncDialect,
                      scf::SCFDialect>();
  const SourceFile *main = files.front()->source;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::FileLineColLoc::get(&context, main->name(), 1, 1));
  // Functions call each other: all are there before the first body is lowered.
  for (const ast::File *file : files) {
    FileNames names(*file);
    for (const auto &function : file->functions)
      Lowering(*file, names, *module).declare(*function);
  }
  for (const ast::File *file : files) {
    FileNames names(*file);
    for (const auto &function : file->functions)
      Lowering(*file, names, *module).lower(*function);
    for (const auto &algorithm : file->algorithms)
      Lowering(*file, names, *module).lower(*algorithm);
  }

  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    diagnostics.error({main}, "internal error: the lowered program is not valid: {}",
                      diagnostic.str());
    return mlir::success();
  });
  return mlir::succeeded(mlir::verify(*module)) ? std::move(module) : nullptr;
}

} // namespace coil
