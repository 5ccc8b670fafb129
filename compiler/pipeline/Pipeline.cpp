//===- Pipeline.cpp - Which passes run, and in which order ----------------===//

#include "compiler/pipeline/Pipeline.h"

#include "passes/Passes.h"

#include <mlir/Pass/PassRegistry.h>

namespace coil {

void buildPipeline(mlir::OpPassManager &manager, const PipelineOptions &options, Phase from,
                   Phase to) {
  auto leadsThrough = [&](Phase begin, Phase end) { return from <= begin && to >= end; };

  // coil -> matched: only right algorithms are scheduled.
  if (leadsThrough(Phase::Coil, Phase::Matched)) {
    llvm::SmallVector<std::string> parameters(options.parameters.begin(), options.parameters.end());
    manager.addPass(
        createVerifyCollective({options.ranks, options.root, options.nodes, parameters}));
    manager.addPass(createLowerToExec({options.ranks, options.root, options.nodes, parameters}));
  }

  // matched -> exec: transports are fixed before the proof, so that what is proved
  // is what runs.
  if (leadsThrough(Phase::Matched, Phase::Exec)) {
    LowerProtocolOptions protocol;
    protocol.slots = options.slots;
    manager.addPass(createLowerProtocol(protocol));
  }
  if (to >= Phase::Exec)
    manager.addPass(createVerifyExec());
}

void registerPipelines() {
  mlir::PassPipelineRegistration<PipelineOptions>(
      "coil-compile", "from the coil dialect to proved exec programs",
      [](mlir::OpPassManager &manager, const PipelineOptions &options) {
        buildPipeline(manager, options, Phase::Coil, Phase::Exec);
      });
}

} // namespace coil
