//===- Collectives.cpp - What each collective promises --------------------===//

#include "compiler/semantics/Collectives.h"

#include <algorithm>

namespace coil {

bool CollectiveShape::hasData() const {
  switch (collective) {
  case Collective::AllReduce:
  case Collective::AllGather:
  case Collective::ReduceScatter:
  case Collective::Broadcast:
  case Collective::Reduce:
  case Collective::Gather:
  case Collective::Scatter:
  case Collective::Barrier:
    return true;
  default:
    return false;
  }
}

int64_t CollectiveShape::dataChunks() const {
  return hasData() ? std::max(inputChunks(), outputChunks()) : outputChunks();
}

std::optional<int64_t> CollectiveShape::dataToInput(int64_t rank, int64_t index) const {
  switch (collective) {
  case Collective::AllReduce:
  case Collective::ReduceScatter:
  case Collective::Reduce:
  case Collective::Barrier:
    return index;
  case Collective::AllGather:
  case Collective::Gather:
    if (index / chunks == rank)
      return index % chunks;
    return std::nullopt;
  case Collective::Broadcast:
  case Collective::Scatter:
    if (rank == root)
      return index;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> CollectiveShape::dataToOutput(int64_t rank, int64_t index) const {
  switch (collective) {
  case Collective::ReduceScatter:
  case Collective::Scatter:
    if (index / chunks == rank)
      return index % chunks;
    return std::nullopt;
  case Collective::Reduce:
  case Collective::Gather:
    if (rank == root)
      return index;
    return std::nullopt;
  default:
    return index;
  }
}

int64_t CollectiveShape::outputToData(int64_t rank, int64_t index) const {
  bool isScattered = collective == Collective::ReduceScatter || collective == Collective::Scatter;
  return isScattered ? rank * chunks + index : index;
}

std::optional<int64_t> CollectiveShape::inputToOutputInPlace(int64_t rank, int64_t index) const {
  if (!hasData())
    return std::nullopt;
  bool isGathered = collective == Collective::AllGather || collective == Collective::Gather;
  int64_t data = isGathered ? rank * chunks + index : index;
  if (dataToInput(rank, data) != index)
    return std::nullopt;
  return dataToOutput(rank, data);
}

Contributions CollectiveShape::shiftContributions(const Symmetry &symmetry,
                                                  const Contributions &contributions,
                                                  int64_t shift) const {
  std::vector<Contribution> shifted = contributions.list();
  for (Contribution &contribution : shifted) {
    contribution.rank = static_cast<int32_t>(symmetry.shiftRank(contribution.rank, shift));
    contribution.chunk = shiftIndex(symmetry, contribution.chunk, inputChunks(), shift);
  }
  return Contributions(std::move(shifted));
}

/// Requires a contract.
static const OwnContract::Promise *promiseOf(const CollectiveShape &shape, int64_t rank,
                                             int64_t index) {
  return shape.contract->find(static_cast<uint32_t>(rank),
                              static_cast<uint32_t>(index / shape.chunks));
}

std::optional<Contributions> CollectiveShape::promise(int64_t rank, int64_t index) const {
  auto sum = [&](int64_t chunk) {
    Contributions result;
    for (int64_t source = 0; source < ranks; ++source)
      result.add(Contributions::of(static_cast<int32_t>(source), chunk));
    return result;
  };
  switch (collective) {
  case Collective::AllReduce:
  case Collective::Barrier:
    return sum(index);
  case Collective::ReduceScatter:
    return sum(rank * chunks + index);
  case Collective::Reduce:
    if (rank != root)
      return std::nullopt;
    return sum(index);
  case Collective::Gather:
    if (rank != root)
      return std::nullopt;
    [[fallthrough]];
  case Collective::AllGather:
    return Contributions::of(static_cast<int32_t>(index / chunks), index % chunks);
  case Collective::Broadcast:
    return Contributions::of(static_cast<int32_t>(root), index);
  case Collective::Scatter:
    return Contributions::of(static_cast<int32_t>(root), rank * chunks + index);
  case Collective::AllToAll:
    return Contributions::of(static_cast<int32_t>(index / chunks), rank * chunks + index % chunks);
  case Collective::SendRecv:
    return Contributions::of(static_cast<int32_t>((rank + ranks - 1) % ranks), index);
  case Collective::Custom: {
    const OwnContract::Promise *promised = promiseOf(*this, rank, index);
    if (!promised)
      return std::nullopt;
    Contributions result;
    for (const OwnContract::Source &source : contract->sourcesOf(*promised))
      result.add(Contributions::of(static_cast<int32_t>(source.rank),
                                   source.segment * chunks + index % chunks));
    return result;
  }
  default:
    return std::nullopt;
  }
}

bool CollectiveShape::mayWrite(int64_t rank, int64_t index) const {
  return !contract || promiseOf(*this, rank, index);
}

} // namespace coil
