//===- CheckApply.cpp - Applications of algorithms ------------------------===//

#include "compiler/frontend/Check.h"
#include "compiler/frontend/Suggest.h"

namespace coil {

using namespace ast;

void Checker::operator()(const ApplyStmt &stmt) {
  if (exchange)
    diagnostics.error(stmt.range, "an application cannot stand in an exchange")
        .note(exchange->range, "the exchange is here");
  auto callee = names.algorithms.find(stmt.callee.text);
  if (callee == names.algorithms.end()) {
    Suggestion nearest(stmt.callee.text);
    for (const auto &[known, algorithm] : names.algorithms)
      nearest.consider(known);
    diagnostics.error(stmt.callee.range, "unknown algorithm '{}'{}", stmt.callee.text,
                      nearest.text());
    for (const ApplyStmt::Argument &argument : stmt.arguments)
      evaluate(*argument.value);
  } else {
    checkArguments(stmt, *callee->second.declaration);
  }
  for (const ListItem &item : stmt.group) {
    Scope scope(*this);
    int reachable = unreachable;
    checkClauses(item.clauses);
    evaluateInt(*item.begin, "a rank");
    if (item.end)
      evaluateInt(*item.end, "a rank");
    unreachable = reachable;
  }
  checkView(stmt.view, !stmt.output);
  if (stmt.output)
    checkView(*stmt.output, true);
}

void Checker::checkArguments(const ApplyStmt &stmt, const Algorithm &callee) {
  struct Slot {
    const Name *name;
    Type type;
    bool hasDefault;
    const ApplyStmt::Argument *argument = nullptr;
  };
  std::vector<Slot> slots;
  if (callee.contract.root)
    slots.push_back({&*callee.contract.root, Type::Int, false});
  for (const Parameter &parameter : callee.parameters)
    slots.push_back({&parameter.name, parameter.type, parameter.value != nullptr});

  size_t next = 0;
  for (const ApplyStmt::Argument &argument : stmt.arguments) {
    MaybeValue value = evaluate(*argument.value);
    Slot *slot = nullptr;
    if (!argument.name) {
      if (next < slots.size())
        slot = &slots[next++];
      else
        diagnostics
            .error(argument.value->range, "'{}' takes no more arguments than {}", callee.name.text,
                   slots.size())
            .note(callee.name.range, "'{}' is declared here", callee.name.text);
    } else {
      next = slots.size();
      Suggestion nearest(argument.name->text);
      for (Slot &each : slots) {
        nearest.consider(each.name->text);
        if (each.name->text == argument.name->text)
          slot = &each;
      }
      if (!slot)
        diagnostics
            .error(argument.name->range, "'{}' has no parameter '{}'{}", callee.name.text,
                   argument.name->text, nearest.text())
            .note(callee.name.range, "'{}' is declared here", callee.name.text);
    }
    if (!slot)
      continue;
    if (slot->argument)
      diagnostics.error(argument.value->range, "'{}' is given already", slot->name->text)
          .note(slot->argument->value->range, "it is given here");
    slot->argument = &argument;
    if (value && value->type != slot->type)
      diagnostics
          .error(argument.value->range, "'{}' must be {}, found {}", slot->name->text,
                 withArticle(slot->type), withArticle(value->type))
          .note(slot->name->range, "'{}' is declared here", slot->name->text);
  }
  for (const Slot &slot : slots)
    if (!slot.argument && !slot.hasDefault)
      diagnostics
          .error(stmt.callee.range, "'{}' needs a value for '{}'", callee.name.text,
                 slot.name->text)
          .note(slot.name->range, "'{}' is declared here", slot.name->text);
}

void Checker::checkView(const ApplyStmt::View &view, bool isWritten) {
  if (isWritten && view.buffer.text == "input")
    diagnostics.error(view.buffer.range,
                      "cannot write to 'input': the caller's input is never written");
  for (const ListItem &item : view.chunks) {
    Scope scope(*this);
    int reachable = unreachable;
    checkClauses(item.clauses);
    checkChunkRun(view.buffer, *item.begin, item.end.get());
    unreachable = reachable;
  }
}

} // namespace coil
