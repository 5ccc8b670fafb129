//===- Compilation.h - One run of the compiler ------------------*- C++ -*-===//

#ifndef COIL_COMPILER_PIPELINE_COMPILATION_H
#define COIL_COMPILER_PIPELINE_COMPILATION_H

#include "compiler/explain/Explanation.h"
#include "compiler/frontend/Frontend.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialect/Exec/Exec.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/OwningOpRef.h>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace coil {

/// Compiles one file. The phases are called in their order; each returns false
/// after it has written its errors to the stream given.
class Compilation {
public:
  explicit Compilation(std::ostream &diagnosticsOut);
  ~Compilation();
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;

  /// Reads .coil text ("-": standard input) and all that it imports, up to the checked
  /// trees. Imports are also looked for in `folders`, and in the shipped library.
  bool parse(const std::string &path, std::vector<std::string> folders = {});
  /// Lowers the tree to the coil dialect.
  bool lower();
  /// Reads MLIR instead, which may hold the coil or the exec dialect.
  bool parseModule(const std::string &path);
  /// Keeps the algorithm of that name alone; with an empty name there must be one.
  bool select(const std::string &algorithm);
  /// Runs the passes from one phase to another.
  bool run(Phase from, Phase to, const PipelineOptions &options);
  /// The plan of a module in phase exec, which must hold one exec.plan.
  std::optional<Plan> exportPlan();

  /// Compiles the one algorithm of a module in phase coil up to phase exec, which
  /// proves it; gives its instance on all ranks. Without a root in the options, for root 0.
  std::optional<Instance> proveInstance(PipelineOptions &options);
  /// The same, and tells what the algorithm does.
  std::optional<Explanation> explain(PipelineOptions &options);

  const ast::File &tree() const { return *files.front(); }
  mlir::ModuleOp module() { return *moduleRef; }
  /// Writes errors as JSON, an object a line, instead of text for people.
  void writeErrorsAsJson() { isJson = true; }
  /// Prints the IR to the diagnostics' stream after each pass.
  void printAfterPasses() { printsPasses = true; }

private:
  void show(mlir::Diagnostic &diagnostic);
  void show(const coil::Diagnostic &diagnostic);
  void show(const coil::DiagnosticEngine &diagnostics);
  void error(const std::string &message);
  /// The module's one plan; null after an error that was shown.
  exec::PlanOp findPlan();

  std::ostream &out;
  SourceManager sources;
  mlir::MLIRContext context;
  mlir::DiagnosticEngine::HandlerID handler;
  std::vector<std::unique_ptr<ast::File>> files;
  mlir::OwningOpRef<mlir::ModuleOp> moduleRef;
  bool printsPasses = false;
  bool isJson = false;
};

} // namespace coil

#endif // COIL_COMPILER_PIPELINE_COMPILATION_H
