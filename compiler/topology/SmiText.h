//===- SmiText.h - What nvidia-smi prints -----------------------*- C++ -*-===//
//
// The text of `nvidia-smi topo -m`, `topo -p2p` and `nvlink -s`, `-R`, as people paste it: with
// prompts and comments around, escape codes, ragged columns, wrapped lines.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_COMPILER_TOPOLOGY_SMITEXT_H
#define COIL_COMPILER_TOPOLOGY_SMITEXT_H

#include "compiler/topology/Reader.h"

#include <map>
#include <string>
#include <vector>

namespace coil::topology {

/// A word and its place in the file.
struct SmiWord {
  std::string text;
  uint32_t begin = 0, end = 0;
};

/// A line without escape codes.
struct SmiLine {
  std::vector<SmiWord> words;
  size_t width = 0; ///< characters
  bool beginsBlank = false, endsBlank = false;

  bool isBlank() const { return words.empty(); }
  /// Dashes and the like alone.
  bool isRule() const;
};

std::vector<SmiLine> smiLines(const SourceFile &file);

/// A matrix over devices. A cell is "X", "NV2", "PIX" and so on; of `topo -p2p`, "OK", "CNS" and so
/// on; empty where the text has none.
struct SmiMatrix {
  static constexpr size_t mostDevices = 512;

  std::vector<std::string> names;              ///< of columns: "GPU0", "NIC1", "mlx5_0"
  std::vector<std::string> trailer;            ///< of the columns behind: "CPU", "NUMA", "GPU"
  std::vector<std::vector<std::string>> cells; ///< by row and column, in the order of names
  std::vector<std::vector<std::string>> tails; ///< words behind the cells
  std::vector<SourceRange> ranges;             ///< of rows
  bool isPeerAccess = false;
  /// Of `topo -p2p`: which access was asked for, 'r', 'w', 'n', 'a' or 'p'; 'r' if it is not told.
  char access = 'r';

  bool isGpu(size_t device) const { return names[device].starts_with("GPU"); }
  /// The number in a GPU's name.
  int32_t numberOf(size_t device) const;
};

/// What `nvidia-smi nvlink` tells of a GPU.
struct SmiNvlinkGpu {
  struct Link {
    int32_t number = 0;
    std::optional<double> rate; ///< GB/s, as printed; nothing if the link is inactive
    std::string remote;         ///< bus id of the other end; empty if not told
    std::optional<int32_t> remoteLink;
  };

  int32_t number = 0;
  std::string model;
  std::vector<Link> links;
  bool isUnsupported = false; ///< "does not have or support"
  bool isInactive = false;    ///< "all links are inActive"
  SourceRange range;
};

/// Everything that a text tells.
struct SmiReport {
  std::vector<SmiMatrix> matrices;
  std::vector<SmiNvlinkGpu> nvlinks;
  std::map<std::string, std::string> nicLegend; ///< "NIC0" is "mlx5_0"

  /// The first matrix of distances; null if there is none.
  const SmiMatrix *distances() const;
};

/// Parses all that a text holds. What lies between is skipped.
SmiReport parseSmiText(Reporter &reporter);

/// Whether a text holds a matrix or a list of links.
bool isSmiMatrix(const SourceFile &file);
bool isSmiNvlink(const SourceFile &file);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_SMITEXT_H
