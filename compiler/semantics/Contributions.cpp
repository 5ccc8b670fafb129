//===- Contributions.cpp - Which inputs a value was made from -------------===//

#include "compiler/semantics/Contributions.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace coil {

static auto keyOf(const Contribution &contribution) {
  return std::tuple(contribution.chunk, contribution.rank);
}

Contributions::Contributions(std::vector<Contribution> contributions)
    : entries(std::move(contributions)) {
  std::ranges::sort(entries, {}, keyOf);
}

Contributions Contributions::of(int32_t rank, int64_t chunk) {
  Contributions result;
  result.entries.push_back({rank, 1, chunk});
  return result;
}

void Contributions::add(const Contributions &other) {
  // Often ranks come in order: then there is nothing to merge.
  if (entries.empty() || other.empty() || keyOf(entries.back()) < keyOf(other.entries.front())) {
    entries.insert(entries.end(), other.entries.begin(), other.entries.end());
    return;
  }
  std::vector<Contribution> merged;
  merged.reserve(entries.size() + other.entries.size());
  auto left = entries.begin();
  auto right = other.entries.begin();
  while (left != entries.end() || right != other.entries.end()) {
    if (right == other.entries.end() || (left != entries.end() && keyOf(*left) < keyOf(*right))) {
      merged.push_back(*left++);
    } else if (left == entries.end() || keyOf(*right) < keyOf(*left)) {
      merged.push_back(*right++);
    } else {
      merged.push_back({left->rank, left->count + right->count, left->chunk});
      ++left, ++right;
    }
  }
  entries = std::move(merged);
}

Contributions Contributions::common(const Contributions &other) const {
  Contributions result;
  auto right = other.entries.begin();
  for (const Contribution &left : entries) {
    while (right != other.entries.end() && keyOf(*right) < keyOf(left))
      ++right;
    if (right != other.entries.end() && keyOf(*right) == keyOf(left))
      result.entries.push_back({left.rank, std::min(left.count, right->count), left.chunk});
  }
  return result;
}

Contributions Contributions::without(const Contributions &other) const {
  Contributions result;
  auto right = other.entries.begin();
  for (const Contribution &left : entries) {
    while (right != other.entries.end() && keyOf(*right) < keyOf(left))
      ++right;
    bool shared = right != other.entries.end() && keyOf(*right) == keyOf(left);
    uint32_t taken = shared ? right->count : 0;
    if (left.count > taken)
      result.entries.push_back({left.rank, left.count - taken, left.chunk});
  }
  return result;
}

std::string Contributions::describe() const {
  std::string text;
  for (size_t i = 0; i < entries.size();) {
    std::vector<int64_t> ranks;
    size_t end = i;
    for (; end < entries.size() && entries[end].chunk == entries[i].chunk &&
           entries[end].count == entries[i].count;
         ++end)
      ranks.push_back(entries[end].rank);
    fmt::format_to(std::back_inserter(text), "{}input[{}] of {}", text.empty() ? "" : ", ",
                   entries[i].chunk, describeRanks(ranks));
    if (entries[i].count > 1)
      fmt::format_to(std::back_inserter(text), " ({} times)", entries[i].count);
    i = end;
  }
  return text.empty() ? "nothing" : text;
}

std::string describeRanks(const std::vector<int64_t> &ranks) {
  std::vector<std::string> ranges;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
      ++end;
    ranges.push_back(end - i == 1 ? fmt::format("{}", ranks[i])
                                  : fmt::format("{}-{}", ranks[i], ranks[end - 1]));
    i = end;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranges.size(); ++i)
    text += (i == 0 ? "" : i + 1 == ranges.size() ? " and " : ", ") + ranges[i];
  return text;
}

} // namespace coil
