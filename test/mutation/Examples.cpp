//===- Examples.cpp - The right programs that a run begins with -----------===//

#include "test/mutation/MutationRun.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace coil {

namespace fs = std::filesystem;

static std::vector<fs::path> programsBelow(const std::string &folder) {
  std::vector<fs::path> paths;
  std::error_code failed;
  for (const auto &entry : fs::recursive_directory_iterator(folder, failed))
    if (entry.path().extension() == ".coil")
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

std::vector<RightCase> readExamples(const std::string &folder, int64_t mostRanks,
                                    std::vector<std::string> &problems) {
  std::vector<RightCase> cases;
  ProgramReader reader;
  for (const fs::path &path : programsBelow(folder)) {
    std::ifstream stream(path);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    std::string name = fs::path(path).lexically_relative(folder).replace_extension().string();
    bool speaksOfNodes =
        text.find("ranks_per_node") != std::string::npos || text.find("node(") != std::string::npos;
    size_t before = cases.size();
    bool isUnknown = false;
    // One that needs more ranks has the fewest that it runs on.
    for (int64_t ranks = 2; ranks <= mostRanks || (cases.size() == before && ranks <= 8); ++ranks)
      for (int64_t nodes = 1; nodes <= (speaksOfNodes && ranks % 2 == 0 ? 2 : 1); ++nodes) {
        RightCase each{name, text, path.parent_path().string(), {ranks, 0, nodes, {}}, {}, {}};
        std::optional<Instance> instance = reader.read(text, each.folder, each.request);
        // Numbers of ranks that the algorithm itself refuses.
        if (!instance)
          continue;
        // The judges know what the library's collectives promise, and no other contract; and they
        // know of nothing that may come twice.
        isUnknown = instance->collective == Collective::Custom ||
                    instance->collective == Collective::Barrier;
        if (isUnknown)
          continue;
        if (hasRoot(instance->collective)) {
          each.request.root = ranks - 1;
          instance = reader.read(text, each.folder, each.request);
        }
        CollectiveProof proof;
        if (instance)
          proof = verifyCollective(*instance, /*algorithmLocation=*/0);
        std::string refusal = reader.refusal();
        if (instance && proof.isProved())
          each.plans = lowerInstance(*instance, proof, refusal);
        else if (instance)
          refusal = proof.findings.front().message;
        if (!refusal.empty()) {
          problems.push_back(fmt::format("{}: {}", each.describe(), refusal));
          continue;
        }
        each.instance = *std::move(instance);
        cases.push_back(std::move(each));
      }
    if (cases.size() == before && !isUnknown)
      problems.push_back(fmt::format("{} is right for no number of ranks", name));
  }
  return cases;
}

} // namespace coil
