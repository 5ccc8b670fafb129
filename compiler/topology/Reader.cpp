//===- Reader.cpp - What all readers of topologies share ------------------===//

#include "compiler/topology/Reader.h"

#include "compiler/topology/Bandwidth.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace coil::topology {

static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string shown(std::string_view text, size_t most) {
  std::string result;
  for (char c : text.substr(0, most)) {
    bool isControl = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    result += isControl ? '?' : c;
  }
  if (text.size() > most)
    result += "...";
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isBlank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string lowerCase(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c >= 'A' && c <= 'Z')
      c = char(c - 'A' + 'a');
  return result;
}

std::optional<int64_t> wholeNumber(std::string_view text, int64_t least, int64_t most) {
  text = trimmed(text);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
    if (text.starts_with('-'))
      return std::nullopt;
  }
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return std::nullopt;
  return number;
}

std::optional<double> realNumber(std::string_view text) {
  text = trimmed(text);
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

std::string Names::unique(std::string_view name) {
  std::string wanted = shown(name.empty() ? "unnamed" : name, Limits::nameBytes);
  std::string result = wanted;
  uint32_t &number = next.try_emplace(wanted, 2).first->second;
  while (!taken.insert(result).second)
    result = fmt::format("{}#{}", wanted, number++);
  return result;
}

std::string normalBusId(std::string_view text) {
  std::string id = lowerCase(shown(trimmed(text)));
  size_t colon = id.find(':');
  if (colon == std::string::npos || !isBusId(id))
    return id;
  size_t zeros = 0;
  while (colon - zeros > 4 && id[zeros] == '0')
    ++zeros;
  return id.substr(zeros);
}

bool isBusId(std::string_view text) {
  // Domain of 4 to 8 digits, bus of 2 (or 4, where nothing is known of the other end), device of 2,
  // and perhaps a function.
  auto take = [&](size_t least, size_t most) {
    size_t digits = 0;
    while (digits < text.size() && digits <= most &&
           ((text[digits] >= '0' && text[digits] <= '9') ||
            (text[digits] >= 'a' && text[digits] <= 'f')))
      ++digits;
    bool fits = digits >= least && digits <= most;
    text.remove_prefix(std::min(digits, text.size()));
    return fits;
  };
  auto skip = [&](char c) {
    if (!text.starts_with(c))
      return false;
    text.remove_prefix(1);
    return true;
  };
  if (!take(4, 8) || !skip(':') || !take(2, 4) || !skip(':') || !take(2, 2))
    return false;
  return text.empty() || (skip('.') && take(1, 1) && text.empty());
}

static constexpr uint32_t mostProcessors = 16384;

std::optional<std::string> processorsOfMask(std::string_view mask) {
  std::vector<bool> bits;
  mask = trimmed(mask);
  if (mask.empty() || mask.size() > mostProcessors / 3)
    return std::nullopt;
  // Groups from the least significant one.
  while (true) {
    size_t comma = mask.rfind(',');
    std::string_view group = comma == std::string_view::npos ? mask : mask.substr(comma + 1);
    auto number = wholeNumber("0x" + std::string(group), 0, 0xffffffff);
    if (!number || group.size() > 8)
      return std::nullopt;
    for (int bit = 0; bit < 32; ++bit)
      bits.push_back((*number >> bit) & 1);
    if (comma == std::string_view::npos)
      break;
    mask = mask.substr(0, comma);
  }
  std::string list;
  for (size_t first = 0; first < bits.size(); ++first) {
    if (!bits[first])
      continue;
    size_t last = first;
    while (last + 1 < bits.size() && bits[last + 1])
      ++last;
    list += list.empty() ? "" : ",";
    list += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return list;
}

std::optional<std::vector<std::pair<uint32_t, uint32_t>>> rangesOfList(std::string_view list) {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  list = trimmed(list);
  while (!list.empty()) {
    size_t comma = list.find(',');
    std::string_view part = list.substr(0, comma);
    list = comma == std::string_view::npos ? "" : list.substr(comma + 1);
    size_t dash = part.find('-');
    auto first = wholeNumber(part.substr(0, dash), 0, mostProcessors - 1);
    auto last = dash == std::string_view::npos
                    ? first
                    : wholeNumber(part.substr(dash + 1), 0, mostProcessors - 1);
    if (!first || !last || *first > *last || ranges.size() >= mostProcessors)
      return std::nullopt;
    ranges.push_back({uint32_t(*first), uint32_t(*last)});
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

bool listsOverlap(std::string_view a, std::string_view b) {
  auto first = rangesOfList(a), second = rangesOfList(b);
  if (!first || !second)
    return false;
  return std::any_of(first->begin(), first->end(), [&](const auto &range) {
    return std::any_of(second->begin(), second->end(), [&](const auto &other) {
      return range.first <= other.second && other.first <= range.second;
    });
  });
}

std::string maskOfProcessors(std::string_view list) {
  auto ranges = rangesOfList(list);
  if (!ranges || ranges->empty())
    return "";
  std::vector<uint32_t> groups;
  for (auto [first, last] : *ranges)
    for (uint32_t bit = first; bit <= last; ++bit) {
      if (bit / 32 >= groups.size())
        groups.resize(bit / 32 + 1, 0);
      groups[bit / 32] |= uint32_t(1) << (bit % 32);
    }
  std::string mask;
  for (size_t i = groups.size(); i-- > 0;)
    mask += fmt::format("{:08x}{}", groups[i], i > 0 ? "," : "");
  return mask;
}

void connectSockets(Graph &graph) {
  std::vector<VertexId> cpus = graph.ofKind(VertexKind::Cpu);
  for (size_t i = 0; i < cpus.size(); ++i)
    for (size_t j = i + 1; j < cpus.size(); ++j)
      graph.connect(cpus[i], cpus[j], LinkKind::Socket, socketBandwidth(graph[cpus[i]]), 1,
                    latencyOf(LinkKind::Socket));
}

} // namespace coil::topology
