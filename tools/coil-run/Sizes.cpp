//===- Sizes.cpp - Message sizes as users write them ----------------------===//

#include "tools/coil-run/Sizes.h"

#include <algorithm>
#include <charconv>

namespace coil::run {

namespace {

/// Empty parts stay.
std::vector<std::string_view> splitAt(char separator, std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

/// Bits to shift by for a suffix, or -1.
int suffixShift(std::string_view suffix) {
  if (suffix.empty() || suffix == "b" || suffix == "B")
    return 0;
  static constexpr std::string_view letters = "kmgt";
  size_t power = letters.find(static_cast<char>(suffix[0] | 0x20));
  std::string_view rest = suffix.substr(1);
  bool bytes = rest.empty() || rest == "B" || rest == "b" || rest == "iB" || rest == "ib";
  return power == std::string_view::npos || !bytes ? -1 : 10 * (static_cast<int>(power) + 1);
}

Status tooMany(uint64_t sizes) {
  return Status::error(StatusCode::InvalidArgument, "expected at most {} sizes, found {}",
                       mostSizes, sizes);
}

Result<std::vector<uint64_t>> byFactor(uint64_t from, uint64_t to, uint64_t factor) {
  if (factor < 2)
    return Status::error(StatusCode::InvalidArgument, "expected a factor of at least 2, found {}",
                         factor);
  if (from == 0 && to > 0)
    return Status::error(StatusCode::InvalidArgument,
                         "a range that grows by a factor cannot begin at 0; "
                         "expected FROM:TO:+STEP, or FROM above 0");
  std::vector<uint64_t> sizes{from};
  while (sizes.back() <= to / factor && sizes.back() > 0)
    sizes.push_back(sizes.back() * factor);
  return sizes;
}

Result<std::vector<uint64_t>> byStep(uint64_t from, uint64_t to, uint64_t step) {
  if (step == 0)
    return Status::error(StatusCode::InvalidArgument, "expected a step above 0, found 0");
  if ((to - from) / step >= mostSizes)
    return tooMany((to - from) / step + 1);
  std::vector<uint64_t> sizes;
  for (uint64_t size = from; size <= to; size += step)
    sizes.push_back(size);
  return sizes;
}

} // namespace

Result<uint64_t> parseSize(std::string_view text) {
  uint64_t number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  int shift = failure == std::errc::invalid_argument
                  ? -1
                  : suffixShift(text.substr(static_cast<size_t>(end - text.data())));
  if (shift < 0)
    return Status::error(StatusCode::InvalidArgument,
                         "expected a size such as 4096, 64K or 1G, found '{}'", text);
  if (failure == std::errc::result_out_of_range || number > largestSize >> shift)
    return Status::error(StatusCode::InvalidArgument, "expected at most {} (1024T), found '{}'",
                         largestSize, text);
  return number << shift;
}

namespace {

Result<std::vector<uint64_t>> parseRange(std::string_view text) {
  std::vector<std::string_view> parts = splitAt(':', text);
  if (parts.size() > 3)
    return Status::error(StatusCode::InvalidArgument,
                         "expected SIZE, FROM:TO, FROM:TO:xFACTOR or FROM:TO:+STEP, found {} parts",
                         parts.size());
  COIL_ASSIGN_OR_RETURN(uint64_t from, parseSize(parts[0]));
  if (parts.size() == 1)
    return std::vector<uint64_t>{from};
  COIL_ASSIGN_OR_RETURN(uint64_t to, parseSize(parts[1]));
  if (from > to)
    return Status::error(StatusCode::InvalidArgument, "expected FROM <= TO, found {} > {}", from,
                         to);
  if (parts.size() == 2)
    return byFactor(from, to, 2);
  std::string_view change = parts[2];
  if (change.empty() || (change[0] != 'x' && change[0] != '+'))
    return Status::error(StatusCode::InvalidArgument, "expected xFACTOR or +STEP, found '{}'",
                         change);
  COIL_ASSIGN_OR_RETURN(uint64_t amount, parseSize(change.substr(1)));
  return change[0] == 'x' ? byFactor(from, to, amount) : byStep(from, to, amount);
}

} // namespace

Result<std::vector<uint64_t>> parseSizes(std::string_view text) {
  std::vector<uint64_t> sizes;
  for (std::string_view part : splitAt(',', text)) {
    COIL_ASSIGN_OR_RETURN(std::vector<uint64_t> range, parseRange(part));
    sizes.insert(sizes.end(), range.begin(), range.end());
  }
  if (sizes.size() > mostSizes)
    return tooMany(sizes.size());
  return sizes;
}

static uint64_t mostSegments(SegmentCounts segments) {
  return static_cast<uint64_t>(std::max(segments.input, segments.output));
}

uint64_t countForBytes(SegmentCounts segments, DataType type, uint64_t bytes) {
  return bytes / sizeOf(type) / mostSegments(segments);
}

uint64_t bytesForCount(SegmentCounts segments, DataType type, uint64_t count) {
  return count * mostSegments(segments) * sizeOf(type);
}

} // namespace coil::run
