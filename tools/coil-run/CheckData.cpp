//===- CheckData.cpp - Inputs whose results are known ---------------------===//

#include "tools/coil-run/CheckData.h"

#include "tools/coil-run/Elements.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

namespace coil::run {

namespace {

/// Their product exceeds 2^64, so no count is a multiple of all of them.
constexpr std::array<uint64_t, 5> periods{16381, 16369, 16363, 16361, 16349};

constexpr double largestExactScalar = 4, largestRandomScalar = 16;
/// Ranks whose factor in a product is not just a sign: few enough that the
/// product of 2s, or of 1/2s, and one 1.5 is a normal number of every type.
constexpr uint64_t mostFactors = 6;
constexpr size_t mostReported = 3;

/// The finalizer of splitmix64: a permutation whose output bits all depend on
/// all input bits.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t elementHash(uint64_t salt, uint64_t index) {
  return mix(mix(salt + 1) + index * 0x9e3779b97f4a7c15u);
}
uint64_t ownHash(uint64_t element, uint64_t contributor) {
  return mix(element + (contributor + 1) * 0xd1342543de82ef95u);
}

/// 2^-4 to 2^3, from three bits.
double smallPower(uint64_t bits) {
  static constexpr std::array<double, 8> powers{0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8};
  return powers[bits & 7];
}

void report(Comparison &result, uint64_t index, std::string expected, std::string found) {
  ++result.wrong;
  if (result.first.size() < mostReported)
    result.first.push_back({index, std::move(expected), std::move(found)});
}

double roundToType(DataType type, double value) {
  return decodeFloat(type, encodeFloat(type, value));
}

} // namespace

Status validateScalar(double scalar, DataType type, DataKind kind) {
  double largest = kind == DataKind::Exact ? largestExactScalar : largestRandomScalar;
  bool whole = kind == DataKind::Exact || !isFloat(type);
  bool isUnsigned = !isFloat(type) && !isSignedInteger(type);
  double smallest = isUnsigned ? 0 : -largest;
  // Written so that NaN is refused.
  if (scalar >= smallest && scalar <= largest && (!whole || scalar == std::trunc(scalar)))
    return Status::ok();
  return Status::error(StatusCode::InvalidArgument,
                       "expected a {}number from {} to {} for {} with {} data, found {}",
                       whole ? "whole " : "", smallest, largest, nameOf(type),
                       kind == DataKind::Exact ? "exact" : "random", scalar);
}

CheckData::CheckData(const DataSpec &spec) : spec(spec) {
  assert(spec.ranks >= 1 && spec.root >= 0 && spec.root < spec.ranks);
  assert((spec.collective == Collective::Custom) == (spec.contract != nullptr));
  SegmentCounts segments = segmentCounts(spec.collective, spec.ranks);
  if (spec.contract)
    segments = {spec.contract->inputSegments, spec.contract->outputSegments};
  inputElements = spec.count * static_cast<uint64_t>(segments.input);
  outputElements = spec.count * static_cast<uint64_t>(segments.output);
  period = *std::find_if(periods.begin(), periods.end() - 1,
                         [&](uint64_t prime) { return spec.count % prime != 0; });
  isCombining = spec.contract ? spec.contract->combines() : combines(spec.collective);
  contributorElements = inputElements;
  auto ranks = static_cast<uint64_t>(spec.ranks);
  // Of those that are combined into one element, the most.
  uint64_t together = ranks;
  if (spec.contract) {
    contributorsOfRank = spec.contract->inputSegments;
    contributorElements = spec.count;
    together = 1;
    for (const OwnContract::Promise &promise : spec.contract->promises)
      together = std::max<uint64_t>(together, promise.sourceCount);
  } else {
    for (uint64_t rank = 0; rank < ranks; ++rank)
      everyRank.push_back(rank);
  }
  contributorCount = ranks * contributorsOfRank;
  if (!combinesFloats())
    return;

  const FloatFormat &format = floatFormat(spec.type);
  double largestScalar = 1;
  if (spec.op == ReduceOp::PreMulSum)
    largestScalar = std::max(1.0, std::fabs(spec.scalar.value_or(2)));
  auto budget = static_cast<uint64_t>(format.largestExactInteger() / std::ceil(largestScalar));
  budget = std::clamp<uint64_t>(budget, 1, uint64_t{1} << 50);
  // Where all that come together fit, none needs to be 0.
  active = together <= budget ? contributorCount : budget;
  largestTerm =
      static_cast<int64_t>(std::min(budget / std::min(together, budget), uint64_t{1} << 30));
  double room = format.largestFinite() / (4 * largestScalar * static_cast<double>(together));
  randomScale = room < 1 ? std::ldexp(1.0, std::ilogb(room)) : 1;
}

bool CheckData::hasInput(int rank) const {
  return spec.contract || segmentCounts(spec.collective, spec.ranks, rank == spec.root).input > 0;
}
bool CheckData::hasOutput(int rank) const {
  return spec.contract || segmentCounts(spec.collective, spec.ranks, rank == spec.root).output > 0;
}

bool CheckData::combinesFloats() const { return isCombining && isFloat(spec.type); }

bool CheckData::rounds() const {
  return combinesFloats() && spec.kind == DataKind::Random && spec.op != ReduceOp::Max &&
         spec.op != ReduceOp::Min;
}

/// True for `most` of the contributors, which ones changes with the element.
bool CheckData::isActive(uint64_t contributor, uint64_t element, uint64_t most) const {
  return most >= contributorCount || (contributor + (element >> 8)) % contributorCount < most;
}

double CheckData::exactTerm(uint64_t contributor, uint64_t own, uint64_t element) const {
  if (!isActive(contributor, element, active))
    return 0;
  uint64_t choices = 2 * static_cast<uint64_t>(largestTerm) + 1;
  int64_t term = static_cast<int64_t>((own >> 32) * choices >> 32) - largestTerm;
  return static_cast<double>(term) * smallPower(element);
}

double CheckData::randomTerm(uint64_t own) const {
  double magnitude = 1 + std::ldexp(static_cast<double>(own >> 12), -52);
  magnitude *= randomScale * std::ldexp(1.0, -static_cast<int>(own >> 1 & 3));
  double value = own & 1 ? -magnitude : magnitude;
  return roundToType(spec.type, value);
}

double CheckData::factor(uint64_t contributor, uint64_t own, uint64_t element) const {
  double value = own & 1 ? -1 : 1;
  bool isFactor = isActive(contributor, element, mostFactors);
  if (spec.kind == DataKind::Random) {
    if (isFactor)
      value *= 0.75 * (1 + std::ldexp(static_cast<double>(own >> 12), -52));
    return roundToType(spec.type, value);
  }
  if (isFactor)
    value *= std::ldexp(1.0, static_cast<int>((own >> 32) * 3 >> 32) - 1);
  return isActive(contributor, element, 1) ? 1.5 * value : value;
}

/// The input's value where floats are combined.
double CheckData::inputValue(uint64_t contributor, uint64_t index) const {
  uint64_t element = elementHash(spec.salt, index), own = ownHash(element, contributor);
  switch (spec.op) {
  case ReduceOp::Sum:
  case ReduceOp::Avg:
  case ReduceOp::PreMulSum:
    return spec.kind == DataKind::Exact ? exactTerm(contributor, own, element) : randomTerm(own);
  case ReduceOp::Prod:
    return factor(contributor, own, element);
  case ReduceOp::Max:
  case ReduceOp::Min:
    break;
  }
  // Odd, so never a zero, of which there are two.
  uint64_t bits = (uint64_t{1} << (floatFormat(spec.type).mantissaBits + 1)) - 1;
  double magnitude = static_cast<double>((own >> 8 & bits) | 1) * smallPower(own);
  return own & 8 ? -magnitude : magnitude;
}

uint64_t CheckData::inputCode(uint64_t contributor, uint64_t index) const {
  if (combinesFloats())
    return encodeFloat(spec.type, inputValue(contributor, index));
  uint64_t bits = ownHash(elementHash(spec.salt, index), contributor);
  if (isCombining && spec.op == ReduceOp::Prod)
    bits |= 1; // even factors would soon make every product 0
  return truncateInteger(spec.type, bits);
}

uint64_t CheckData::scalarCode(int rank) const {
  double scalar = spec.scalar.value_or(rank % 2 == 0 ? 2 : 1);
  if (isFloat(spec.type))
    return encodeFloat(spec.type, scalar);
  return truncateInteger(spec.type, static_cast<uint64_t>(static_cast<int64_t>(scalar)));
}

uint64_t CheckData::expectedFloat(const Contributors &combined, uint64_t index) const {
  auto operand = [&](uint64_t each) {
    double value = inputValue(each, index);
    return spec.op == ReduceOp::PreMulSum
               ? value * decodeFloat(spec.type, scalarCode(static_cast<int>(each)))
               : value;
  };
  double result = operand(combined[0]);
  for (size_t i = 1; i < combined.size(); ++i) {
    double next = operand(combined[i]);
    switch (spec.op) {
    case ReduceOp::Sum:
    case ReduceOp::Avg:
    case ReduceOp::PreMulSum:
      result += next;
      break;
    case ReduceOp::Prod:
      result *= next;
      break;
    case ReduceOp::Max:
      result = std::max(result, next);
      break;
    case ReduceOp::Min:
      result = std::min(result, next);
      break;
    }
  }
  if (spec.op != ReduceOp::Avg)
    return encodeFloat(spec.type, result);
  if (spec.type == DataType::F64)
    return encodeFloat(spec.type, result / spec.ranks);
  // All other types divide in f32 and round the quotient once more.
  return encodeFloat(spec.type, static_cast<float>(result) / static_cast<float>(spec.ranks));
}

uint64_t CheckData::expectedInteger(const Contributors &combined, uint64_t index) const {
  auto operand = [&](uint64_t each) {
    uint64_t value = extendInteger(spec.type, inputCode(each, index));
    return spec.op == ReduceOp::PreMulSum ? value * scalarCode(static_cast<int>(each)) : value;
  };
  bool isSigned = isSignedInteger(spec.type);
  auto less = [&](uint64_t a, uint64_t b) {
    return isSigned ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  };
  uint64_t result = operand(combined[0]);
  for (size_t i = 1; i < combined.size(); ++i) {
    uint64_t next = operand(combined[i]);
    switch (spec.op) {
    case ReduceOp::Sum:
    case ReduceOp::Avg:
    case ReduceOp::PreMulSum:
      result += next;
      break;
    case ReduceOp::Prod:
      result *= next;
      break;
    case ReduceOp::Max:
      result = less(result, next) ? next : result;
      break;
    case ReduceOp::Min:
      result = less(next, result) ? next : result;
      break;
    }
  }
  result = truncateInteger(spec.type, result);
  if (spec.op != ReduceOp::Avg)
    return result;
  uint64_t wrapped = extendInteger(spec.type, result);
  uint64_t quotient =
      isSigned ? static_cast<uint64_t>(static_cast<int64_t>(wrapped) / int64_t{spec.ranks})
               : wrapped / static_cast<uint64_t>(spec.ranks);
  return truncateInteger(spec.type, quotient);
}

CheckData::Bounded CheckData::expectedRounded(const Contributors &combined, uint64_t index) const {
  const FloatFormat &format = floatFormat(spec.type);
  bool product = spec.op == ReduceOp::Prod;
  // Wider than any type, so that this reference adds next to nothing to the error.
  long double value = product ? 1 : 0, magnitude = value;
  for (uint64_t each : combined) {
    long double operand = inputValue(each, index);
    if (spec.op == ReduceOp::PreMulSum)
      operand *= decodeFloat(spec.type, scalarCode(static_cast<int>(each)));
    value = product ? value * operand : value + operand;
    magnitude = product ? magnitude * std::fabs(operand) : magnitude + std::fabs(operand);
  }
  if (spec.op == ReduceOp::Avg) {
    value /= spec.ranks;
    magnitude /= spec.ranks;
  }
  double unit = format.unitRoundoff();
  if (spec.type != DataType::F64 && spec.type != DataType::F32)
    unit += floatFormat(DataType::F32).unitRoundoff();
  int roundings = static_cast<int>(combined.size()) +
                  (spec.op == ReduceOp::Avg || spec.op == ReduceOp::PreMulSum);
  double relative = std::expm1(roundings * std::log1p(unit));
  return {static_cast<double>(value),
          static_cast<double>(magnitude) * relative + roundings * format.smallestSubnormal()};
}

CheckData::Contributors CheckData::contributorsOf(const OwnContract::Promise &promise) const {
  Contributors result;
  for (const OwnContract::Source &source : spec.contract->sourcesOf(promise))
    result.push_back(contributor(source.rank, source.segment));
  return result;
}

std::vector<std::byte> CheckData::inputTile(uint64_t contributor) const {
  size_t size = sizeOf(spec.type);
  std::vector<std::byte> tile(tileElements() * size);
  for (uint64_t i = 0; i < tileElements(); ++i)
    storeElement(spec.type, inputCode(contributor, i), tile.data() + i * size);
  return tile;
}

std::vector<std::byte> CheckData::expectedTile(const Contributors &combined) const {
  size_t size = sizeOf(spec.type);
  std::vector<std::byte> tile(tileElements() * size);
  for (uint64_t i = 0; i < tileElements(); ++i)
    storeElement(spec.type,
                 combinesFloats() ? expectedFloat(combined, i) : expectedInteger(combined, i),
                 tile.data() + i * size);
  return tile;
}

void CheckData::fillInput(int rank, std::byte *input) const {
  size_t size = sizeOf(spec.type);
  for (const Repetition &part : expectedInput(rank, 0, inputCount(rank))) {
    std::byte *begin = input + part.begin * size;
    uint64_t bytes = part.count * size;
    for (uint64_t done = 0; done < bytes; done += part.tile.size())
      std::memcpy(begin + done, part.tile.data(),
                  std::min<uint64_t>(part.tile.size(), bytes - done));
  }
}

void CheckData::compare(const std::byte *buffer, const Repetition &expected,
                        Comparison &result) const {
  size_t size = sizeOf(spec.type);
  uint64_t tileElements = expected.tile.size() / size;
  for (uint64_t done = 0; done < expected.count;) {
    uint64_t position = (expected.firstElement + done) % tileElements;
    uint64_t piece = std::min(tileElements - position, expected.count - done);
    const std::byte *found = buffer + (expected.begin + done) * size;
    const std::byte *wanted = expected.tile.data() + position * size;
    if (std::memcmp(found, wanted, piece * size) != 0)
      for (uint64_t i = 0; i < piece; ++i) {
        uint64_t expectedCode = loadElement(spec.type, wanted + i * size);
        uint64_t foundCode = loadElement(spec.type, found + i * size);
        if (expectedCode == foundCode)
          continue;
        if (result.first.size() < mostReported)
          report(result, expected.begin + done + i, describeElement(spec.type, expectedCode),
                 describeElement(spec.type, foundCode));
        else
          ++result.wrong;
      }
    done += piece;
  }
}

std::vector<Repetition> CheckData::expectedInput(int rank, uint64_t begin, uint64_t end) const {
  std::vector<Repetition> parts;
  while (begin < end) {
    uint64_t part = begin / contributorElements, first = begin % contributorElements;
    uint64_t count = std::min(end - begin, contributorElements - first);
    parts.push_back(
        {begin, count, first, inputTile(contributor(static_cast<uint64_t>(rank), part))});
    begin += count;
  }
  return parts;
}

int CheckData::outputParts(int rank) const {
  if (!hasOutput(rank))
    return 0;
  switch (spec.collective) {
  case Collective::AllGather:
  case Collective::Gather:
  case Collective::AllToAll:
    return spec.ranks;
  case Collective::Custom:
    return static_cast<int>(spec.contract->outputSegments);
  default:
    return 1;
  }
}

Repetition CheckData::expectedOutput(int rank, int part) const {
  uint64_t mine = static_cast<uint64_t>(rank) * spec.count;
  uint64_t begin = static_cast<uint64_t>(part) * spec.count;
  switch (spec.collective) {
  case Collective::Broadcast:
    return {0, outputElements, 0, inputTile(static_cast<uint64_t>(spec.root))};
  case Collective::Scatter:
    return {0, outputElements, mine, inputTile(static_cast<uint64_t>(spec.root))};
  case Collective::SendRecv:
    return {0, outputElements, 0,
            inputTile(static_cast<uint64_t>((rank + spec.ranks - 1) % spec.ranks))};
  case Collective::AllGather:
  case Collective::Gather:
    return {begin, spec.count, 0, inputTile(static_cast<uint64_t>(part))};
  case Collective::AllToAll:
    return {begin, spec.count, mine, inputTile(static_cast<uint64_t>(part))};
  case Collective::Custom: {
    const OwnContract::Promise *promise =
        spec.contract->find(static_cast<uint32_t>(rank), static_cast<uint32_t>(part));
    if (!promise)
      return {begin, spec.count, 0, std::vector(sizeOf(spec.type), unsetByte)};
    Contributors combined = contributorsOf(*promise);
    return {begin, spec.count, 0,
            combined.size() == 1 ? inputTile(combined[0]) : expectedTile(combined)};
  }
  default:
    return {0, outputElements, firstOutput(rank), expectedTile(everyRank)};
  }
}

Comparison CheckData::checkInput(int rank, const std::byte *input, uint64_t begin,
                                 uint64_t end) const {
  Comparison result;
  for (const Repetition &part : expectedInput(rank, begin, end))
    compare(input, part, result);
  return result;
}

void CheckData::checkRounded(const std::byte *output, const Repetition &part,
                             const Contributors &combined, Comparison &result) const {
  std::vector<Bounded> tile;
  for (uint64_t i = 0; i < tileElements(); ++i)
    tile.push_back(expectedRounded(combined, i));
  for (uint64_t i = 0; i < part.count; ++i) {
    const Bounded &expected = tile[(part.firstElement + i) % period];
    uint64_t index = part.begin + i;
    uint64_t code = loadElement(spec.type, output + index * sizeOf(spec.type));
    // Written so that NaN is wrong.
    if (std::fabs(decodeFloat(spec.type, code) - expected.value) <= expected.bound)
      continue;
    if (result.first.size() < mostReported)
      report(result, index, fmt::format("{:.17g} +- {:.3g}", expected.value, expected.bound),
             describeElement(spec.type, code));
    else
      ++result.wrong;
  }
}

uint64_t CheckData::firstOutput(int rank) const {
  return spec.collective == Collective::ReduceScatter ? static_cast<uint64_t>(rank) * spec.count
                                                      : 0;
}

Comparison CheckData::checkOutput(int rank, const std::byte *output) const {
  if (!hasOutput(rank))
    return {};
  Comparison result;
  if (rounds() && !spec.contract) {
    checkRounded(output, {0, outputElements, firstOutput(rank), {}}, everyRank, result);
    return result;
  }
  for (int part = 0; part < outputParts(rank); ++part) {
    const OwnContract::Promise *promise =
        spec.contract
            ? spec.contract->find(static_cast<uint32_t>(rank), static_cast<uint32_t>(part))
            : nullptr;
    // What is copied, or left alone, does not round.
    if (rounds() && promise && promise->sourceCount > 1)
      checkRounded(output, {static_cast<uint64_t>(part) * spec.count, spec.count, 0, {}},
                   contributorsOf(*promise), result);
    else
      compare(output, expectedOutput(rank, part), result);
  }
  return result;
}

} // namespace coil::run
