//===- Ast.cpp - The syntax tree ------------------------------------------===//

#include "compiler/frontend/Ast.h"

#include <algorithm>

namespace coil::ast {

UnaryExpr::UnaryExpr(SourceRange range, UnaryOp op, ExprPtr operand)
    : Expr(Kind::Unary, range), op(op), operand(std::move(operand)) {
  depth = this->operand->depth + 1;
}

BinaryExpr::BinaryExpr(BinaryOp op, ExprPtr left, ExprPtr right)
    : Expr(Kind::Binary, left->range.to(right->range)), op(op), left(std::move(left)),
      right(std::move(right)) {
  depth = std::max(this->left->depth, this->right->depth) + 1;
}

ConditionalExpr::ConditionalExpr(SourceRange range, ExprPtr condition, ExprPtr whenTrue,
                                 ExprPtr whenFalse)
    : Expr(Kind::Conditional, range), condition(std::move(condition)),
      whenTrue(std::move(whenTrue)), whenFalse(std::move(whenFalse)) {
  depth = std::max({this->condition->depth, this->whenTrue->depth, this->whenFalse->depth}) + 1;
}

CallExpr::CallExpr(SourceRange range, Name callee, std::vector<ExprPtr> arguments)
    : Expr(Kind::Call, range), callee(std::move(callee)), arguments(std::move(arguments)) {
  for (const ExprPtr &argument : this->arguments)
    depth = std::max(depth, argument->depth + 1);
}

EntryExpr::EntryExpr(SourceRange range, Name table, std::vector<ExprPtr> indices)
    : Expr(Kind::Entry, range), table(std::move(table)), indices(std::move(indices)) {
  for (const ExprPtr &index : this->indices)
    depth = std::max(depth, index->depth + 1);
}

FoldExpr::FoldExpr(SourceRange range, FoldOp op, ExprPtr value, std::vector<Clause> clauses)
    : Expr(Kind::Fold, range), op(op), value(std::move(value)), clauses(std::move(clauses)) {
  // A loop is lowered inside of the one before it, with its condition.
  depth = this->value->depth;
  for (const Clause &clause : this->clauses)
    for (const ExprPtr *part :
         {&clause.loop.begin, &clause.loop.end, &clause.loop.step, &clause.condition})
      if (*part)
        depth = std::max(depth, (*part)->depth);
  depth += static_cast<uint32_t>(2 * this->clauses.size());
}

std::string_view spelling(UnaryOp op) {
  static constexpr std::string_view spellings[] = {"-", "~", "!"};
  return spellings[size_t(op)];
}

std::string_view spelling(BinaryOp op) {
  static constexpr std::string_view spellings[] = {
      "||", "&&", "==", "!=", "<", "<=", ">", ">=", "|",
      "^",  "&",  "<<", ">>", "+", "-",  "*", "/",  "%"};
  return spellings[size_t(op)];
}

std::string_view spelling(FoldOp op) {
  static constexpr std::string_view spellings[] = {"sum", "min", "max"};
  return spellings[size_t(op)];
}

std::string_view spelling(ValueType type) { return type == ValueType::Int ? "int" : "bool"; }

const ScheduleStmt::Entry *ScheduleStmt::find(std::string_view word) const {
  auto found = std::ranges::find(
      entries, word, [](const Entry &entry) -> std::string_view { return entry.word.text; });
  return found == entries.end() ? nullptr : &*found;
}

std::string_view spelling(Verb verb) {
  static constexpr std::string_view spellings[] = {"send", "copy", "reduce", "combine"};
  return spellings[size_t(verb)];
}

} // namespace coil::ast
