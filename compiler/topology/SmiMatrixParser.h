//===- SmiMatrixParser.h - Matrices in the text of nvidia-smi ---*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_SMIMATRIXPARSER_H
#define COIL_COMPILER_TOPOLOGY_SMIMATRIXPARSER_H

#include "compiler/topology/SmiText.h"

namespace coil::topology {

/// Finds matrices in lines. A matrix is a header, names of devices and of columns behind them, and
/// a row for each device; either may be wrapped into several lines. A matrix that has lost its
/// header takes its names from the rows.
class SmiMatrixParser {
public:
  SmiMatrixParser(const std::vector<SmiLine> &lines, Reporter &reporter);

  /// Whether a matrix begins in a line.
  bool beginsAt(size_t at) const;
  /// Parses the matrix that begins in line `at`, and moves `at` behind it. Errors are reported.
  SmiMatrix parse(size_t &at);

private:
  struct Row {
    std::string name;
    std::vector<SmiWord> words; ///< behind the name
    SourceRange range;
  };

  bool isRowAt(size_t at) const;
  bool isHeaderAt(size_t at) const;
  /// Adds a line's words to those before, of which the last may go on in this line.
  void append(std::vector<SmiWord> &words, size_t from, size_t at) const;
  void readHeader(std::vector<SmiWord> words, SmiMatrix &matrix) const;
  void readRows(size_t &at, size_t cells, std::vector<Row> &rows) const;
  void fill(SmiMatrix &matrix, std::vector<Row> &rows);
  void compare(const SmiMatrix &matrix);

  const std::vector<SmiLine> &lines;
  Reporter &reporter;
  size_t widest = 0; ///< of all lines: where a terminal has wrapped them
};

/// Whether a word can be a cell.
bool isSmiCell(std::string_view word);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_SMIMATRIXPARSER_H
