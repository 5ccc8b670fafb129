//===- SmiText.cpp - What nvidia-smi prints -------------------------------===//

#include "compiler/topology/SmiText.h"

#include "compiler/topology/SmiMatrixParser.h"

#include <algorithm>
#include <charconv>

namespace coil::topology {

bool SmiLine::isRule() const {
  if (words.empty())
    return false;
  for (const SmiWord &word : words)
    if (word.text.find_first_not_of("-=+|_") != std::string::npos)
      return false;
  return true;
}

namespace {

/// The end of an escape sequence that begins at `at`: "\e[4m", or "\e]0;title\a".
size_t endOfEscape(std::string_view text, size_t at) {
  size_t next = at + 1;
  if (next >= text.size())
    return next;
  if (text[next] == '[') {
    for (++next; next < text.size(); ++next)
      if (text[next] >= '@' && text[next] <= '~')
        return next + 1;
    return next;
  }
  if (text[next] == ']') {
    for (++next; next < text.size(); ++next)
      if (text[next] == '\a')
        return next + 1;
    return next;
  }
  return next + 1;
}

SmiLine lineOf(std::string_view text, size_t begin, size_t end) {
  SmiLine line;
  bool inWord = false, isFirst = true;
  for (size_t at = begin; at < end;) {
    if (text[at] == '\x1b') {
      at = std::min(endOfEscape(text.substr(0, end), at), end);
      continue;
    }
    // A no-break space is what web pages make of blanks.
    bool isNoBreak = text.substr(at, 2) == "\xc2\xa0";
    bool isBlank = isNoBreak || static_cast<unsigned char>(text[at]) <= ' ';
    if (text[at] != '\r') {
      if (isFirst)
        line.beginsBlank = isBlank;
      line.endsBlank = isBlank;
      isFirst = false;
      ++line.width;
    }
    if (isBlank) {
      inWord = false;
    } else {
      if (!inWord)
        line.words.push_back({"", uint32_t(at), 0});
      inWord = true;
      line.words.back().text += text[at];
      line.words.back().end = uint32_t(at + 1);
    }
    at += isNoBreak ? 2 : 1;
  }
  return line;
}

} // namespace

std::vector<SmiLine> smiLines(const SourceFile &file) {
  std::vector<SmiLine> lines;
  std::string_view text = file.text();
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(lineOf(text, begin, end));
    begin = end + 1;
  }
  return lines;
}

int32_t SmiMatrix::numberOf(size_t device) const {
  std::string_view name = names[device];
  return int32_t(wholeNumber(name.substr(std::min<size_t>(3, name.size())), 0, INT32_MAX)
                     .value_or(int64_t(device)));
}

const SmiMatrix *SmiReport::distances() const {
  for (const SmiMatrix &matrix : matrices)
    if (!matrix.isPeerAccess)
      return &matrix;
  return nullptr;
}

namespace {

/// A number that a word begins with, as in "0:".
std::optional<int32_t> leadingNumber(std::string_view word, std::string_view *rest = nullptr) {
  int32_t number = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || number < 0)
    return std::nullopt;
  if (rest)
    *rest = word.substr(size_t(end - word.data()));
  return number;
}

/// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)"
bool isNvlinkHead(const SmiLine &line) {
  std::string_view rest;
  return line.words.size() >= 2 && line.words[0].text == "GPU" &&
         leadingNumber(line.words[1].text, &rest) && rest == ":";
}

SmiNvlinkGpu headOf(const SmiLine &line, Reporter &reporter) {
  SmiNvlinkGpu gpu;
  gpu.number = *leadingNumber(line.words[1].text);
  gpu.range = reporter.range(line.words.front().begin, line.words.back().end);
  for (size_t i = 2; i < line.words.size() && !line.words[i].text.starts_with("(UUID"); ++i)
    gpu.model += (gpu.model.empty() ? "" : " ") + shown(line.words[i].text);
  return gpu;
}

/// "Link 3: 25.781 GB/s", "Link 2: <inactive>", "Link 4: Remote Device 00000000:07:00.0: Link 41".
void readLinkLine(const SmiLine &line, SmiNvlinkGpu &gpu, Reporter &reporter) {
  const std::vector<SmiWord> &words = line.words;
  SourceRange range = reporter.range(words.front().begin, words.back().end);
  auto number = leadingNumber(words[1].text);
  SmiNvlinkGpu::Link link;
  link.number = *number;
  if (gpu.links.size() >= Limits::linksOfPair) {
    reporter.error(range, "expected at most {} links of a GPU", Limits::linksOfPair);
    return;
  }
  auto state = words.size() > 2 ? std::string_view(words[2].text) : std::string_view();
  if (state == "Remote") {
    if (words.size() < 5) {
      reporter.warning(range, "expected 'Remote Device BUS-ID: Link N'");
      return;
    }
    std::string_view id = words[4].text;
    link.remote = normalBusId(id.ends_with(':') ? id.substr(0, id.size() - 1) : id);
    if (words.size() > 6)
      link.remoteLink = leadingNumber(words[6].text);
    // A link without a rate beside ones with it would count as inactive.
    auto known = std::find_if(gpu.links.begin(), gpu.links.end(),
                              [&](const auto &other) { return other.number == link.number; });
    if (known != gpu.links.end()) {
      known->remote = link.remote;
      known->remoteLink = link.remoteLink;
      return;
    }
  } else if (state.starts_with('<')) {
    // Inactive.
  } else if (auto rate = realNumber(state);
             rate && *rate > 0 && words.size() > 3 && words[3].text == "GB/s") {
    link.rate = *rate;
  } else {
    reporter.warning(range, "expected a rate in GB/s, '<inactive>' or 'Remote Device', found '{}'",
                     shown(state));
    return;
  }
  gpu.links.push_back(std::move(link));
}

/// Reads what is below "NIC Legend:".
size_t readNicLegend(const std::vector<SmiLine> &lines, size_t at, SmiReport &report) {
  for (; at < lines.size(); ++at) {
    const SmiLine &line = lines[at];
    if (line.isBlank())
      continue;
    std::string_view head = line.words[0].text;
    if (line.words.size() < 2 || !head.ends_with(':') || !head.starts_with("NIC") ||
        report.nicLegend.size() >= SmiMatrix::mostDevices)
      break;
    report.nicLegend.emplace(head.substr(0, head.size() - 1), shown(line.words[1].text));
  }
  return at;
}

/// Which access a command line before the matrix asks for: "nvidia-smi topo -p2p n".
std::optional<char> accessOf(const SmiLine &line) {
  for (size_t i = 0; i + 1 < line.words.size(); ++i)
    if (line.words[i].text == "-p2p" || line.words[i].text == "--p2p_status")
      return line.words[i + 1].text.front();
  return std::nullopt;
}

} // namespace

SmiReport parseSmiText(Reporter &reporter) {
  SmiReport report;
  std::vector<SmiLine> lines = smiLines(reporter.source());
  SmiMatrixParser parser(lines, reporter);
  /// What the command that follows asks for; 0 if that is not known.
  char access = 0;
  for (size_t at = 0; at < lines.size() && !reporter.hasFailed();) {
    const SmiLine &line = lines[at];
    if (parser.beginsAt(at)) {
      SmiMatrix matrix = parser.parse(at);
      matrix.access = access ? access : 'r';
      access = 0;
      if (report.matrices.size() < 16)
        report.matrices.push_back(std::move(matrix));
      continue;
    }
    if (std::optional<char> asked = accessOf(line))
      access = *asked;
    ++at;
    if (isNvlinkHead(line)) {
      if (report.nvlinks.size() >= SmiMatrix::mostDevices) {
        reporter.error(reporter.range(line.words[0].begin, line.words[0].end),
                       "expected at most {} GPUs", SmiMatrix::mostDevices);
        break;
      }
      // `nvlink -s` and `-R` of the same GPUs may follow each other.
      SmiNvlinkGpu gpu = headOf(line, reporter);
      auto known = std::find_if(report.nvlinks.begin(), report.nvlinks.end(),
                                [&](const auto &other) { return other.number == gpu.number; });
      if (known != report.nvlinks.end())
        std::rotate(known, known + 1, report.nvlinks.end());
      else
        report.nvlinks.push_back(std::move(gpu));
    } else if (line.words.size() >= 2 && line.words[0].text == "Link" && !report.nvlinks.empty() &&
               leadingNumber(line.words[1].text)) {
      readLinkLine(line, report.nvlinks.back(), reporter);
    } else if (line.words.size() >= 2 && line.words[0].text == "NIC" &&
               line.words[1].text == "Legend:") {
      at = readNicLegend(lines, at, report);
    } else if (!report.nvlinks.empty() && report.nvlinks.back().links.empty()) {
      std::string text;
      for (const SmiWord &word : line.words)
        text += lowerCase(word.text) + " ";
      if (text.find("does not have or support") != std::string::npos)
        report.nvlinks.back().isUnsupported = true;
      if (text.find("all links are inactive") != std::string::npos)
        report.nvlinks.back().isInactive = true;
    }
  }
  std::sort(report.nvlinks.begin(), report.nvlinks.end(),
            [](const auto &a, const auto &b) { return a.number < b.number; });
  return report;
}

bool isSmiMatrix(const SourceFile &file) {
  DiagnosticEngine ignored;
  Reporter reporter(file, ignored);
  std::vector<SmiLine> lines = smiLines(file);
  SmiMatrixParser parser(lines, reporter);
  for (size_t at = 0; at < lines.size(); ++at)
    if (parser.beginsAt(at))
      return true;
  return false;
}

bool isSmiNvlink(const SourceFile &file) {
  std::vector<SmiLine> lines = smiLines(file);
  return std::any_of(lines.begin(), lines.end(), isNvlinkHead);
}

} // namespace coil::topology
