//===- Suggest.cpp - "did you mean" ---------------------------------------===//

#include "compiler/frontend/Suggest.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace coil {

size_t editDistance(std::string_view a, std::string_view b, size_t limit) {
  size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit)
    return limit + 1;
  // Rows of the table of distances between prefixes: of a's length i - 2, i - 1, i.
  std::vector<size_t> twoBack, back(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    back[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, back[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], twoBack[j - 2] + 1);
    }
    twoBack = back;
    std::swap(back, row);
  }
  return std::min(back[b.size()], limit + 1);
}

/// Names longer than this are compared with nothing: nobody misspells those.
static constexpr size_t longestName = 64;

Suggestion::Suggestion(std::string_view misspelt)
    : misspelt(misspelt), closest((misspelt.size() + 2) / 3 + 1) {
  if (misspelt.size() > longestName)
    closest = 0;
}

void Suggestion::consider(std::string_view candidate) {
  if (closest == 0)
    return;
  size_t distance = editDistance(misspelt, candidate, closest - 1);
  // As many changes as letters would suggest anything for a short name.
  if (distance >= closest || distance >= candidate.size())
    return;
  closest = distance;
  best = candidate;
}

std::string Suggestion::text() const {
  return best.empty() ? std::string() : fmt::format("; did you mean '{}'?", best);
}

} // namespace coil
