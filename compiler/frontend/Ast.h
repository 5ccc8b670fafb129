//===- Ast.h - The syntax tree -----------------------------------*- C++ -*-===//
//
// What the author wrote, with a source range on every node. The tree is built
// by the parser and immutable afterwards; names stand in it as written, and
// since no name shadows another, a name alone says what it means. Its depth is
// bounded by the parser (maxNesting), so recursion over it is safe.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_FRONTEND_AST_H
#define COIL_COMPILER_FRONTEND_AST_H

#include "compiler/frontend/SourceFile.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coil::ast {

/// The deepest nesting of statements, and of operators in an expression.
inline constexpr uint32_t maxNesting = 256;

/// A name where it is declared or used.
struct Name {
  std::string text;
  SourceRange range;
};

enum class ValueType : uint8_t { Int, Bool };

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

struct Expr {
  enum class Kind : uint8_t {
    Integer,
    Boolean,
    Name,
    Unary,
    Binary,
    Conditional,
    Call,
    Entry,
    Fold
  };
  const Kind kind;
  /// Levels of operators and calls, this one included.
  uint32_t depth = 1;
  SourceRange range;

  virtual ~Expr() = default;

protected:
  Expr(Kind kind, SourceRange range) : kind(kind), range(range) {}
};
using ExprPtr = std::unique_ptr<Expr>;

/// `for variable in begin..end step step`; `step` is null where it is left out.
/// With a negative step the range goes down, from `begin` to above `end`.
struct Loop {
  SourceRange range;
  Name variable;
  ExprPtr begin, end, step;
};

/// A loop behind what it repeats, and a condition, which may be null. Of several
/// loops the first is the outermost.
struct Clause {
  Loop loop;
  ExprPtr condition;
};

struct IntegerExpr : Expr {
  int64_t value;
  IntegerExpr(SourceRange range, int64_t value) : Expr(Kind::Integer, range), value(value) {}
};

struct BooleanExpr : Expr {
  bool value;
  BooleanExpr(SourceRange range, bool value) : Expr(Kind::Boolean, range), value(value) {}
};

struct NameExpr : Expr {
  std::string name;
  NameExpr(SourceRange range, std::string name) : Expr(Kind::Name, range), name(std::move(name)) {}
};

enum class UnaryOp : uint8_t { Negate, Complement, Not };
struct UnaryExpr : Expr {
  UnaryOp op;
  ExprPtr operand;
  UnaryExpr(SourceRange range, UnaryOp op, ExprPtr operand);
};

enum class BinaryOp : uint8_t {
  Or,
  And,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  BitOr,
  BitXor,
  BitAnd,
  ShiftLeft,
  ShiftRight,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
};
struct BinaryExpr : Expr {
  BinaryOp op;
  ExprPtr left, right;
  BinaryExpr(BinaryOp op, ExprPtr left, ExprPtr right);
};

/// `if condition then whenTrue else whenFalse`.
struct ConditionalExpr : Expr {
  ExprPtr condition, whenTrue, whenFalse;
  ConditionalExpr(SourceRange range, ExprPtr condition, ExprPtr whenTrue, ExprPtr whenFalse);
};

struct CallExpr : Expr {
  Name callee;
  std::vector<ExprPtr> arguments;
  CallExpr(SourceRange range, Name callee, std::vector<ExprPtr> arguments);
};

/// `table[index]...`, with an index for each of the table's dimensions.
struct EntryExpr : Expr {
  Name table;
  std::vector<ExprPtr> indices;
  EntryExpr(SourceRange range, Name table, std::vector<ExprPtr> indices);
};

enum class FoldOp : uint8_t { Sum, Min, Max };
/// `sum(value for ...)`: the values of all rounds of the loops, put together.
struct FoldExpr : Expr {
  FoldOp op;
  ExprPtr value;
  /// At least one.
  std::vector<Clause> clauses;
  FoldExpr(SourceRange range, FoldOp op, ExprPtr value, std::vector<Clause> clauses);
};

std::string_view spelling(UnaryOp op);
std::string_view spelling(BinaryOp op);
/// "int", "bool".
std::string_view spelling(ValueType type);
/// "sum", "min", "max".
std::string_view spelling(FoldOp op);

/// Calls `visitor` with the expression as the class that it is.
template <typename Visitor> decltype(auto) visit(const Expr &expr, Visitor &&visitor) {
  switch (expr.kind) {
  case Expr::Kind::Integer:
    return visitor(static_cast<const IntegerExpr &>(expr));
  case Expr::Kind::Boolean:
    return visitor(static_cast<const BooleanExpr &>(expr));
  case Expr::Kind::Name:
    return visitor(static_cast<const NameExpr &>(expr));
  case Expr::Kind::Unary:
    return visitor(static_cast<const UnaryExpr &>(expr));
  case Expr::Kind::Binary:
    return visitor(static_cast<const BinaryExpr &>(expr));
  case Expr::Kind::Conditional:
    return visitor(static_cast<const ConditionalExpr &>(expr));
  case Expr::Kind::Call:
    return visitor(static_cast<const CallExpr &>(expr));
  case Expr::Kind::Entry:
    return visitor(static_cast<const EntryExpr &>(expr));
  case Expr::Kind::Fold:
    return visitor(static_cast<const FoldExpr &>(expr));
  }
  __builtin_unreachable();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

struct Stmt {
  enum class Kind : uint8_t {
    Chunks,
    Scratch,
    Let,
    Table,
    For,
    If,
    Assert,
    Move,
    Exchange,
    Apply,
    Segments,
    Ensures,
    Schedule
  };
  const Kind kind;
  SourceRange range;

  virtual ~Stmt() = default;

protected:
  Stmt(Kind kind, SourceRange range) : kind(kind), range(range) {}
};
using StmtPtr = std::unique_ptr<Stmt>;

/// Statements in braces, or one without.
struct Block {
  SourceRange range;
  std::vector<StmtPtr> statements;
};

/// `buffer[begin..end] @ rank`; `end` is null for a single chunk.
struct Place {
  SourceRange range;
  Name buffer;
  ExprPtr begin, end, rank;
};

/// A place, repeated for each value of the loops behind it.
struct Operand {
  SourceRange range;
  Place place;
  std::vector<Clause> clauses;
};

struct ChunksStmt : Stmt {
  ExprPtr count;
  ChunksStmt(SourceRange range, ExprPtr count)
      : Stmt(Kind::Chunks, range), count(std::move(count)) {}
};

struct ScratchStmt : Stmt {
  Name name;
  ExprPtr count;
  ScratchStmt(SourceRange range, Name name, ExprPtr count)
      : Stmt(Kind::Scratch, range), name(std::move(name)), count(std::move(count)) {}
};

struct LetStmt : Stmt {
  Name name;
  ExprPtr value;
  LetStmt(SourceRange range, Name name, ExprPtr value)
      : Stmt(Kind::Let, range), name(std::move(name)), value(std::move(value)) {}
};

/// `[entry, ...]`: numbers, or rows that are as long as each other.
struct TableRow {
  SourceRange range;
  /// A number; null for a row.
  ExprPtr number;
  std::vector<TableRow> entries;
};

/// `let name = [...]`.
struct TableStmt : Stmt {
  Name name;
  TableRow rows;
  TableStmt(SourceRange range, Name name, TableRow rows)
      : Stmt(Kind::Table, range), name(std::move(name)), rows(std::move(rows)) {}
};

struct ForStmt : Stmt {
  Loop loop;
  Block body;
  ForStmt(SourceRange range, Loop loop, Block body)
      : Stmt(Kind::For, range), loop(std::move(loop)), body(std::move(body)) {}
};

struct IfStmt : Stmt {
  ExprPtr condition;
  Block thenBody;
  std::optional<Block> elseBody;
  IfStmt(SourceRange range, ExprPtr condition, Block thenBody, std::optional<Block> elseBody)
      : Stmt(Kind::If, range), condition(std::move(condition)), thenBody(std::move(thenBody)),
        elseBody(std::move(elseBody)) {}
};

/// `assert condition "message"`, or `requires` in its place.
struct AssertStmt : Stmt {
  bool isRequirement;
  ExprPtr condition;
  /// The author's words, or the text of the condition.
  std::string message;
  AssertStmt(SourceRange range, bool isRequirement, ExprPtr condition, std::string message)
      : Stmt(Kind::Assert, range), isRequirement(isRequirement), condition(std::move(condition)),
        message(std::move(message)) {}
};

/// `segments input[input], output[output]`.
struct SegmentsStmt : Stmt {
  ExprPtr input, output;
  SegmentsStmt(SourceRange range, ExprPtr input, ExprPtr output)
      : Stmt(Kind::Segments, range), input(std::move(input)), output(std::move(output)) {}
};

/// `ensures place == source` or `ensures place == sum(sources)`.
struct EnsuresStmt : Stmt {
  Place place;
  /// Exactly one, without clauses, if it is no sum.
  bool isSum = false;
  std::vector<Operand> sources;
  explicit EnsuresStmt(SourceRange range) : Stmt(Kind::Ensures, range) {}
};

/// `schedule { slices expression  parallel expression  transport word  protocol word }`.
struct ScheduleStmt : Stmt {
  /// A word that stands in the block, and what follows it.
  struct Entry {
    Name word;
    /// Of slices and parallel.
    ExprPtr value;
    /// Of transport and protocol.
    Name choice;
  };
  std::vector<Entry> entries;
  explicit ScheduleStmt(SourceRange range) : Stmt(Kind::Schedule, range) {}

  /// The first entry of that word, or null.
  const Entry *find(std::string_view word) const;
};

enum class Verb : uint8_t { Send, Copy, Reduce, Combine };
struct MoveStmt : Stmt {
  Verb verb;
  /// Exactly one, without clauses, for send and copy.
  std::vector<Operand> operands;
  Place destination;
  MoveStmt(SourceRange range, Verb verb, std::vector<Operand> operands, Place destination)
      : Stmt(Kind::Move, range), verb(verb), operands(std::move(operands)),
        destination(std::move(destination)) {}
};

struct ExchangeStmt : Stmt {
  Block body;
  ExchangeStmt(SourceRange range, Block body)
      : Stmt(Kind::Exchange, range), body(std::move(body)) {}
};

/// `for clauses: begin..end` in brackets; `end` is null for a single number, and
/// there may be no clauses.
struct ListItem {
  SourceRange range;
  std::vector<Clause> clauses;
  ExprPtr begin, end;
};

/// `apply callee(arguments) over [group] on view -> output`.
struct ApplyStmt : Stmt {
  /// Without a name: the next of the callee's root and parameters.
  struct Argument {
    std::optional<Name> name;
    ExprPtr value;
  };
  /// Chunks of a buffer, in the order that the callee sees them in.
  struct View {
    SourceRange range;
    Name buffer;
    std::vector<ListItem> chunks;
  };
  Name callee;
  std::vector<Argument> arguments;
  std::vector<ListItem> group;
  View view;
  /// What the callee writes, if that is not the view itself.
  std::optional<View> output;
  explicit ApplyStmt(SourceRange range) : Stmt(Kind::Apply, range) {}
};

std::string_view spelling(Verb verb);

/// Calls `visitor` with the statement as the class that it is.
template <typename Visitor> decltype(auto) visit(const Stmt &stmt, Visitor &&visitor) {
  switch (stmt.kind) {
  case Stmt::Kind::Chunks:
    return visitor(static_cast<const ChunksStmt &>(stmt));
  case Stmt::Kind::Scratch:
    return visitor(static_cast<const ScratchStmt &>(stmt));
  case Stmt::Kind::Let:
    return visitor(static_cast<const LetStmt &>(stmt));
  case Stmt::Kind::Table:
    return visitor(static_cast<const TableStmt &>(stmt));
  case Stmt::Kind::For:
    return visitor(static_cast<const ForStmt &>(stmt));
  case Stmt::Kind::If:
    return visitor(static_cast<const IfStmt &>(stmt));
  case Stmt::Kind::Assert:
    return visitor(static_cast<const AssertStmt &>(stmt));
  case Stmt::Kind::Move:
    return visitor(static_cast<const MoveStmt &>(stmt));
  case Stmt::Kind::Exchange:
    return visitor(static_cast<const ExchangeStmt &>(stmt));
  case Stmt::Kind::Apply:
    return visitor(static_cast<const ApplyStmt &>(stmt));
  case Stmt::Kind::Segments:
    return visitor(static_cast<const SegmentsStmt &>(stmt));
  case Stmt::Kind::Ensures:
    return visitor(static_cast<const EnsuresStmt &>(stmt));
  case Stmt::Kind::Schedule:
    return visitor(static_cast<const ScheduleStmt &>(stmt));
  }
  __builtin_unreachable();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// `collective` or `collective(root)`.
struct Contract {
  Name collective;
  std::optional<Name> root;
};

/// `name: type in low..high = value`; `low` and `high` are both null without a
/// range, `value` without a default.
struct Parameter {
  SourceRange range;
  Name name;
  ValueType type = ValueType::Int;
  ExprPtr low, high, value;
};

struct Algorithm {
  SourceRange range;
  Name name;
  std::vector<Parameter> parameters;
  Contract contract;
  Block body;
};

/// `fn name(a, b: bool) : type = body`.
struct Function {
  struct Parameter {
    Name name;
    ValueType type = ValueType::Int;
  };
  SourceRange range;
  Name name;
  std::vector<Parameter> parameters;
  ValueType type = ValueType::Int;
  ExprPtr body;
};

struct File;

/// `import "path" as module`; `module` is made from the path where it is left out.
struct Import {
  SourceRange range;
  std::string path;
  Name module;
  /// Null until the file is loaded.
  const File *file = nullptr;
};

struct File {
  const SourceFile *source = nullptr;
  /// What stands before the file's names in a module of MLIR: nothing for the file
  /// that is compiled, "name." for one that it imports.
  std::string prefix;
  std::vector<Import> imports;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Algorithm>> algorithms;
};

} // namespace coil::ast

#endif // COIL_COMPILER_FRONTEND_AST_H
