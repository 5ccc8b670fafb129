//===- Suggest.h - "did you mean" --------------------------------*- C++ -*-===//

#ifndef COIL_COMPILER_FRONTEND_SUGGEST_H
#define COIL_COMPILER_FRONTEND_SUGGEST_H

#include <optional>
#include <string>
#include <string_view>

namespace coil {

/// Letters to insert, remove, replace or swap with their neighbour to make `b`
/// of `a`; `limit + 1` if there are more than `limit`.
size_t editDistance(std::string_view a, std::string_view b, size_t limit);

/// Finds among candidates the one that a misspelt name most likely means.
class Suggestion {
public:
  explicit Suggestion(std::string_view misspelt);

  /// Of equally close candidates the first one wins.
  void consider(std::string_view candidate);
  /// "; did you mean 'step'?", or nothing if no candidate is close enough.
  std::string text() const;

private:
  std::string misspelt;
  size_t closest;
  std::string best;
};

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_SUGGEST_H
