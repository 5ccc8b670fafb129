//===- Source.cpp - A topology by any name --------------------------------===//

#include "compiler/topology/Source.h"

#include "compiler/topology/ClusterYaml.h"
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

static bool isYaml(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

/// `folder` is where files are looked for, and `mayBeCluster` whether they may be YAML.
static std::optional<ReadResult> openIn(const std::filesystem::path &folder,
                                        const std::string &name, bool mayBeCluster,
                                        SourceManager &sources, DiagnosticEngine &diagnostics) {
  std::error_code ignored;
  std::string path = name == "-" ? name : (folder / name).string();
  if (std::filesystem::is_directory(path, ignored))
    return readSysfs(path, diagnostics);
  bool mayBeFile = name == "-" || name.find_first_of("./") != name.npos ||
                   std::filesystem::exists(path, ignored);
  if (!mayBeFile)
    return name == "host" ? readSysfs("/sys", diagnostics) : presetTopology(name, diagnostics);
  const SourceFile *file = sources.open(path, diagnostics);
  if (!file)
    return std::nullopt;
  if (!mayBeCluster || !isYaml(name))
    return readTopology(*file, diagnostics);
  return readClusterYaml(*file, diagnostics, [&](const std::string &type) {
    return openIn(std::filesystem::path(path).parent_path(), type, false, sources, diagnostics);
  });
}

std::optional<ReadResult> openTopology(const std::string &name, SourceManager &sources,
                                       DiagnosticEngine &diagnostics) {
  return openIn({}, name, true, sources, diagnostics);
}

} // namespace coil::topology
