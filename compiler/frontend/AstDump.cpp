//===- AstDump.cpp - The syntax tree as text ------------------------------===//

#include "compiler/frontend/Frontend.h"

#include <fmt/format.h>
#include <ostream>

namespace coil {

using namespace ast;

namespace {

/// Writes a node a line, indented by its depth, and where it stands.
class Dumper {
public:
  explicit Dumper(std::ostream &out) : out(out) {}

  void file(const File &file) {
    out << fmt::format("file '{}'\n", file.source->name());
    for (const Import &import : file.imports)
      Level(*this, import.range, "import {}", import.module.text);
    for (const auto &function : file.functions) {
      Level level(*this, function->range, "fn {} : {}", function->name.text,
                  spelling(function->type));
      for (const Function::Parameter &parameter : function->parameters)
        Level(*this, parameter.name.range, "parameter {} : {}", parameter.name.text,
              spelling(parameter.type));
      dump(*function->body);
    }
    for (const auto &algorithm : file.algorithms) {
      const Contract &contract = algorithm->contract;
      std::string root = contract.root ? fmt::format("({})", contract.root->text) : "";
      Level level(*this, algorithm->range, "algorithm {} : {}{}", algorithm->name.text,
                  contract.collective.text, root);
      for (const Parameter &parameter : algorithm->parameters)
        this->parameter(parameter);
      statements(algorithm->body);
    }
  }

  // Expressions.
  void operator()(const IntegerExpr &expr) { Level(*this, expr.range, "integer {}", expr.value); }
  void operator()(const BooleanExpr &expr) { Level(*this, expr.range, "boolean {}", expr.value); }
  void operator()(const NameExpr &expr) { Level(*this, expr.range, "name {}", expr.name); }
  void operator()(const UnaryExpr &expr) {
    Level level(*this, expr.range, "unary {}", spelling(expr.op));
    dump(*expr.operand);
  }
  void operator()(const BinaryExpr &expr) {
    Level level(*this, expr.range, "binary {}", spelling(expr.op));
    dump(*expr.left);
    dump(*expr.right);
  }
  void operator()(const ConditionalExpr &expr) {
    Level level(*this, expr.range, "conditional");
    dump(*expr.condition);
    dump(*expr.whenTrue);
    dump(*expr.whenFalse);
  }
  void operator()(const CallExpr &expr) {
    Level level(*this, expr.range, "call {}", expr.callee.text);
    for (const ExprPtr &argument : expr.arguments)
      dump(*argument);
  }
  void operator()(const EntryExpr &expr) {
    Level level(*this, expr.range, "entry {}", expr.table.text);
    for (const ExprPtr &index : expr.indices)
      dump(*index);
  }
  void operator()(const FoldExpr &expr) {
    Level level(*this, expr.range, "{} of", spelling(expr.op));
    dump(*expr.value);
    clauses(expr.clauses);
  }

  // Statements.
  void operator()(const ChunksStmt &stmt) {
    Level level(*this, stmt.range, "chunks");
    dump(*stmt.count);
  }
  void operator()(const ScheduleStmt &stmt) {
    Level level(*this, stmt.range, "schedule");
    for (const ScheduleStmt::Entry &entry : stmt.entries) {
      if (!entry.value) {
        Level(*this, entry.word.range.to(entry.choice.range), "{} {}", entry.word.text,
              entry.choice.text);
        continue;
      }
      Level each(*this, entry.word.range.to(entry.value->range), "{}", entry.word.text);
      dump(*entry.value);
    }
  }
  void operator()(const ScratchStmt &stmt) {
    Level level(*this, stmt.range, "scratch {}", stmt.name.text);
    dump(*stmt.count);
  }
  void operator()(const LetStmt &stmt) {
    Level level(*this, stmt.range, "let {}", stmt.name.text);
    dump(*stmt.value);
  }
  void operator()(const TableStmt &stmt) {
    Level level(*this, stmt.range, "table {}", stmt.name.text);
    entries(stmt.rows);
  }
  void operator()(const ForStmt &stmt) {
    Level level(*this, stmt.range, "for {}", stmt.loop.variable.text);
    bounds(stmt.loop);
    body("body", stmt.body);
  }
  void operator()(const IfStmt &stmt) {
    Level level(*this, stmt.range, "if");
    dump(*stmt.condition);
    body("then", stmt.thenBody);
    if (stmt.elseBody)
      body("else", *stmt.elseBody);
  }
  void operator()(const AssertStmt &stmt) {
    Level level(*this, stmt.range, "{} \"{}\"", stmt.isRequirement ? "requires" : "assert",
                stmt.message);
    dump(*stmt.condition);
  }
  void operator()(const MoveStmt &stmt) {
    Level level(*this, stmt.range, "{}", spelling(stmt.verb));
    for (const Operand &operand : stmt.operands) {
      Level inner(*this, operand.range, "operand");
      place(operand.place);
      clauses(operand.clauses);
    }
    Level inner(*this, stmt.destination.range, "destination");
    place(stmt.destination);
  }
  void operator()(const ApplyStmt &stmt) {
    Level level(*this, stmt.range, "apply {}", stmt.callee.text);
    for (const ApplyStmt::Argument &argument : stmt.arguments) {
      Level inner(*this, argument.value->range, "argument{}",
                  argument.name ? " " + argument.name->text : "");
      dump(*argument.value);
    }
    list("member", stmt.group);
    view("view", stmt.view);
    if (stmt.output)
      view("output", *stmt.output);
  }
  void operator()(const SegmentsStmt &stmt) {
    Level level(*this, stmt.range, "segments");
    dump(*stmt.input);
    dump(*stmt.output);
  }
  void operator()(const EnsuresStmt &stmt) {
    Level level(*this, stmt.range, "ensures{}", stmt.isSum ? " sum" : "");
    place(stmt.place);
    for (const Operand &source : stmt.sources) {
      Level inner(*this, source.range, "source");
      place(source.place);
      clauses(source.clauses);
    }
  }
  void operator()(const ExchangeStmt &stmt) {
    Level level(*this, stmt.range, "exchange");
    statements(stmt.body);
  }

private:
  /// Writes a line; what is written while it lives stands one level deeper.
  class Level {
  public:
    template <typename... Args>
    Level(Dumper &dumper, SourceRange range, fmt::format_string<Args...> format, Args &&...args)
        : dumper(dumper) {
      ++dumper.depth;
      LineColumn begin = range.file->position(range.begin), end = range.file->position(range.end);
      dumper.out << fmt::format("{:{}}{} <{}:{}-", "", 2 * dumper.depth,
                                fmt::format(format, std::forward<Args>(args)...), begin.line,
                                begin.column);
      if (end.line != begin.line)
        dumper.out << fmt::format("{}:", end.line);
      dumper.out << fmt::format("{}>\n", end.column);
    }
    ~Level() { --dumper.depth; }
    Level(const Level &) = delete;
    Level &operator=(const Level &) = delete;

  private:
    Dumper &dumper;
  };

  void dump(const Expr &expr) { visit(expr, *this); }
  void parameter(const Parameter &parameter) {
    Level level(*this, parameter.range, "parameter {} : {}", parameter.name.text,
                spelling(parameter.type));
    if (parameter.low) {
      Level range(*this, parameter.low->range.to(parameter.high->range), "in");
      dump(*parameter.low);
      dump(*parameter.high);
    }
    if (parameter.value) {
      Level value(*this, parameter.value->range, "default");
      dump(*parameter.value);
    }
  }
  void entries(const TableRow &row) {
    for (const TableRow &entry : row.entries) {
      if (entry.number) {
        dump(*entry.number);
        continue;
      }
      Level level(*this, entry.range, "row");
      entries(entry);
    }
  }
  void statements(const Block &block) {
    for (const StmtPtr &statement : block.statements)
      visit(*statement, *this);
  }
  void body(const char *name, const Block &block) {
    Level level(*this, block.range, "{}", name);
    statements(block);
  }
  void bounds(const Loop &loop) {
    dump(*loop.begin);
    dump(*loop.end);
    if (loop.step) {
      Level level(*this, loop.step->range, "step");
      dump(*loop.step);
    }
  }
  void clauses(const std::vector<Clause> &clauses) {
    for (const Clause &clause : clauses) {
      Level loop(*this, clause.loop.range, "for {}", clause.loop.variable.text);
      bounds(clause.loop);
      if (clause.condition) {
        Level condition(*this, clause.condition->range, "if");
        dump(*clause.condition);
      }
    }
  }
  void list(const char *what, const std::vector<ListItem> &items) {
    for (const ListItem &item : items) {
      Level level(*this, item.range, "{}", what);
      clauses(item.clauses);
      dump(*item.begin);
      if (item.end) {
        Level run(*this, item.end->range, "to");
        dump(*item.end);
      }
    }
  }
  void view(const char *what, const ApplyStmt::View &view) {
    Level level(*this, view.range, "{} {}", what, view.buffer.text);
    list("chunks", view.chunks);
  }
  void place(const Place &place) {
    Level level(*this, place.range, "place {}", place.buffer.text);
    dump(*place.begin);
    if (place.end) {
      Level run(*this, place.end->range, "to");
      dump(*place.end);
    }
    Level rank(*this, place.rank->range, "rank");
    dump(*place.rank);
  }

  std::ostream &out;
  int depth = 0;
};

} // namespace

void dumpAst(const File &file, std::ostream &out) { Dumper(out).file(file); }

} // namespace coil
