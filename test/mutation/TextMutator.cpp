//===- TextMutator.cpp - Programs broken as their author might ------------===//

#include "test/mutation/TextMutator.h"

#include <fmt/format.h>
#include <set>

namespace coil {

using namespace ast;

const char *nameOf(TextMutation mutation) {
  switch (mutation) {
  case TextMutation::Drop:
    return "drop a statement";
  case TextMutation::Duplicate:
    return "duplicate a statement";
  case TextMutation::Swap:
    return "swap two statements";
  case TextMutation::ChangeVerb:
    return "change a verb";
  case TextMutation::ChangeRank:
    return "change a rank";
  case TextMutation::ChangeChunk:
    return "change a chunk";
  case TextMutation::ChangeBuffer:
    return "change a buffer";
  case TextMutation::ChangeLoop:
    return "change a loop's bounds";
  case TextMutation::ChangeCondition:
    return "change a condition";
  case TextMutation::ChangeValue:
    return "change a value";
  case TextMutation::DropOperand:
    return "drop an operand";
  case TextMutation::DropExchange:
    return "drop an exchange";
  }
  return "";
}

namespace {

class Collector {
public:
  explicit Collector(const File &file) {
    for (const auto &algorithm : file.algorithms) {
      scratch.clear();
      block(algorithm->body);
    }
  }

  std::vector<TextEdit> edits;

private:
  void add(TextMutation mutation, SourceRange range, std::string replacement) {
    edits.push_back({mutation, range.begin, range.end, std::move(replacement)});
  }

  /// Puts each of the patterns in the place of an expression, which stands for their "{}".
  void replace(TextMutation mutation, const Expr &expr, std::initializer_list<const char *> with) {
    for (const char *pattern : with)
      add(mutation, expr.range, fmt::format(fmt::runtime(pattern), expr.range.text()));
  }

  static bool moves(const Stmt &stmt) {
    return stmt.kind == Stmt::Kind::Move || stmt.kind == Stmt::Kind::For ||
           stmt.kind == Stmt::Kind::If || stmt.kind == Stmt::Kind::Exchange ||
           stmt.kind == Stmt::Kind::Apply;
  }

  void block(const Block &body) {
    for (size_t i = 0; i < body.statements.size(); ++i) {
      const Stmt &stmt = *body.statements[i];
      if (moves(stmt)) {
        std::string text(stmt.range.text());
        bool isInBraces = body.range.text().starts_with('{');
        add(TextMutation::Drop, stmt.range, isInBraces ? "" : "{ }");
        add(TextMutation::Duplicate, stmt.range,
            fmt::format(fmt::runtime(isInBraces ? "{0}\n{0}" : "{{ {0}\n{0} }}"), text));
        if (i + 1 < body.statements.size() && moves(*body.statements[i + 1])) {
          const Stmt &next = *body.statements[i + 1];
          add(TextMutation::Swap, stmt.range.to(next.range),
              fmt::format("{}\n{}", next.range.text(), text));
        }
      }
      visit(stmt, [&](const auto &each) { collect(each); });
    }
  }

  void collect(const ChunksStmt &stmt) {
    replace(TextMutation::ChangeValue, *stmt.count, {"({}) + 1", "({}) * 2", "1"});
  }
  void collect(const ScratchStmt &stmt) { scratch.insert(stmt.name.text); }
  void collect(const LetStmt &stmt) {
    replace(TextMutation::ChangeValue, *stmt.value, {"({}) + 1", "({}) - 1", "-({})"});
  }
  void collect(const ForStmt &stmt) {
    loop(stmt.loop);
    block(stmt.body);
  }
  void collect(const IfStmt &stmt) {
    condition(*stmt.condition);
    block(stmt.thenBody);
    if (stmt.elseBody)
      block(*stmt.elseBody);
  }
  void collect(const ScheduleStmt &stmt) {
    for (const ScheduleStmt::Entry &entry : stmt.entries)
      if (entry.value)
        replace(TextMutation::ChangeValue, *entry.value, {"({}) + 1", "({}) * 2", "1"});
  }
  void collect(const AssertStmt &) {}
  // What a program is held to stays as it is.
  void collect(const TableStmt &) {}
  void collect(const SegmentsStmt &) {}
  void collect(const EnsuresStmt &) {}
  void collect(const MoveStmt &stmt) {
    uint32_t begin = stmt.range.begin;
    std::string_view verb = spelling(stmt.verb);
    for (Verb other : {Verb::Send, Verb::Copy, Verb::Reduce, Verb::Combine})
      if (other != stmt.verb)
        add(TextMutation::ChangeVerb,
            {stmt.range.file, begin, begin + static_cast<uint32_t>(verb.size())},
            std::string(spelling(other)));
    for (size_t i = 0; i < stmt.operands.size(); ++i) {
      const Operand &operand = stmt.operands[i];
      place(operand.place);
      for (const Clause &clause : operand.clauses) {
        loop(clause.loop);
        if (clause.condition)
          condition(*clause.condition);
      }
      if (i > 0)
        add(TextMutation::DropOperand,
            {stmt.range.file, stmt.operands[i - 1].range.end, operand.range.end}, "");
    }
    place(stmt.destination);
  }
  void collect(const ExchangeStmt &stmt) {
    // What it holds stands where it stood, in a condition that holds.
    add(TextMutation::DropExchange, stmt.range, fmt::format("if true {}", stmt.body.range.text()));
    block(stmt.body);
  }
  void collect(const ApplyStmt &) {}

  void loop(const Loop &each) {
    replace(TextMutation::ChangeLoop, *each.begin, {"({}) + 1", "({}) - 1"});
    replace(TextMutation::ChangeLoop, *each.end, {"({}) + 1", "({}) - 1"});
  }

  void condition(const Expr &expr) {
    replace(TextMutation::ChangeCondition, expr, {"!({})", "true"});
  }

  void place(const Place &each) {
    replace(TextMutation::ChangeRank, *each.rank,
            {"({}) + 1", "({}) - 1", "({}) ^ 1", "-({})", "0"});
    for (const Expr *index : {each.begin.get(), each.end.get()})
      if (index)
        replace(TextMutation::ChangeChunk, *index, {"({}) + 1", "({}) - 1", "({}) ^ 1", "0"});
    std::set<std::string> buffers = scratch;
    buffers.insert({"input", "output", "data"});
    buffers.erase(each.buffer.text);
    for (const std::string &buffer : buffers)
      add(TextMutation::ChangeBuffer, each.buffer.range, buffer);
  }

  /// Names of what was declared so far.
  std::set<std::string> scratch;
};

} // namespace

std::vector<TextEdit> editsOf(const File &file) { return std::move(Collector(file).edits); }

std::string edited(std::string_view text, const TextEdit &edit) {
  std::string changed(text.substr(0, edit.begin));
  changed += edit.replacement;
  changed += text.substr(edit.end);
  return changed;
}

} // namespace coil
