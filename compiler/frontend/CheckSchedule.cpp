//===- CheckSchedule.cpp - How an algorithm should run --------------------===//

#include "compiler/frontend/Check.h"

#include "compiler/frontend/Suggest.h"

namespace coil {

using namespace ast;

void Checker::operator()(const ScheduleStmt &stmt) {
  if (schedule)
    diagnostics.error(stmt.range, "the schedule is given already")
        .note(schedule->range, "it is given here");
  else if (depth > 0)
    diagnostics.error(stmt.range, "'schedule' must stand at the top level of the algorithm");
  else
    checkComesFirst(stmt, "'schedule'");
  if (!schedule)
    schedule = &stmt;
  for (const ScheduleStmt::Entry &entry : stmt.entries) {
    const ScheduleStmt::Entry *first = stmt.find(entry.word.text);
    if (first != &entry)
      diagnostics.error(entry.word.range, "'{}' is given already", entry.word.text)
          .note(first->word.range, "it is given here");
    if (entry.value) {
      std::string what = fmt::format("the number behind '{}'", entry.word.text);
      MaybeInterval count = evaluateInt(*entry.value, what);
      if (count && count->isAtMost(0))
        rangeError(entry.value->range, "{} must be at least 1, found {}", what,
                   describeHigh(*count));
    } else if (entry.choice.text != "p2p" && entry.choice.text != "staged") {
      Suggestion nearest(entry.choice.text);
      nearest.consider("p2p");
      nearest.consider("staged");
      diagnostics.error(entry.choice.range,
                        "expected the transport 'p2p' or 'staged', found '{}'{}", entry.choice.text,
                        nearest.text());
    }
  }
}

} // namespace coil
