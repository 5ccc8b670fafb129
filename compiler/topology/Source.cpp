//===- Source.cpp - A topology by any name --------------------------------===//

#include "compiler/topology/Source.h"

#include "compiler/topology/LinkListJson.h"
#include "compiler/topology/NcclXml.h"
#include "compiler/topology/Presets.h"
#include "compiler/topology/SmiReader.h"
#include "compiler/topology/Sysfs.h"

#include <filesystem>

namespace coil::topology {

/// Whether a text is XML, and no topology in hwloc's.
static bool mayBeNcclXml(std::string_view text) {
  std::string_view begin = trimmed(text.substr(0, size_t(1) << 16));
  if (begin.starts_with("\xef\xbb\xbf"))
    begin.remove_prefix(3);
  return begin.starts_with('<') && begin.find("<topology") == std::string_view::npos;
}

std::optional<ReadResult> readTopology(const SourceFile &file, DiagnosticEngine &diagnostics) {
  if (mayBeNcclXml(file.text()))
    return readNcclXml(file, diagnostics);
  if (mayBeLinkList(file.text()))
    return readLinkListJson(file, diagnostics);
  if (isSmiMatrix(file))
    return readSmi(file, diagnostics);
  diagnostics.error(
      {&file, 0, 0},
      "expected a topology: NCCL XML, nvidia-smi topo -m, or JSON of nodes and links");
  return std::nullopt;
}

std::optional<ReadResult> openTopology(const std::string &name, SourceManager &sources,
                                       DiagnosticEngine &diagnostics) {
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored))
    return readSysfs(name, diagnostics);
  bool mayBeFile = name == "-" || name.find_first_of("./") != name.npos ||
                   std::filesystem::exists(name, ignored);
  if (!mayBeFile)
    return name == "host" ? readSysfs("/sys", diagnostics) : presetTopology(name, diagnostics);
  const SourceFile *file = sources.open(name, diagnostics);
  return file ? readTopology(*file, diagnostics) : std::nullopt;
}

} // namespace coil::topology
