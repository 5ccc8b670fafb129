//===- CpuExecutor.h - Runs plans on a processor ----------------*- C++ -*-===//
//
// One thread, the caller's, runs all workers of its rank in turn: a worker goes
// on until it has to wait for another.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CPU_CPUEXECUTOR_H
#define COIL_RUNTIME_EXECUTOR_CPU_CPUEXECUTOR_H

#include "runtime/channel/Patience.h"
#include "runtime/executor/cpu/PreparedPlan.h"
#include "runtime/kernels/cpu/Reduce.h"

namespace coil::cpu {

/// A rank's buffers of the running call, as this process sees them.
struct CallBuffers {
  const std::byte *input = nullptr;
  std::byte *output = nullptr;
};

/// One call of the collective that the plan implements.
struct Call {
  uint64_t sequence = 0;
  uint64_t fingerprint = 0;
  uint64_t count = 0;
  DataType type = DataType::I8;
  ReduceOp op = ReduceOp::Sum;
  /// PreMulSum: the factor of this rank's input, one element; else null.
  const void *scalar = nullptr;
};

class CpuExecutor final : private Obstacle {
public:
  CpuExecutor(const Group &group, std::unique_ptr<PreparedPlan> plan);

  const Plan &plan() const { return prepared->plan(); }
  PreparedVariant *find(uint32_t root, bool inPlace, Transport transport) {
    return prepared->find(root, inPlace, transport);
  }
  /// Where the buffers of `rank` go before run(): this rank's always, the others'
  /// for p2p variants.
  CallBuffers &buffersOf(int rank) { return buffers[static_cast<size_t>(rank)]; }

  /// Runs this rank's part; the call's record is published. An error has not
  /// been told to other ranks.
  Status run(PreparedVariant &variant, const Call &call);

  /// The first operation of a variant and its place in the source.
  std::string describeStart(const PreparedVariant &variant) const;

private:
  /// A running call in full.
  struct Run {
    PreparedVariant *variant = nullptr;
    Call call;
    size_t elementSize = 1;
    ReduceKernel reduce = nullptr;
    ScaleKernel scale = nullptr; ///< null: inputs are used as they are
    ReduceEpilogue complete;
    bool streaming = false;
  };
  enum class Step : uint8_t { Done, Blocked, Failed };

  void start(PreparedWorker &worker) const;
  /// True if anything was done.
  bool advance(PreparedWorker &worker);
  bool nextSection(PreparedWorker &worker) const;
  Step execute(PreparedWorker &worker, const PreparedOp &op);
  Step push(const PreparedOp &op, uint64_t tile);
  Step pop(const PreparedOp &op, uint64_t tile);
  Step popReduce(const PreparedOp &op, uint64_t tile);
  void reduce(const PreparedOp &op, uint64_t tile);
  void copy(const PreparedOp &op, uint64_t tile);
  Step meet(const PreparedOp &op);
  Step barrier(PreparedWorker &worker);

  bool scales(const PreparedPlace &place) const {
    return running.scale && place.kind == OperandKind::Input && place.rank == prepared->rank();
  }
  uint64_t elementsOf(const PreparedOp &op, uint64_t tile) const;
  std::byte *addressOf(const PreparedPlace &place, uint64_t tile) const;
  const std::byte *operandAddress(const PreparedPlace &place, uint64_t tile, size_t bytes) const {
    return place.kind == OperandKind::Slot ? place.slot->payload(bytes) : addressOf(place, tile);
  }
  Step disagreement(uint32_t other);

  bool waitsFor(int rank) const override;
  std::string describe() const override;
  std::string describe(const PreparedOp &op) const;
  const PreparedWorker *blockedWorker() const;
  bool opWaitsFor(const PreparedOp &op, uint32_t rank) const;

  const Group &group;
  std::unique_ptr<PreparedPlan> prepared;
  Patience patience;
  std::vector<CallBuffers> buffers;
  std::vector<const void *> sources;
  /// Scaled inputs of one operation.
  std::unique_ptr<std::byte[]> scaled;
  Run running;
  Status failure;
};

} // namespace coil::cpu

#endif // COIL_RUNTIME_EXECUTOR_CPU_CPUEXECUTOR_H
