//===- Compile.cpp - From a program's text to a plan ----------------------===//

#include "compiler/pipeline/Compile.h"

#include "compiler/pipeline/Compilation.h"

namespace coil {

std::optional<Plan> compileFile(const std::string &path, const CompileOptions &options,
                                std::ostream &diagnostics) {
  Compilation compilation(diagnostics);
  PipelineOptions pipeline;
  pipeline.ranks = options.ranks;
  pipeline.root = options.root.value_or(-1);
  pipeline.nodes = options.nodes;
  for (const std::string &parameter : options.parameters)
    pipeline.parameters.push_back(parameter);
  if (!compilation.parse(path, options.importFolders) || !compilation.lower() ||
      !compilation.select(options.algorithm) ||
      !compilation.run(Phase::Coil, Phase::Plan, pipeline))
    return std::nullopt;
  return compilation.exportPlan();
}

} // namespace coil
