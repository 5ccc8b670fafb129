//===- ScheduleWords.h - The words of a schedule ----------------*- C++ -*-===//

#ifndef COIL_COMPILER_FRONTEND_SCHEDULEWORDS_H
#define COIL_COMPILER_FRONTEND_SCHEDULEWORDS_H

#include <string>
#include <string_view>
#include <vector>

namespace coil {

/// A word that begins an entry of a schedule. One of the choices follows, or a
/// number if there are none.
struct ScheduleWord {
  std::string_view word;
  std::vector<std::string_view> choices;
};

/// In the order of the documentation.
const std::vector<ScheduleWord> &scheduleWords();

/// The entry that begins with the word, or null.
const ScheduleWord *findScheduleWord(std::string_view word);

/// All words as a message lists them: "'slices', 'parallel' or 'transport'".
std::string listOfScheduleWords();
/// The same of a word's choices.
std::string listOfChoices(const ScheduleWord &word);

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_SCHEDULEWORDS_H
