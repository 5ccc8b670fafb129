//===- Compilation.cpp - One run of the compiler --------------------------===//

#include "compiler/pipeline/Compilation.h"

#include "compiler/frontend/Imports.h"
#include "compiler/frontend/Lower.h"
#include "compiler/semantics/ExecBridge.h"
#include "compiler/semantics/Expand.h"
#include "compiler/target/plan/ExportPlan.h"
#include "dialect/Coil/Coil.h"
#include "passes/Instances.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_os_ostream.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/Parser/Parser.h>

using namespace mlir;

namespace coil {

Compilation::Compilation(std::ostream &diagnosticsOut)
    // Without threads, so that a caller may fork afterwards.
    : out(diagnosticsOut), context(MLIRContext::Threading::DISABLED) {
  context.loadDialect<ir::CoilDialect, exec::ExecDialect, arith::ArithDialect, func::FuncDialect,
                      scf::SCFDialect>();
  context.printOpOnDiagnostic(false);
  handler = context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    show(diagnostic);
    return success();
  });
}

Compilation::~Compilation() { context.getDiagEngine().eraseHandler(handler); }

/// The place that a location names in a file of the compilation.
static SourceRange rangeOf(const SourceManager &sources, Location location) {
  SourceRange range;
  location->walk([&](Location inner) {
    auto fileLocation = dyn_cast<FileLineColLoc>(inner);
    if (!fileLocation)
      return WalkResult::advance();
    const SourceFile *file = sources.find(std::string_view(fileLocation.getFilename().getValue()));
    if (!file || fileLocation.getLine() == 0 || fileLocation.getLine() > file->numLines())
      return WalkResult::advance();
    range.file = file;
    range.begin = file->lineBegin(fileLocation.getLine());
    uint32_t end = range.begin + static_cast<uint32_t>(file->line(fileLocation.getLine()).size());
    // A location has the column where its statement begins; the statement may go on
    // over lines, of which the first is shown.
    for (uint32_t column = 1; column < fileLocation.getColumn() && range.begin < end; ++column) {
      ++range.begin;
      while (range.begin < end && (file->text()[range.begin] & 0xc0) == 0x80)
        ++range.begin;
    }
    std::string_view rest = file->text().substr(range.begin, end - range.begin);
    rest = rest.substr(0, rest.find("//"));
    rest = rest.substr(0, rest.find_last_not_of(" \t{") + 1);
    range.end = range.begin + static_cast<uint32_t>(rest.size());
    return WalkResult::interrupt();
  });
  return range;
}

void Compilation::show(mlir::Diagnostic &diagnostic) {
  auto convert = [&](mlir::Diagnostic &from) {
    Severity severity = from.getSeverity() == DiagnosticSeverity::Error     ? Severity::Error
                        : from.getSeverity() == DiagnosticSeverity::Warning ? Severity::Warning
                                                                            : Severity::Note;
    SourceRange range = rangeOf(sources, from.getLocation());
    std::string message = from.str();
    if (!range.file)
      if (auto location = dyn_cast<FileLineColLoc>(from.getLocation()))
        message += " [" + location.getFilename().str() + ":" + std::to_string(location.getLine()) +
                   ":" + std::to_string(location.getColumn()) + "]";
    return coil::Diagnostic{severity, range, std::move(message), {}};
  };
  coil::Diagnostic shown = convert(diagnostic);
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    shown.notes.push_back(convert(note));
  show(shown);
}

void Compilation::show(const coil::Diagnostic &diagnostic) {
  if (isJson)
    renderJson(diagnostic, out);
  else
    render(diagnostic, out);
}

void Compilation::show(const coil::DiagnosticEngine &diagnostics) {
  for (const coil::Diagnostic &diagnostic : diagnostics.diagnostics())
    show(diagnostic);
}

void Compilation::error(const std::string &message) {
  show(coil::Diagnostic{Severity::Error, {}, message, {}});
}

bool Compilation::parse(const std::string &path, std::vector<std::string> folders) {
  coil::DiagnosticEngine diagnostics;
  if (std::string library = libraryFolder(); !library.empty())
    folders.push_back(std::move(library));
  files = parseProgram(path, folders, sources, diagnostics);
  bool valid = !files.empty();
  for (const auto &file : files)
    valid = checkFile(*file, diagnostics) && valid;
  show(diagnostics);
  return valid;
}

bool Compilation::lower() {
  coil::DiagnosticEngine diagnostics;
  std::vector<const ast::File *> trees;
  for (const auto &file : files)
    trees.push_back(file.get());
  moduleRef = lowerToCoil(trees, context, diagnostics);
  show(diagnostics);
  return static_cast<bool>(moduleRef);
}

bool Compilation::parseModule(const std::string &path) {
  coil::DiagnosticEngine diagnostics;
  const SourceFile *source = sources.open(path, diagnostics);
  show(diagnostics);
  if (!source)
    return false;
  moduleRef = parseSourceString<ModuleOp>(llvm::StringRef(source->text()), ParserConfig(&context),
                                          source->name());
  return static_cast<bool>(moduleRef);
}

bool Compilation::select(const std::string &algorithm) {
  std::string names;
  llvm::SmallVector<ir::AlgorithmOp> others;
  size_t found = 0;
  for (auto op : moduleRef->getOps<ir::AlgorithmOp>()) {
    if (op.isPrivate()) {
      others.push_back(op);
      continue;
    }
    names += (names.empty() ? "" : ", ") + op.getSymName().str();
    if (algorithm.empty() || op.getSymName() == algorithm)
      ++found;
    else
      others.push_back(op);
  }
  if (found == 0 && !(algorithm.empty() && names.empty())) {
    error("no algorithm '" + algorithm + "' is in the file; it has " + names);
    return false;
  }
  if (found > 1) {
    error("the file has several algorithms (" + names + "); name one with --algorithm");
    return false;
  }
  // What the chosen one applies stays, but is no plan of its own.
  llvm::SetVector<Operation *> needed;
  for (auto op : moduleRef->getOps<ir::AlgorithmOp>())
    if (!llvm::is_contained(others, op))
      needed.insert(op);
  for (size_t i = 0; i < needed.size(); ++i)
    needed[i]->walk(
        [&](ir::ApplyOp apply) { needed.insert(moduleRef->lookupSymbol(apply.getCallee())); });
  for (ir::AlgorithmOp other : others) {
    if (needed.contains(other))
      SymbolTable::setSymbolVisibility(other, SymbolTable::Visibility::Private);
    else
      other.erase();
  }
  return true;
}

bool Compilation::run(Phase from, Phase to, const PipelineOptions &options) {
  PassManager manager(&context);
  buildPipeline(manager, options, from, to);
  llvm::raw_os_ostream passOut(out);
  if (printsPasses)
    manager.enableIRPrinting([](Pass *, Operation *) { return false; },
                             [](Pass *, Operation *) { return true; }, /*printModuleScope=*/true,
                             /*printAfterOnlyOnChange=*/true, /*printAfterOnlyOnFailure=*/false,
                             passOut);
  return succeeded(manager.run(*moduleRef));
}

exec::PlanOp Compilation::findPlan() {
  exec::PlanOp op;
  for (auto plan : moduleRef->getOps<exec::PlanOp>()) {
    if (op) {
      error("the module has several plans; a plan file holds one");
      return {};
    }
    op = plan;
  }
  if (!op)
    error("the module has no plan");
  return op;
}

/// The one that becomes a plan; private ones are only applied in others. Null if there
/// is none.
static ir::AlgorithmOp findAlgorithm(ModuleOp module) {
  for (auto algorithm : module.getOps<ir::AlgorithmOp>())
    if (!algorithm.isPrivate())
      return algorithm;
  return {};
}

std::optional<Instance> Compilation::proveInstance(PipelineOptions &options) {
  if (!findAlgorithm(*moduleRef)) {
    error("the file has no algorithm to explain");
    return std::nullopt;
  }
  // The passes replace the algorithm.
  OwningOpRef<ModuleOp> program(moduleRef->clone());
  options.root = std::max<int64_t>(options.root, 0);
  if (!run(Phase::Coil, Phase::Exec, options))
    return std::nullopt;
  exec::PlanOp plan = findPlan();
  ir::AlgorithmOp algorithm = findAlgorithm(*program);
  llvm::SmallVector<std::string> parameters(options.parameters.begin(), options.parameters.end());
  auto requests = requestsOf(algorithm, {options.ranks, options.root, options.nodes, parameters});
  if (!plan || failed(requests))
    return std::nullopt;
  LocationTable locations;
  FailureOr<Instance> instance = expand(algorithm, requests->front(), locations);
  if (failed(instance))
    return std::nullopt;
  return std::move(*instance);
}

std::optional<Explanation> Compilation::explain(PipelineOptions &options) {
  std::optional<Instance> instance = proveInstance(options);
  if (!instance)
    return std::nullopt;
  LocationTable locations;
  return coil::explain(*instance, options.nodes, readExecPlan(findPlan(), locations));
}

std::optional<Plan> Compilation::exportPlan() {
  exec::PlanOp op = findPlan();
  if (!op)
    return std::nullopt;
  LocationTable locations;
  ExecPlan programs = readExecPlan(op, locations);
  std::vector<PlanLocation> planLocations;
  for (Location location : locations.list()) {
    PlanLocation &planLocation = planLocations.emplace_back();
    planLocation.file = "unknown";
    location->walk([&](Location inner) {
      auto fileLocation = dyn_cast<FileLineColLoc>(inner);
      if (!fileLocation)
        return WalkResult::advance();
      planLocation = {fileLocation.getFilename().str(), fileLocation.getLine(),
                      fileLocation.getColumn()};
      return WalkResult::interrupt();
    });
  }
  Result<Plan> plan = coil::exportPlan(programs, std::move(planLocations));
  if (!plan.isOk()) {
    error(plan.status().message());
    return std::nullopt;
  }
  return *std::move(plan);
}

} // namespace coil
