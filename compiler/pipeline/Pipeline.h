//===- Pipeline.h - Which passes run, and in which order --------*- C++ -*-===//

#ifndef COIL_COMPILER_PIPELINE_PIPELINE_H
#define COIL_COMPILER_PIPELINE_PIPELINE_H

#include "compiler/pipeline/Phases.h"

#include <cstdint>
#include <mlir/Pass/PassManager.h>
#include <mlir/Pass/PassOptions.h>

namespace coil {

struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<int64_t> ranks{*this, "ranks", llvm::cl::desc("Number of ranks; at least 1"),
                        llvm::cl::init(0)};
  Option<int64_t> root{*this, "root",
                       llvm::cl::desc("Root of a collective that has one; -1: every root"),
                       llvm::cl::init(-1)};
  Option<int64_t> nodes{*this, "nodes", llvm::cl::desc("Nodes that the ranks lie on"),
                        llvm::cl::init(1)};
  ListOption<std::string> parameters{*this, "param",
                                     llvm::cl::desc("Values of parameters: radix=4,fast=true")};
  Option<int64_t> slots{*this, "slots", llvm::cl::desc("Slots of a staged channel"),
                        llvm::cl::init(4)};
};

/// Adds the passes that lead from phase `from` to phase `to`; those before coil
/// and after exec have none. A proof stands at the end of every phase.
void buildPipeline(mlir::OpPassManager &manager, const PipelineOptions &options, Phase from,
                   Phase to);

/// Registers `--coil-compile`, the whole way from the coil dialect to proved exec.
void registerPipelines();

} // namespace coil

#endif // COIL_COMPILER_PIPELINE_PIPELINE_H
