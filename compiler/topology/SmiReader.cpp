//===- SmiReader.cpp - Topologies from the text of nvidia-smi -------------===//

#include "compiler/topology/SmiReader.h"

#include <set>

namespace coil::topology {

static Json factsOfMatrix(const SmiMatrix &matrix,
                          const std::map<std::string, std::string> &nicLegend) {
  Json nics = Json::array(), pairs = Json::array(), types = Json::object(), tails = Json::object(),
       gpuNic = Json::object(), legend = Json::object();
  size_t count = matrix.names.size();
  int gpus = 0;
  std::set<int64_t> linksOfGpus;
  for (size_t a = 0; a < count; ++a) {
    if (!matrix.isGpu(a)) {
      nics.push(matrix.names[a]);
      continue;
    }
    ++gpus;
    Json tail = Json::array(), ways = Json::object();
    int64_t links = 0;
    for (const std::string &word : matrix.tails[a])
      tail.push(word);
    tails.set(matrix.names[a], std::move(tail));
    for (size_t b = 0; b < count; ++b) {
      const std::string &cell = matrix.cells[a][b];
      if (matrix.isGpu(b) && cell.starts_with("NV"))
        links += wholeNumber(cell.substr(2), 0, INT32_MAX).value_or(0);
      if (!matrix.isGpu(b)) {
        ways.set(matrix.names[b], cell);
      } else if (a < b && cell.starts_with("NV")) {
        pairs.push(Json::Array{matrix.numberOf(a), matrix.numberOf(b),
                               wholeNumber(cell.substr(2), 0, INT32_MAX).value_or(0)});
      } else if (a < b) {
        types.set(fmt::format("{}-{}", matrix.numberOf(a), matrix.numberOf(b)), cell);
      }
    }
    gpuNic.set(matrix.names[a], std::move(ways));
    linksOfGpus.insert(links);
  }
  Json facts = Json::object();
  facts.set("kind", matrix.isPeerAccess ? "topo-p2p" : "topo-m");
  facts.set("gpus", gpus);
  bool hasNics = size_t(gpus) < count;
  facts.set("nics", std::move(nics));
  facts.set("nvlink_pairs", std::move(pairs));
  if (linksOfGpus.size() == 1 && *linksOfGpus.begin() > 0)
    facts.set("links_per_gpu", *linksOfGpus.begin());
  facts.set("pair_types", std::move(types));
  facts.set("gpu_tail", std::move(tails));
  if (hasNics)
    facts.set("gpu_nic", std::move(gpuNic));
  for (const auto &[name, device] : nicLegend)
    legend.set(name, device);
  if (!nicLegend.empty())
    facts.set("nic_legend", std::move(legend));
  return facts;
}

std::optional<ReadResult> readSmi(const SourceFile &file, DiagnosticEngine &diagnostics) {
  Reporter reporter(file, diagnostics);
  SmiReport report = parseSmiText(reporter);
  const SmiMatrix *matrix = report.distances();
  if (!reporter.hasFailed() && !matrix)
    reporter.error(reporter.whole(), "expected a matrix of nvidia-smi topo -m, found none");
  if (reporter.hasFailed())
    return std::nullopt;
  ReadResult result;
  result.topology = alone({file.name(), graphOfMatrix(*matrix, report.nicLegend, reporter)});
  result.facts = factsOfMatrix(*matrix, report.nicLegend);
  return result;
}

} // namespace coil::topology
