//===- ReduceBySymmetry.cpp - An instance for one rank of a kind ----------===//
//
// A statement is known by the cell that it writes and by how often that cell was
// written before. A shift is a symmetry if each statement's image, the one of the same
// number at the image of its cell, is of the same line, reads the images of its
// operands, and reads each after as many writes. The data flow of both is then the
// same, and so is what the order of reads and writes demands. Shifts of different
// digits commute, so that one needs to be tried on the statements of representatives
// of the digits before it only.
//
//===----------------------------------------------------------------------===//

#include "compiler/semantics/ReduceBySymmetry.h"

#include "compiler/semantics/Cells.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace coil {

namespace {

constexpr uint32_t none = UINT32_MAX;

/// Statements [begin, end) that take effect together: an exchange block, or one.
size_t endOfBlock(const Instance &instance, size_t begin) {
  size_t end = begin + 1;
  if (uint32_t exchange = instance.statements[begin].exchange)
    while (end < instance.statements.size() && instance.statements[end].exchange == exchange)
      ++end;
  return end;
}

/// A digit, and for each scratch buffer the weight of its chunks that move along.
struct Candidate {
  SymmetryDigit digit;
  std::vector<int64_t> scratchWeights;
};

/// What adding one to a candidate's digit does to ranks and chunks.
struct Images {
  std::vector<int32_t> rank;
  /// Of a chunk of a segment, and of a scratch chunk.
  std::vector<int64_t> chunk, scratch;
};

/// The writes of each cell and what each statement reads.
class DataFlow {
public:
  explicit DataFlow(const Instance &instance) : cells(instance) {
    size_t statements = instance.statements.size();
    firstOf.assign(cells.size() + 1, 0);
    ordinals.resize(statements);
    levels.resize(statements);
    versions.resize(instance.sources.size());
    // Per cell: writes so far, and the levels of the last write and of reads since.
    std::vector<uint32_t> written(cells.size(), 0), writeLevel(cells.size(), 0);
    std::vector<uint32_t> readLevel(cells.size(), 0);
    for (size_t begin = 0; begin < statements;) {
      size_t end = endOfBlock(instance, begin);
      uint32_t level = 1;
      for (size_t i = begin; i < end; ++i) {
        const Statement &statement = instance.statements[i];
        size_t target = cells.of(statement.destination);
        level = std::max({level, writeLevel[target] + 1, readLevel[target] + 1});
        for (uint32_t s = 0; s < statement.sourceCount; ++s) {
          const Place &source = instance.sources[statement.firstSource + s];
          if (source.buffer == InstanceBuffer::Input)
            continue;
          size_t cell = cells.of(source);
          versions[statement.firstSource + s] = written[cell];
          level = std::max(level, writeLevel[cell] + 1);
        }
      }
      for (size_t i = begin; i < end; ++i) {
        const Statement &statement = instance.statements[i];
        for (const Place &source : instance.sourcesOf(statement))
          if (source.buffer != InstanceBuffer::Input) {
            uint32_t &read = readLevel[cells.of(source)];
            read = std::max(read, level);
          }
        size_t target = cells.of(statement.destination);
        ordinals[i] = written[target]++;
        writeLevel[target] = level;
        levels[i] = level;
      }
      begin = end;
    }
    for (size_t cell = 0; cell < cells.size(); ++cell)
      firstOf[cell + 1] = firstOf[cell] + written[cell];
    writers.resize(statements);
    for (size_t i = 0; i < statements; ++i)
      writers[firstOf[cells.of(instance.statements[i].destination)] + ordinals[i]] =
          static_cast<uint32_t>(i);
  }

  /// The `ordinal`-th write of a cell.
  uint32_t writer(size_t cell, uint32_t ordinal) const {
    size_t at = firstOf[cell] + ordinal;
    return at < firstOf[cell + 1] ? writers[at] : none;
  }
  uint32_t ordinal(size_t statement) const { return ordinals[statement]; }
  /// How often a source had been written when it was read; 0 for inputs.
  uint32_t version(size_t source) const { return versions[source]; }
  /// The length of the longest chain of statements that must come one after another.
  uint32_t level(size_t statement) const { return levels[statement]; }

  const Cells cells;

private:
  std::vector<size_t> firstOf;
  std::vector<uint32_t> ordinals, levels, versions, writers;
};

class Reducer {
public:
  explicit Reducer(Instance &instance) : instance(instance), flow(instance) {}

  /// The digits of all shifts found.
  bool find() {
    for (int64_t weight = 1; weight < instance.ranks;) {
      int64_t radix = findRadix(weight);
      weight *= radix ? radix : smallestFactor(instance.ranks / weight);
    }
    return !accepted.empty();
  }

  void reduce() {
    std::vector<SymmetryDigit> digits;
    for (const Candidate &candidate : accepted)
      digits.push_back(candidate.digit);
    Symmetry symmetry(instance.ranks, digits);

    // Blocks that are images of each other become one.
    std::vector<uint32_t> kept;
    for (uint32_t i = 0; i < instance.statements.size(); ++i)
      if (symmetry.shiftOf(instance.statements[i].destination.rank) == 0)
        kept.push_back(i);
    std::vector<uint32_t> firstOfBlock(exchangeImages().size(), none);
    auto blockOf = [&](uint32_t i) -> uint32_t {
      uint32_t exchange = instance.statements[i].exchange;
      return exchange ? firstOfBlock[rootOf(exchange)] : i;
    };
    for (uint32_t i : kept)
      if (uint32_t exchange = instance.statements[i].exchange) {
        uint32_t &first = firstOfBlock[rootOf(exchange)];
        first = std::min(first, i);
      }
    std::sort(kept.begin(), kept.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(flow.level(a), blockOf(a), a) < std::tuple(flow.level(b), blockOf(b), b);
    });

    std::vector<Statement> statements;
    std::vector<Place> sources;
    uint32_t exchange = 0, lastBlock = none;
    for (uint32_t i : kept) {
      Statement statement = instance.statements[i];
      if (statement.exchange) {
        uint32_t block = blockOf(i);
        exchange += block != lastBlock;
        lastBlock = block;
        statement.exchange = exchange;
      }
      auto first = static_cast<uint32_t>(sources.size());
      for (Place source : instance.sourcesOf(statement)) {
        if (source.buffer == InstanceBuffer::Scratch)
          source.index = scratchOnRepresentative(source.index,
                                                 symmetry.inverse(symmetry.shiftOf(source.rank)));
        sources.push_back(source);
      }
      statement.firstSource = first;
      statements.push_back(statement);
    }
    instance.statements = std::move(statements);
    instance.sources = std::move(sources);
    instance.symmetry = std::move(symmetry);
  }

private:
  /// So many ways for chunks to move are tried with a digit.
  static constexpr size_t maxCandidates = 256;

  static int64_t smallestFactor(int64_t number) {
    for (int64_t factor = 2; factor * factor <= number; ++factor)
      if (number % factor == 0)
        return factor;
    return number;
  }

  /// The radix of an accepted digit of the weight, or 0.
  int64_t findRadix(int64_t weight) {
    int64_t most = instance.ranks / weight;
    for (int64_t radix = most; radix > 1; --radix) {
      if (most % radix)
        continue;
      for (Candidate &candidate : candidates(weight, radix))
        if (isSymmetry(candidate)) {
          accepted.push_back(std::move(candidate));
          return radix;
        }
    }
    return 0;
  }

  /// Weights with which a digit of the radix fits in numbers below `count`; first the
  /// digit's own.
  static std::vector<int64_t> weightsFor(int64_t count, const SymmetryDigit &digit) {
    std::vector<int64_t> weights;
    if (count % digit.radix == 0) {
      int64_t most = count / digit.radix;
      for (int64_t weight = 1; weight * weight <= most; ++weight)
        if (most % weight == 0) {
          weights.push_back(weight);
          if (weight != most / weight)
            weights.push_back(most / weight);
        }
    }
    weights.push_back(0);
    auto own = std::find(weights.begin(), weights.end(), digit.weight);
    if (own != weights.end())
      std::rotate(weights.begin(), own, own + 1);
    return weights;
  }

  /// True if chunks may move with both digits, in any order.
  static bool commute(int64_t weightA, int64_t radixA, int64_t weightB, int64_t radixB) {
    return weightA == 0 || weightB == 0 || weightA % (weightB * radixB) == 0 ||
           weightB % (weightA * radixA) == 0;
  }

  std::vector<Candidate> candidates(int64_t weight, int64_t radix) const {
    SymmetryDigit digit{weight, radix, 0};
    std::vector<Candidate> result = {{digit, {}}};
    auto extend = [&](int64_t count, auto set, auto acceptedWeight) {
      std::vector<Candidate> extended;
      for (const Candidate &candidate : result)
        for (int64_t option : weightsFor(count, digit)) {
          bool fits = std::ranges::all_of(accepted, [&](const Candidate &other) {
            return commute(option, radix, acceptedWeight(other), other.digit.radix);
          });
          if (fits && extended.size() < maxCandidates) {
            extended.push_back(candidate);
            set(extended.back(), option);
          }
        }
      result = std::move(extended);
    };
    extend(
        instance.chunks, [](Candidate &c, int64_t weight) { c.digit.chunkWeight = weight; },
        [](const Candidate &c) { return c.digit.chunkWeight; });
    for (size_t buffer = 0; buffer < instance.scratch.size(); ++buffer)
      extend(
          instance.scratch[buffer].count,
          [](Candidate &c, int64_t weight) { c.scratchWeights.push_back(weight); },
          [&](const Candidate &c) { return c.scratchWeights[buffer]; });
    return result;
  }

  Images imagesOf(const Candidate &candidate) const {
    const SymmetryDigit &digit = candidate.digit;
    Images images;
    for (int64_t rank = 0; rank < instance.ranks; ++rank)
      images.rank.push_back(static_cast<int32_t>(digit.add(rank, 1, digit.weight)));
    for (int64_t chunk = 0; chunk < instance.chunks; ++chunk)
      images.chunk.push_back(digit.chunkWeight ? digit.add(chunk, 1, digit.chunkWeight) : chunk);
    for (size_t buffer = 0; buffer < instance.scratch.size(); ++buffer) {
      int64_t weight = candidate.scratchWeights[buffer];
      for (int64_t i = 0; i < instance.scratch[buffer].count; ++i)
        images.scratch.push_back(instance.scratch[buffer].first +
                                 (weight ? digit.add(i, 1, weight) : i));
    }
    return images;
  }

  bool isSegmented(InstanceBuffer buffer) const {
    return flow.cells.chunksOf(buffer) > instance.chunks;
  }

  Place imageOf(const Images &images, const Place &place) const {
    Place image = place;
    image.rank = images.rank[static_cast<size_t>(place.rank)];
    if (place.buffer == InstanceBuffer::Scratch) {
      image.index = images.scratch[static_cast<size_t>(place.index)];
    } else {
      int64_t segment = place.index / instance.chunks;
      if (isSegmented(place.buffer))
        segment = images.rank[static_cast<size_t>(segment)];
      image.index = segment * instance.chunks +
                    images.chunk[static_cast<size_t>(place.index % instance.chunks)];
    }
    return image;
  }

  bool isRepresentative(int64_t rank) const {
    return std::ranges::all_of(accepted, [&](const Candidate &candidate) {
      return rank / candidate.digit.weight % candidate.digit.radix == 0;
    });
  }

  bool isSymmetry(const Candidate &candidate) {
    Images images = imagesOf(candidate);
    bool hasExchanges = exchangeImages().size() > 1;
    // What an exchange block goes over into.
    std::vector<uint32_t> blockImage(exchangeImages().size(), none);
    std::vector<uint32_t> blockOrigin = blockImage;
    for (uint32_t i = 0; i < instance.statements.size(); ++i) {
      const Statement &statement = instance.statements[i];
      if (!hasExchanges && !isRepresentative(statement.destination.rank))
        continue;
      uint32_t other =
          flow.writer(flow.cells.of(imageOf(images, statement.destination)), flow.ordinal(i));
      if (other == none || !isImage(images, statement, instance.statements[other]))
        return false;
      uint32_t block = statement.exchange, otherBlock = instance.statements[other].exchange;
      if ((block == 0) != (otherBlock == 0))
        return false;
      if (block == 0)
        continue;
      if (blockImage[block] == none && blockOrigin[otherBlock] == none) {
        blockImage[block] = otherBlock;
        blockOrigin[otherBlock] = block;
      } else if (blockImage[block] != otherBlock) {
        return false;
      }
    }
    for (uint32_t block = 1; block < blockImage.size(); ++block)
      if (blockImage[block] != none)
        roots[rootOf(block)] = rootOf(blockImage[block]);
    return true;
  }

  bool isImage(const Images &images, const Statement &statement, const Statement &other) const {
    if (other.kind != statement.kind || other.location != statement.location ||
        other.sourceCount != statement.sourceCount || other.worker != statement.worker)
      return false;
    for (uint32_t s = 0; s < statement.sourceCount; ++s) {
      size_t mine = statement.firstSource + s, theirs = other.firstSource + s;
      if (imageOf(images, instance.sources[mine]) != instance.sources[theirs] ||
          flow.version(mine) != flow.version(theirs))
        return false;
    }
    return true;
  }

  /// Exchange blocks as a forest in which those that are images of each other have one
  /// root; block 0 is not used.
  std::vector<uint32_t> &exchangeImages() {
    if (roots.empty()) {
      uint32_t last = 0;
      for (const Statement &statement : instance.statements)
        last = std::max(last, statement.exchange);
      roots.resize(size_t(last) + 1);
      std::iota(roots.begin(), roots.end(), 0u);
    }
    return roots;
  }
  uint32_t rootOf(uint32_t block) {
    while (roots[block] != block)
      block = roots[block] = roots[roots[block]];
    return block;
  }

  /// The scratch chunk that `index` is the image of; in a reduced instance all images
  /// have one number.
  int64_t scratchOnRepresentative(int64_t index, int64_t shift) const {
    size_t buffer = 0;
    while (index >= instance.scratch[buffer].first + instance.scratch[buffer].count)
      ++buffer;
    int64_t first = instance.scratch[buffer].first;
    int64_t chunk = index - first;
    for (const Candidate &candidate : accepted) {
      int64_t amount = shift % candidate.digit.radix;
      shift /= candidate.digit.radix;
      if (int64_t weight = candidate.scratchWeights[buffer])
        chunk = candidate.digit.add(chunk, amount, weight);
    }
    return first + chunk;
  }

  Instance &instance;
  DataFlow flow;
  std::vector<Candidate> accepted;
  std::vector<uint32_t> roots;
};

/// True if all places exist and every statement writes one that it may.
bool isWellFormed(const Instance &instance) {
  Cells cells(instance);
  auto exists = [&](const Place &place) {
    return (place.buffer != InstanceBuffer::Data || cells.collective().hasData()) &&
           place.index >= 0 && place.index < cells.chunksOf(place.buffer);
  };
  return std::ranges::all_of(instance.sources, exists) &&
         std::ranges::all_of(instance.statements, [&](const Statement &statement) {
           return exists(statement.destination) &&
                  statement.destination.buffer != InstanceBuffer::Input;
         });
}

} // namespace

Instance reduceBySymmetry(Instance instance) {
  if (!treatsRanksAlike(instance.collective) || instance.statements.empty() ||
      instance.statements.size() >= none || !isWellFormed(instance))
    return instance;
  Reducer reducer(instance);
  if (reducer.find())
    reducer.reduce();
  return instance;
}

} // namespace coil
