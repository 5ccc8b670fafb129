//===- Source.cpp - A topology by any name --------------------------------===//

#include "compiler/topology/Source.h"

#include "compiler/topology/NcclXml.h"
#include "compiler/topology/SmiReader.h"

#include <array>

namespace coil::topology {

const char *nameOf(Format format) {
  static constexpr std::array<const char *, 5> names = {"NCCL XML", "hwloc XML", "nvidia-smi topo",
                                                        "nvidia-smi nvlink", "YAML"};
  return names[static_cast<size_t>(format)];
}

Format formatOf(std::string_view text) {
  std::string_view begin = trimmed(text.substr(0, size_t(1) << 16));
  if (begin.starts_with("\xef\xbb\xbf"))
    begin.remove_prefix(3);
  if (begin.starts_with('<'))
    return begin.find("<topology") != std::string_view::npos ? Format::HwlocXml : Format::NcclXml;
  return Format::Yaml;
}

std::optional<ReadResult> readTopology(const SourceFile &file, SourceManager &sources,
                                       DiagnosticEngine &diagnostics) {
  switch (formatOf(file.text())) {
  case Format::NcclXml:
    return readNcclXml(file, diagnostics);
  default:
    if (isSmiMatrix(file))
      return readSmi(file, diagnostics);
    diagnostics.error({&file, 0, 0}, "expected a topology: NCCL XML or nvidia-smi topo -m");
    return std::nullopt;
  }
}

std::optional<ReadResult> openTopology(const std::string &name, SourceManager &sources,
                                       DiagnosticEngine &diagnostics) {
  const SourceFile *file = sources.open(name, diagnostics);
  return file ? readTopology(*file, sources, diagnostics) : std::nullopt;
}

} // namespace coil::topology
