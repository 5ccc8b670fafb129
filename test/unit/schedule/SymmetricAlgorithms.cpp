//===- SymmetricAlgorithms.cpp - Algorithms that treat ranks alike --------===//

#include "test/unit/schedule/SymmetricAlgorithms.h"

#include <random>

namespace coil::test {

Instance symmetricReduction(RandomShape shape, const std::vector<SymmetryDigit> &digits,
                            uint64_t seed) {
  shape.chunks = 1;
  Instance one = randomReduction(shape, seed);
  Symmetry symmetry(shape.ranks, digits);
  std::mt19937_64 random(seed);

  Instance all = one;
  all.chunks = shape.ranks;
  all.sources.clear();
  all.statements.clear();
  for (size_t i = 0; i < all.scratch.size(); ++i)
    all.scratch[i] = {one.scratch[i].name, static_cast<int64_t>(i) * shape.ranks, shape.ranks};

  auto moved = [&](Place place, int64_t chunk) {
    place.rank = static_cast<int32_t>(symmetry.shiftRank(place.rank, chunk));
    // Of one chunk, a buffer's first is its only one.
    place.index =
        place.buffer == InstanceBuffer::Scratch ? place.index * shape.ranks + chunk : chunk;
    return place;
  };
  std::vector<size_t> next(static_cast<size_t>(shape.ranks), 0);
  std::vector<int64_t> open;
  for (int64_t chunk = 0; chunk < shape.ranks && !one.statements.empty(); ++chunk)
    open.push_back(chunk);
  while (!open.empty()) {
    size_t pick = random() % open.size();
    int64_t chunk = open[pick];
    size_t &position = next[static_cast<size_t>(chunk)];
    uint32_t block = one.statements[position].exchange;
    do {
      Statement statement = one.statements[position++];
      auto first = static_cast<uint32_t>(all.sources.size());
      for (const Place &source : one.sourcesOf(statement))
        all.sources.push_back(moved(source, chunk));
      statement.firstSource = first;
      statement.destination = moved(statement.destination, chunk);
      if (block)
        statement.exchange = block + static_cast<uint32_t>(chunk) * 1000;
      all.statements.push_back(statement);
    } while (block && position < one.statements.size() &&
             one.statements[position].exchange == block);
    if (position == one.statements.size())
      open.erase(open.begin() + static_cast<ptrdiff_t>(pick));
  }
  return all;
}

} // namespace coil::test
