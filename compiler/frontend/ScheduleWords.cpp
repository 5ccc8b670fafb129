//===- ScheduleWords.cpp - The words of a schedule ------------------------===//

#include "compiler/frontend/ScheduleWords.h"

#include <algorithm>

namespace coil {

namespace {

std::string quotedList(const std::vector<std::string_view> &words) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      list += i + 1 == words.size() ? " or " : ", ";
    list += '\'' + std::string(words[i]) + '\'';
  }
  return list;
}

} // namespace

const std::vector<ScheduleWord> &scheduleWords() {
  static const std::vector<ScheduleWord> words{{"slices", {}},
                                               {"parallel", {}},
                                               {"transport", {"p2p", "staged"}},
                                               {"protocol", {"simple", "ll", "ll128"}}};
  return words;
}

const ScheduleWord *findScheduleWord(std::string_view word) {
  const std::vector<ScheduleWord> &words = scheduleWords();
  auto found = std::find_if(words.begin(), words.end(),
                            [&](const ScheduleWord &each) { return each.word == word; });
  return found == words.end() ? nullptr : &*found;
}

std::string listOfScheduleWords() {
  std::vector<std::string_view> words;
  for (const ScheduleWord &each : scheduleWords())
    words.push_back(each.word);
  return quotedList(words);
}

std::string listOfChoices(const ScheduleWord &word) { return quotedList(word.choices); }

} // namespace coil
