//===- SmiMatrixParser.cpp - Matrices in the text of nvidia-smi -----------===//

#include "compiler/topology/SmiMatrixParser.h"

#include <algorithm>
#include <array>

namespace coil::topology {

namespace {

constexpr std::array<std::string_view, 7> accessWords = {"OK", "CNS", "GNS", "TNS",
                                                         "NS", "DR",  "U"};

bool isAccessWord(std::string_view word) {
  return std::find(accessWords.begin(), accessWords.end(), word) != accessWords.end();
}

bool areDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Bytes of a device's name that a text begins with: GPU0, NIC12, mlx5_0, mlx5_bond_1. 0 if none.
size_t nameLength(std::string_view text) {
  auto digitsFrom = [&](size_t at) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9')
      ++end;
    return end;
  };
  for (std::string_view prefix : {"GPU", "NIC"})
    if (text.starts_with(prefix))
      if (size_t end = digitsFrom(3); end > 3)
        return end;
  if (!text.starts_with("mlx"))
    return 0;
  size_t at = digitsFrom(3);
  if (at == 3 || at >= text.size() || text[at] != '_')
    return 0;
  ++at;
  if (text.substr(at).starts_with("bond_"))
    at += 5;
  size_t end = digitsFrom(at);
  return end > at ? end : 0;
}

bool isDeviceName(std::string_view word) {
  return !word.empty() && nameLength(word) == word.size();
}

} // namespace

bool isSmiCell(std::string_view word) {
  if (word.starts_with("NV"))
    return areDigits(word.substr(2)) && word.size() <= 6;
  auto path = pathClassNamed(word);
  return (path && *path < PathClass::Net) || isAccessWord(word);
}

SmiMatrixParser::SmiMatrixParser(const std::vector<SmiLine> &lines, Reporter &reporter)
    : lines(lines), reporter(reporter) {
  for (const SmiLine &line : lines)
    widest = std::max(widest, line.width);
}

/// A row's name, which may be that of any network device, stands before a cell.
bool SmiMatrixParser::isRowAt(size_t at) const {
  const std::vector<SmiWord> &words = lines[at].words;
  return words.size() >= 2 && !isSmiCell(words[0].text) && isSmiCell(words[1].text) &&
         (isDeviceName(words[0].text) || (words.size() >= 3 && isSmiCell(words[2].text)));
}

/// Names of devices, the first of them a GPU's, with a row below.
bool SmiMatrixParser::isHeaderAt(size_t at) const {
  const std::vector<SmiWord> &words = lines[at].words;
  if (words.empty() || !words[0].text.starts_with("GPU") || nameLength(words[0].text) == 0)
    return false;
  if (words.size() >= 2 && isSmiCell(words[1].text))
    return false;
  // What follows is the header's rest, a rule, or a row.
  for (size_t next = at + 1; next < std::min(lines.size(), at + 64); ++next)
    if (isRowAt(next))
      return lines[next].words[0].text.starts_with("GPU");
  return false;
}

bool SmiMatrixParser::beginsAt(size_t at) const {
  // Without a header, a row of GPU0 begins a matrix.
  return isHeaderAt(at) || (isRowAt(at) && lines[at].words[0].text == "GPU0");
}

void SmiMatrixParser::append(std::vector<SmiWord> &words, size_t from, size_t at) const {
  const SmiLine &line = lines[at];
  // A terminal breaks lines where they are full, and in the middle of words.
  bool isBroken = at > 0 && from == 0 && !words.empty() && lines[at - 1].width == widest &&
                  !lines[at - 1].endsBlank && !line.beginsBlank;
  for (size_t i = from; i < line.words.size(); ++i) {
    if (i == 0 && isBroken) {
      words.back().text += line.words[0].text;
      words.back().end = line.words[0].end;
    } else {
      words.push_back(line.words[i]);
    }
  }
}

void SmiMatrixParser::readHeader(std::vector<SmiWord> words, SmiMatrix &matrix) const {
  bool isTrailer = false;
  for (const SmiWord &word : words) {
    std::string_view rest = word.text;
    while (!rest.empty()) {
      // Pasting may have lost the tabs between names: "GPU0GPU1mlx5_0".
      size_t length = isTrailer ? 0 : nameLength(rest);
      bool beginsTrailer = rest == "GPU" || rest.starts_with("CPU") || rest.starts_with("NUMA");
      isTrailer |= length == 0 && beginsTrailer;
      if (length == 0)
        length = rest.size();
      if (!isTrailer)
        matrix.names.push_back(shown(rest.substr(0, length)));
      else
        matrix.trailer.emplace_back(rest);
      rest.remove_prefix(length);
    }
  }
}

void SmiMatrixParser::readRows(size_t &at, size_t cells, std::vector<Row> &rows) const {
  auto cellsOf = [](const Row &row) {
    size_t count = 0;
    while (count < row.words.size() && isSmiCell(row.words[count].text))
      ++count;
    return count;
  };
  for (; at < lines.size(); ++at) {
    const SmiLine &line = lines[at];
    if (line.isBlank() || line.isRule())
      continue;
    std::string_view first = line.words[0].text;
    if (first == "Legend:" || first == "NIC" || isHeaderAt(at))
      return;
    bool isRepeated =
        std::any_of(rows.begin(), rows.end(), [&](const Row &row) { return row.name == first; });
    if (isRowAt(at) && isRepeated)
      return; // the next matrix, without a header
    if (isRowAt(at)) {
      Row row;
      row.name = shown(first);
      row.range = reporter.range(line.words[0].begin, line.words[0].end);
      append(row.words, 1, at);
      rows.push_back(std::move(row));
      if (rows.size() > SmiMatrix::mostDevices)
        return;
      continue;
    }
    // The rest of a row that has been wrapped: cells, or what is behind them.
    if (rows.empty())
      continue;
    Row &row = rows.back();
    bool wantsCells = cellsOf(row) < cells && row.words.size() < 2 * cells + 8;
    // Nothing but lists of numbers, right below, and in a row without any so far.
    bool wantsTail = row.words.size() == cells && row.name.starts_with("GPU") &&
                     !lines[at - 1].isBlank() && (rangesOfList(first) || first == "N/A") &&
                     line.words.size() <= 3;
    if (wantsCells || wantsTail)
      append(row.words, 0, at);
    else if (rows.size() >= cells)
      return;
  }
}

SmiMatrix SmiMatrixParser::parse(size_t &at) {
  SmiMatrix matrix;
  std::vector<Row> rows;
  if (isHeaderAt(at)) {
    std::vector<SmiWord> words;
    for (; at < lines.size() && !isRowAt(at); ++at)
      if (!lines[at].isRule())
        append(words, 0, at);
    readHeader(std::move(words), matrix);
  } else {
    // As many columns as the first row has cells before anything else.
    size_t cells = 0;
    const std::vector<SmiWord> &words = lines[at].words;
    while (cells + 1 < words.size() && isSmiCell(words[cells + 1].text))
      ++cells;
    matrix.names.resize(cells);
  }
  if (matrix.names.size() > SmiMatrix::mostDevices) {
    reporter.error(reporter.range(lines[at - 1].words[0].begin, lines[at - 1].words[0].end),
                   "expected at most {} devices, found {}", SmiMatrix::mostDevices,
                   matrix.names.size());
    return matrix;
  }
  readRows(at, matrix.names.size(), rows);
  fill(matrix, rows);
  return matrix;
}

void SmiMatrixParser::fill(SmiMatrix &matrix, std::vector<Row> &rows) {
  auto cellsOf = [](const Row &row) {
    return size_t(std::find_if(row.words.begin(), row.words.end(),
                               [](const SmiWord &word) { return !isSmiCell(word.text); }) -
                  row.words.begin());
  };
  // Rows tell what a broken header does not: if each has a cell for each row, their names hold.
  bool haveRows = !rows.empty() && rows.size() <= SmiMatrix::mostDevices &&
                  std::all_of(rows.begin(), rows.end(),
                              [&](const Row &row) { return cellsOf(row) == rows.size(); });
  if (haveRows && rows.size() != matrix.names.size())
    reporter.warning(rows[0].range,
                     "expected a header with {} devices, as there are rows, found "
                     "{}; the rows' names are taken",
                     rows.size(), matrix.names.size());
  if (haveRows &&
      (rows.size() != matrix.names.size() || matrix.names.empty() || matrix.names[0].empty())) {
    matrix.names.clear();
    for (const Row &row : rows)
      matrix.names.push_back(row.name);
  }
  size_t count = matrix.names.size();
  if (count == 0 || matrix.names[0].empty()) {
    reporter.error(rows.empty() ? reporter.whole() : rows[0].range,
                   "expected a header with the names of the devices, or as many rows as each row "
                   "has cells");
    return;
  }
  matrix.cells.assign(count, std::vector<std::string>(count));
  matrix.tails.resize(count);
  matrix.ranges.resize(count);
  std::map<std::string, size_t> numberOf;
  for (size_t i = 0; i < count; ++i)
    if (!numberOf.emplace(matrix.names[i], i).second) {
      reporter.error(rows.empty() ? reporter.whole() : rows[0].range,
                     "expected names that differ in the header, found {} twice", matrix.names[i]);
      return;
    }
  for (Row &row : rows) {
    auto place = numberOf.find(row.name);
    if (place == numberOf.end()) {
      reporter.error(row.range, "expected a row of one of the devices in the header, found '{}'",
                     row.name);
      return;
    }
    size_t device = place->second;
    matrix.ranges[device] = row.range;
    for (size_t i = 0; i < count; ++i) {
      SourceRange range = row.range;
      if (i < row.words.size())
        range = reporter.range(row.words[i].begin, row.words[i].end);
      if (i >= row.words.size() || !isSmiCell(row.words[i].text)) {
        reporter.error(range,
                       "expected a cell such as PIX or NV2 for {} in the row of {}, found {}",
                       matrix.names[i], row.name,
                       i < row.words.size() ? "'" + shown(row.words[i].text) + "'" : "none");
        return;
      }
      if ((row.words[i].text == "X") != (i == device)) {
        reporter.error(range, "expected X in the row of {} under {} alone, found '{}' under {}",
                       row.name, row.name, row.words[i].text, matrix.names[i]);
        return;
      }
      matrix.cells[device][i] = row.words[i].text;
      matrix.isPeerAccess |= isAccessWord(row.words[i].text);
    }
    for (size_t i = count; i < row.words.size(); ++i)
      matrix.tails[device].push_back(shown(row.words[i].text));
  }
  compare(matrix);
}

void SmiMatrixParser::compare(const SmiMatrix &matrix) {
  size_t count = matrix.names.size();
  for (size_t i = 0; i < count; ++i) {
    if (!matrix.ranges[i].file && matrix.isGpu(i)) {
      SourceRange last = reporter.whole();
      for (const SourceRange &range : matrix.ranges)
        if (range.file && range.begin >= last.begin)
          last = range;
      reporter.error(last, "expected a row of {} after this one, found none", matrix.names[i]);
      return;
    }
    for (size_t j = 0; j < i; ++j) {
      const std::string &one = matrix.cells[i][j], &other = matrix.cells[j][i];
      if (!one.empty() && !other.empty() && one != other)
        reporter.warning(matrix.ranges[i],
                         "{} and {} are {} by the row of {}, and {} by that of {}", matrix.names[i],
                         matrix.names[j], one, matrix.names[i], other, matrix.names[j]);
    }
  }
}

} // namespace coil::topology
