//===- ProgramReader.cpp - From a program's text to what it means ---------===//

#include "test/mutation/ProgramReader.h"

#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Imports.h"
#include "compiler/frontend/Lower.h"
#include "compiler/schedule/LowerProtocol.h"
#include "compiler/schedule/ScheduleMoves.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/Diagnostics.h>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace coil {

ProgramReader::ProgramReader() : context(mlir::MLIRContext::Threading::DISABLED) {
  static int readers = 0;
  path = fs::temp_directory_path() / fmt::format("coil-mutate-{}-{}.coil", getpid(), readers++);
  context.loadDialect<ir::CoilDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::scf::SCFDialect>();
}

ProgramReader::~ProgramReader() {
  std::error_code ignored;
  fs::remove(path, ignored);
}

std::optional<Instance> ProgramReader::read(const std::string &text, const std::string &folder,
                                            const InstanceRequest &request) {
  refused.clear();
  SourceManager sources;
  DiagnosticEngine diagnostics;
  auto refuse = [&]() -> std::optional<Instance> {
    std::ostringstream shown;
    render(diagnostics, shown);
    refused += shown.str();
    return std::nullopt;
  };
  std::ofstream(path) << text;
  auto files = parseProgram(path, {folder}, sources, diagnostics);
  bool isValid = !files.empty();
  std::vector<const ast::File *> trees;
  for (const auto &file : files) {
    isValid = checkFile(*file, diagnostics) && isValid;
    trees.push_back(file.get());
  }
  if (!isValid)
    return refuse();
  mlir::OwningOpRef<mlir::ModuleOp> module = lowerToCoil(trees, context, diagnostics);
  if (!module)
    return refuse();
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    refused += diagnostic.str() + "\n";
    return mlir::success();
  });
  // The text's own; imported ones are private.
  ir::AlgorithmOp algorithm;
  for (auto each : module->getOps<ir::AlgorithmOp>())
    if (!algorithm && !each.isPrivate())
      algorithm = each;
  if (!algorithm)
    return std::nullopt;
  LocationTable locations;
  mlir::FailureOr<Instance> instance = expand(algorithm, request, locations);
  if (mlir::failed(instance))
    return std::nullopt;
  for (size_t i = 0; i < instance->statements.size(); ++i)
    instance->statements[i].location = static_cast<LocationIndex>(i + 1);
  return *std::move(instance);
}

std::vector<ExecPlan> lowerInstance(const Instance &instance, const CollectiveProof &proof,
                                    std::string &refusal) {
  CollectiveShape shape{instance.collective, instance.ranks, instance.root, instance.chunks};
  std::vector<ExecPlan> plans;
  for (bool inPlace : {false, true}) {
    if (inPlace && (!shape.hasData() || shape.hasOneForm()))
      continue;
    ExecPlan plan;
    plan.name = instance.name;
    plan.collective = instance.collective;
    plan.ranks = instance.ranks;
    plan.chunks = instance.chunks;
    MoveProgram moves = assignStorage(instance, proof, inPlace, /*algorithmLocation=*/0);
    ExecVariant matched = scheduleMoves(shape, std::move(moves), inPlace);
    Finding deadlock;
    std::optional<ExecVariant> p2p = lowerToP2P(plan, matched, deadlock);
    if (!p2p) {
      refusal = deadlock.message;
      return plans;
    }
    for (const ExecVariant &variant :
         std::vector{lowerToStaged(matched, 1), lowerToStaged(matched, 4), *std::move(p2p)}) {
      plans.push_back(plan);
      plans.back().variants.push_back(variant);
    }
  }
  return plans;
}

} // namespace coil
