//===- Check.h - Names, types and numbers of a program -----------*- C++ -*-===//
//
// The checker walks a tree once. It keeps what is known of each value as an
// Interval and reports only what is wrong for every number of ranks; the rest
// is checked on the instance, where the number of ranks is known.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_FRONTEND_CHECK_H
#define COIL_COMPILER_FRONTEND_CHECK_H

#include "compiler/frontend/Ast.h"
#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/Interval.h"

#include <deque>
#include <functional>
#include <map>
#include <unordered_map>

namespace coil {

/// What the declarations of a file can use, by name.
struct FileNames {
  template <typename Declaration> struct Entry {
    const Declaration *declaration;
    /// The file that declares it.
    const ast::File *file;
  };
  std::map<std::string, Entry<ast::Function>, std::less<>> functions;
  std::map<std::string, Entry<ast::Algorithm>, std::less<>> algorithms;

  /// The file's own names, and with their modules those that it imports.
  explicit FileNames(const ast::File &file);
};

/// Checks one declaration; a new checker is made for each.
class Checker {
public:
  Checker(const FileNames &names, DiagnosticEngine &diagnostics)
      : names(names), diagnostics(diagnostics) {}

  void check(const ast::Algorithm &algorithm);
  void check(const ast::Function &checked);

  /// True for the names that the language itself gives a meaning.
  static bool isReserved(std::string_view name);
  static bool isBuiltinFunction(std::string_view name);

  /// Statements, as ast::visit hands them out. ChunksStmt: one below the top level.
  void operator()(const ast::ChunksStmt &stmt);
  void operator()(const ast::ScratchStmt &stmt);
  void operator()(const ast::LetStmt &stmt);
  void operator()(const ast::TableStmt &stmt);
  void operator()(const ast::ForStmt &stmt);
  void operator()(const ast::IfStmt &stmt);
  void operator()(const ast::AssertStmt &stmt);
  void operator()(const ast::MoveStmt &stmt);
  void operator()(const ast::ExchangeStmt &stmt);
  void operator()(const ast::ApplyStmt &stmt);
  void operator()(const ast::SegmentsStmt &stmt);
  void operator()(const ast::EnsuresStmt &stmt);
  void operator()(const ast::ScheduleStmt &stmt);

private:
  using Type = ast::ValueType;

  /// What is known of an expression: for an int its interval, for a bool its
  /// truth if that is always the same.
  struct Value {
    Type type = Type::Int;
    Interval range;
    std::optional<bool> truth;

    static Value integer(Interval range) { return {Type::Int, range, std::nullopt}; }
    static Value unknown(Type type) { return {type, {}, std::nullopt}; }
    static Value boolean(std::optional<bool> truth) { return {Type::Bool, {}, truth}; }
  };
  /// Empty after an error that was reported, so that one mistake is one error.
  using MaybeValue = std::optional<Value>;
  using MaybeInterval = std::optional<Interval>;

  struct Symbol {
    enum class Kind : uint8_t { Value, Buffer, Table };
    Kind kind = Kind::Value;
    std::string name;
    /// Where it is declared; empty for what the language declares.
    SourceRange range;
    /// Of a table, what is known of all its entries.
    MaybeValue value;
    /// Entries of a table in each dimension; empty after an error.
    std::vector<int64_t> shape;
    /// Chunks of a buffer on each rank, if known.
    MaybeInterval size;
    bool isVisible = true;
  };

  /// The names declared while it lives end with it.
  class Scope {
  public:
    explicit Scope(Checker &checker) : checker(checker), size(checker.declared.size()) {}
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Checker &checker;
    size_t size;
  };

  /// While it lives, numbers are not judged: the statement is never executed.
  class Unreachable {
  public:
    Unreachable(Checker &checker, bool isUnreachable)
        : counter(checker.unreachable), amount(isUnreachable) {
      counter += amount;
    }
    ~Unreachable() { counter -= amount; }
    Unreachable(const Unreachable &) = delete;
    Unreachable &operator=(const Unreachable &) = delete;

  private:
    int &counter;
    int amount;
  };

  // Declarations (CheckDecl.cpp).
  void checkParameter(const ast::Parameter &parameter);
  void checkContract(const ast::Contract &contract);
  void checkChunks(const ast::ChunksStmt &stmt);
  /// Sizes the buffers of the call, once the chunks of a segment are known and, where
  /// the algorithm says so itself, the segments.
  void setBufferSizes();

  // Contracts of algorithms (CheckContract.cpp).
  /// True if the algorithm states its own contract.
  bool isCustom() const { return contract->collective.text == "custom"; }
  /// Reports a statement behind the first one that moves chunks.
  void checkComesFirst(const ast::Stmt &stmt, std::string_view what);
  /// The segments of a place of a contract; returns their number, if known.
  MaybeInterval checkSegments(const ast::Place &place, std::string_view buffer,
                              const MaybeInterval &size);

  // Statements (Check.cpp).
  void checkBlock(const ast::Block &block);
  /// Checks the entries of a row, given the shape of the first one at each level from
  /// `dimension` on, or fills it in; `entries` becomes what is known of the numbers.
  bool checkRow(const ast::TableRow &row, size_t dimension, std::vector<int64_t> &shape,
                MaybeInterval &entries);
  /// Declares the loop's variable; true if the loop is known to run never.
  bool checkLoop(const ast::Loop &loop);
  /// Returns the number of chunks, if known.
  MaybeInterval checkPlace(const ast::Place &place);
  MaybeInterval checkOperand(const ast::Operand &operand);
  /// The chunks from `begin` up to `end`, or the one at `begin`; returns their number.
  MaybeInterval checkChunkRun(const ast::Name &buffer, const ast::Expr &begin,
                              const ast::Expr *end);
  /// Declares the variables; what follows may turn out to be unreachable.
  void checkClauses(const std::vector<ast::Clause> &clauses);
  const Symbol *resolveBuffer(const ast::Name &name);

  // Applications (CheckApply.cpp).
  void checkArguments(const ast::ApplyStmt &stmt, const ast::Algorithm &callee);
  void checkView(const ast::ApplyStmt::View &view, bool isWritten);

  // Names (Check.cpp).
  Symbol *declare(const ast::Name &name, Symbol::Kind kind);
  void declareBuiltin(std::string name, Symbol symbol);
  Symbol *find(std::string_view name);
  /// Reports a name that no visible symbol of that kind has.
  void reportUnknown(const ast::Name &name, Symbol::Kind kind);

  // Expressions (CheckExpr.cpp).
  MaybeValue evaluate(const ast::Expr &expr);
  MaybeValue evaluate(const ast::NameExpr &expr);
  MaybeValue evaluate(const ast::UnaryExpr &expr);
  MaybeValue evaluate(const ast::BinaryExpr &expr);
  MaybeValue evaluate(const ast::ConditionalExpr &expr);
  MaybeValue evaluate(const ast::EntryExpr &expr);
  MaybeValue evaluate(const ast::FoldExpr &expr);
  MaybeValue evaluateLogical(const ast::BinaryExpr &expr);
  MaybeValue evaluateComparison(const ast::BinaryExpr &expr);
  MaybeInterval evaluateShift(const ast::BinaryExpr &expr, const Interval &left,
                              const Interval &right);

  // Calls (CheckCall.cpp).
  MaybeValue evaluate(const ast::CallExpr &expr);
  MaybeValue evaluateBuiltin(const ast::CallExpr &expr);
  MaybeValue callFunction(const ast::CallExpr &expr, const ast::Function &callee);

  /// An int; `what` ("a chunk index") begins the error otherwise.
  MaybeInterval evaluateInt(const ast::Expr &expr, std::string_view what);
  /// A bool; the truth if known.
  MaybeValue evaluateBool(const ast::Expr &expr, std::string_view what);
  /// Reports an operation on constants whose result does not fit.
  MaybeInterval checkOverflow(const ast::Expr &expr, const Interval &result, bool areConstants);

  /// Reports a number that is wrong whenever it is computed; null, and no
  /// error, where it never is.
  template <typename... Args>
  Diagnostic *rangeError(SourceRange range, fmt::format_string<Args...> format, Args &&...args) {
    if (unreachable > 0)
      return nullptr;
    return &diagnostics.error(range, format, std::forward<Args>(args)...);
  }

  /// "an int", "a bool".
  static std::string withArticle(Type type);

  const FileNames &names;
  DiagnosticEngine &diagnostics;
  /// The function that is checked; null for an algorithm.
  const ast::Function *function = nullptr;
  /// Of the algorithm that is checked.
  const ast::Contract *contract = nullptr;
  /// All symbols of the algorithm, those out of scope too.
  std::deque<Symbol> symbols;
  std::unordered_map<std::string_view, Symbol *> visible;
  /// The visible symbols that the program declares, innermost last.
  std::vector<Symbol *> declared;

  /// Depth of loops, conditions and exchanges.
  int depth = 0;
  int unreachable = 0;
  const ast::ExchangeStmt *exchange = nullptr;
  const ast::ChunksStmt *chunks = nullptr;
  /// Chunks of a segment, and segments of the buffers, if known.
  MaybeInterval chunksOfSegment, inputSegments, outputSegments;
  const ast::SegmentsStmt *segments = nullptr;
  const ast::ScheduleStmt *schedule = nullptr;
  bool hasEnsures = false;
  const ast::Stmt *firstMove = nullptr;
};

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_CHECK_H
