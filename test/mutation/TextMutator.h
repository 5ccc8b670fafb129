//===- TextMutator.h - Programs broken as their author might ----*- C++ -*-===//

#ifndef COIL_TEST_MUTATION_TEXTMUTATOR_H
#define COIL_TEST_MUTATION_TEXTMUTATOR_H

#include "compiler/frontend/Ast.h"

namespace coil {

enum class TextMutation : uint8_t {
  Drop,
  Duplicate,
  Swap, ///< with the next statement
  ChangeVerb,
  ChangeRank,
  ChangeChunk,
  ChangeBuffer,
  ChangeLoop,      ///< where it begins or ends
  ChangeCondition, ///< to its contrary, or to true
  ChangeValue,     ///< of a let, or the number of chunks
  DropOperand,
  DropExchange, ///< but not what it holds
};
inline constexpr int numTextMutations = 12;
const char *nameOf(TextMutation mutation);

/// A change of a text: bytes `begin` to `end` become `replacement`.
struct TextEdit {
  TextMutation mutation;
  uint32_t begin = 0, end = 0;
  std::string replacement;
};

/// Every single change that is tried of a file, in the order of its text.
std::vector<TextEdit> editsOf(const ast::File &file);

/// The text with the edit done.
std::string edited(std::string_view text, const TextEdit &edit);

} // namespace coil

#endif // COIL_TEST_MUTATION_TEXTMUTATOR_H
