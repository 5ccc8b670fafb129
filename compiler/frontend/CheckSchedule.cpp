//===- CheckSchedule.cpp - How an algorithm should run --------------------===//

#include "compiler/frontend/Check.h"

#include "compiler/frontend/ScheduleWords.h"
#include "compiler/frontend/Suggest.h"

#include <algorithm>

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
      continue;
    }
    const ScheduleWord &word = *findScheduleWord(entry.word.text);
    if (std::find(word.choices.begin(), word.choices.end(), entry.choice.text) !=
        word.choices.end())
      continue;
    Suggestion nearest(entry.choice.text);
    for (std::string_view choice : word.choices)
      nearest.consider(choice);
    diagnostics.error(entry.choice.range, "expected the {} {}, found '{}'{}", word.word,
                      listOfChoices(word), entry.choice.text, nearest.text());
  }
  const ScheduleStmt::Entry *transport = stmt.find("transport"), *protocol = stmt.find("protocol");
  if (transport && protocol && transport->choice.text == "p2p")
    diagnostics
        .error(protocol->word.range,
               "transport p2p sends no messages, so that there is no protocol")
        .note(transport->word.range, "the transport is given here");
}

} // namespace coil
