//===- Expander.h - Runs a program and writes down its moves ----*- C++ -*-===//

#ifndef COIL_COMPILER_SEMANTICS_EXPANDER_H
#define COIL_COMPILER_SEMANTICS_EXPANDER_H

#include "compiler/semantics/Evaluator.h"
#include "compiler/semantics/Expand.h"

#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace coil {

/// A `!coil.place` with its numbers known.
struct PlaceRun {
  InstanceBuffer buffer;
  int32_t rank;
  int64_t begin, count;
};

/// Where a run of chunks begins, scratch counted over all scratch buffers.
struct BufferRun {
  InstanceBuffer buffer = InstanceBuffer::Data;
  int64_t begin = 0;
};

/// What one expansion and the expansions of all that it applies have in common.
struct Expansion {
  /// Algorithm, ranks, root, nodes and parameters.
  using Key =
      std::tuple<mlir::Operation *, int64_t, int64_t, int64_t, std::map<std::string, int64_t>>;

  explicit Expansion(LocationTable &locations) : locations(locations) {}

  LocationTable &locations;
  Spending spent;
  /// Instances that were applied; each is expanded and proved once.
  std::map<Key, std::unique_ptr<Instance>> applied;
  /// Applications that have begun and not ended.
  int depth = 0;
};

class Expander {
public:
  Expander(ir::AlgorithmOp algorithm, const InstanceRequest &request, Expansion &shared);

  mlir::FailureOr<Instance> run();

private:
  /// Chunks that are counted; so many parts of each still fit in 64 bits.
  static constexpr int64_t maxChunks = int64_t(1) << 40;
  static constexpr int64_t maxParts = int64_t(1) << 20;
  /// As many as a plan may have on a rank.
  static constexpr int64_t maxWorkers = 1024;

  int64_t valueOf(mlir::Value value) const { return evaluator.valueOf(value); }
  mlir::LogicalResult runOnce();
  mlir::LogicalResult runBlock(mlir::Block &block);
  mlir::LogicalResult runOp(mlir::Operation *op);

  // Structure (Expand.cpp).
  mlir::LogicalResult run(ir::ParameterOp op);
  mlir::LogicalResult run(ir::ChunksOp op);
  mlir::LogicalResult run(ir::ScratchOp op);
  mlir::LogicalResult run(ir::ScheduleOp op);
  mlir::LogicalResult run(ir::AssertOp op);
  mlir::LogicalResult run(mlir::scf::ForOp op);
  mlir::LogicalResult run(mlir::scf::IfOp op);
  mlir::LogicalResult run(ir::ExchangeOp op);

  // Places and moves (Expand.cpp).
  mlir::LogicalResult run(ir::PlaceOp op);
  mlir::LogicalResult run(ir::SendOp op);
  mlir::LogicalResult run(ir::CopyOp op);
  mlir::LogicalResult run(ir::ReduceOp op);
  mlir::LogicalResult run(ir::CombineOp op);
  mlir::LogicalResult run(ir::OperandOp op);
  template <typename Op> mlir::LogicalResult runCombining(Op op, StatementKind kind);
  mlir::LogicalResult addStatements(mlir::Operation *op, StatementKind kind,
                                    const PlaceRun &destination, llvm::ArrayRef<PlaceRun> sources);
  /// Counts statements that are about to be added.
  mlir::LogicalResult reserve(mlir::Operation *op, int64_t statements);
  mlir::LogicalResult tooFine(mlir::Operation *op);
  mlir::LogicalResult tooManyParts(mlir::Operation *op);
  /// The worker that moves the chunk `part` chunks behind the begin of a chunk of the program.
  uint32_t workerOf(int64_t part) const { return static_cast<uint32_t>(part % instance.workers); }
  /// Where the program's chunks from `begin` on lie in the instance.
  mlir::FailureOr<BufferRun> resolve(mlir::Operation *op, llvm::StringRef buffer, int64_t begin,
                                     int64_t count);

  // Contracts (ExpandContract.cpp).
  mlir::LogicalResult run(ir::SegmentsOp op);
  mlir::LogicalResult run(ir::EnsuresOp op);
  mlir::LogicalResult run(ir::SourceOp op);
  /// The run of segments that `op` names, found to be in the buffer.
  template <typename Op> mlir::FailureOr<PlaceRun> segmentsOf(Op op, InstanceBuffer buffer);
  /// What all promises of the program say together.
  std::shared_ptr<const OwnContract> contractOf() const;

  // Applications (ExpandApply.cpp).
  struct View;
  struct Splice;
  mlir::LogicalResult run(ir::ApplyOp op);
  mlir::LogicalResult run(ir::ItemOp op);
  mlir::FailureOr<std::vector<int32_t>> groupOf(ir::ApplyOp op);
  mlir::FailureOr<View> viewOf(ir::ApplyOp op, llvm::StringRef buffer, mlir::Region &items);
  /// The callee's instance for the group, proved.
  mlir::FailureOr<const Instance *> instantiate(ir::ApplyOp op, const std::vector<int32_t> &group);
  /// Scratch for `names` that no member of the group uses in another application.
  mlir::FailureOr<int64_t> scratchFor(ir::ApplyOp op, const std::vector<int32_t> &group,
                                      const std::vector<ScratchBuffer> &buffers);

  ir::AlgorithmOp algorithm;
  const InstanceRequest &request;
  Expansion &shared;
  Instance instance;
  Evaluator evaluator;
  llvm::DenseMap<mlir::Value, PlaceRun> places;
  llvm::SmallVector<PlaceRun> operands;
  uint32_t exchange = 0, exchanges = 0;

  /// What is promised of an output segment, and by which operation.
  struct Promised {
    std::vector<OwnContract::Source> sources;
    ir::EnsuresOp by;
  };
  /// By rank and segment.
  std::map<std::pair<uint32_t, uint32_t>, Promised> promises;
  size_t promisedSources = 0;
  SegmentCounts segments = {0, 0};
  /// Sources of the promise that is run.
  std::vector<PlaceRun> sourceRuns;

  /// Parts that each chunk of the program is cut into.
  int64_t parts = 1;
  /// While true, no move is written down and `measuredParts` becomes the number of
  /// parts that all applications need.
  bool isMeasuring = false;
  int64_t measuredParts = 1;
  /// Parts that the schedule cuts those into.
  int64_t scheduledParts = 1;
  /// Numbers of the list that is run, in runs.
  std::vector<std::pair<int64_t, int64_t>> items;
  int64_t listLength = 0;
  /// Scratch of applications that others in disjoint groups can use as well.
  struct SharedScratch {
    int64_t first;
    std::vector<bool> usedBy;
  };
  std::map<std::vector<std::pair<std::string, int64_t>>, std::vector<SharedScratch>> sharedScratch;
};

} // namespace coil

#endif // COIL_COMPILER_SEMANTICS_EXPANDER_H
