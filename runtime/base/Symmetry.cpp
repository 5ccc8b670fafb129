//===- Symmetry.cpp - Ranks that do alike ---------------------------------===//

#include "runtime/base/Symmetry.h"

#include <fmt/format.h>
#include <utility>

namespace coil {

bool treatsRanksAlike(Collective collective) {
  switch (collective) {
  case Collective::AllReduce:
  case Collective::AllGather:
  case Collective::ReduceScatter:
  case Collective::AllToAll:
    return true;
  default:
    return false;
  }
}

std::string findFault(const std::vector<SymmetryDigit> &digits, int64_t ranks, int64_t chunks) {
  int64_t below = 1;
  for (const SymmetryDigit &digit : digits) {
    if (digit.radix < 2 || digit.weight < 1 || digit.weight > ranks || digit.weight % below ||
        ranks % digit.weight || ranks / digit.weight % digit.radix)
      return fmt::format(
          "a digit of weight {} and radix {} does not fit in {} ranks after a weight "
          "of {}",
          digit.weight, digit.radix, ranks, below);
    below = digit.weight * digit.radix;
    int64_t chunkWeight = digit.chunkWeight;
    if (chunkWeight < 0 || chunkWeight > chunks ||
        (chunkWeight && (chunks % chunkWeight || chunks / chunkWeight % digit.radix)))
      return fmt::format("chunks of weight {} and radix {} do not fit in {} chunks", chunkWeight,
                         digit.radix, chunks);
    for (const SymmetryDigit &other : digits) {
      if (&other == &digit)
        break;
      // In range, since both fit in the chunks.
      if (chunkWeight && other.chunkWeight && chunkWeight % (other.chunkWeight * other.radix) &&
          other.chunkWeight % (chunkWeight * digit.radix))
        return fmt::format("chunks of weights {} and {} overlap", other.chunkWeight, chunkWeight);
    }
  }
  return "";
}

Symmetry::Symmetry(int64_t ranks, std::vector<SymmetryDigit> shifted) : digits(std::move(shifted)) {
  for (const SymmetryDigit &digit : digits)
    shiftCount *= digit.radix;
  if (isTrivial())
    return;
  kindOfRank.resize(static_cast<size_t>(ranks));
  shiftOfRank.resize(static_cast<size_t>(ranks));
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t smallest = rank, shift = 0, dense = 1;
    for (const SymmetryDigit &digit : digits) {
      int64_t amount = rank / digit.weight % digit.radix;
      smallest -= amount * digit.weight;
      shift += amount * dense;
      dense *= digit.radix;
    }
    auto at = static_cast<size_t>(rank);
    shiftOfRank[at] = shift;
    if (smallest == rank) {
      kindOfRank[at] = static_cast<int64_t>(representatives.size());
      representatives.push_back(rank);
    } else {
      kindOfRank[at] = kindOfRank[static_cast<size_t>(smallest)];
    }
  }
}

int64_t Symmetry::sum(int64_t a, int64_t b) const {
  if (digits.size() == 1)
    return (a + b) % shiftCount;
  int64_t result = 0, dense = 1;
  for (const SymmetryDigit &digit : digits) {
    result += (a % digit.radix + b % digit.radix) % digit.radix * dense;
    a /= digit.radix;
    b /= digit.radix;
    dense *= digit.radix;
  }
  return result;
}

int64_t Symmetry::inverse(int64_t shift) const {
  int64_t result = 0, dense = 1;
  for (const SymmetryDigit &digit : digits) {
    result += (digit.radix - shift % digit.radix) % digit.radix * dense;
    shift /= digit.radix;
    dense *= digit.radix;
  }
  return result;
}

int64_t Symmetry::shiftRank(int64_t rank, int64_t shift) const {
  forEachDigit(shift, [&](const SymmetryDigit &digit, int64_t amount) {
    rank = digit.add(rank, amount, digit.weight);
  });
  return rank;
}

int64_t Symmetry::shiftChunk(int64_t chunk, int64_t shift) const {
  forEachDigit(shift, [&](const SymmetryDigit &digit, int64_t amount) {
    if (digit.chunkWeight)
      chunk = digit.add(chunk, amount, digit.chunkWeight);
  });
  return chunk;
}

} // namespace coil
