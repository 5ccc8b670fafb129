//===- Communicator.h - One rank's end of a communicator --------*- C++ -*-===//
//
// What stands behind coilComm_t. All functions but abort(), health() and the
// last error's are for the one thread that holds the communicator (Use).
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_API_COMMUNICATOR_H
#define COIL_RUNTIME_API_COMMUNICATOR_H

#include "runtime/api/Windows.h"
#include "runtime/channel/Patience.h"
#include "runtime/executor/cpu/CpuExecutor.h"
#include "runtime/executor/cuda/CudaRank.h"

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace coil {

struct CommunicatorConfig {
  uint64_t timeoutMs = 0;
  uint64_t slotBytes = 256 << 10;
  uint64_t directBytes = 8 << 10;
  /// Set where ranks run on GPUs, this one on `device`; then this is what counts.
  std::optional<cuda::CudaConfig> cuda;
  int device = 0;
};

/// A collective as the user asks for it; type, op and root are not checked yet.
struct CollectiveRequest {
  Collective collective = Collective::AllReduce;
  const void *send = nullptr;
  void *receive = nullptr;
  uint64_t count = 0;
  int type = 0;
  int op = 0;
  int root = 0;
  void *stream = nullptr;
  /// Of Collective::Custom: the plan's name, or null for the only one.
  const char *planName = nullptr;
};

class Communicator {
public:
  /// Collective.
  static Result<std::unique_ptr<Communicator>> create(const UniqueId &id, int rank, int ranks,
                                                      const CommunicatorConfig &config);
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  int rank() const { return group.rank; }
  int ranks() const { return group.ranks; }

  /// Holds the communicator for one thread's call, if it is free.
  class Use {
  public:
    explicit Use(Communicator &communicator)
        : communicator(communicator),
          got(!communicator.busy.exchange(true, std::memory_order_acquire)) {}
    ~Use() {
      if (got)
        communicator.busy.store(false, std::memory_order_release);
    }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;
    Status status() const;
    bool isGot() const { return got; }

  private:
    Communicator &communicator;
    bool got;
  };

  using TrustedCubins = std::shared_ptr<const nvrtc::CubinBundle>;
  /// Collective. What could not be read is passed as its error. The cubins may be
  /// null, and ranks may give different ones.
  Status loadPlan(Result<Plan> plan, Result<TrustedCubins> cubins = TrustedCubins());
  /// Collective. `bytes` may be 0.
  Result<const Window *> registerMemory(void *pointer, size_t bytes);
  /// Collective. `handle` need not be a window.
  Status deregister(const void *handle);

  Status run(const CollectiveRequest &request);
  /// Of the plan with a contract of its own that has the name, or of the only one.
  Result<SegmentCounts> customSegments(const char *planName) const;

  /// Returns the operator's handle.
  Result<int> createPreMulSum(const void *scalar, int type);
  Status destroyReduceOp(int handle);

  /// Any thread.
  void abort();
  Status health() const { return gpu ? gpu->health() : group.mine().poison.status(); }
  void setLastError(const std::string &text);
  const char *lastError() const;

private:
  Communicator(const CommunicatorConfig &config) : config(config) {}
  Status connect(const UniqueId &id, int rank, int ranks);
  Status connectGpu();

  struct PreMulSum {
    int handle;
    DataType type;
    std::array<std::byte, 8> scalar;
  };
  /// A request that was found right.
  struct Checked {
    CallArguments arguments;
    size_t elementSize = 0;
    /// 0 for a buffer that this rank does not have.
    size_t inputBytes = 0, outputBytes = 0;
    const std::byte *input = nullptr;
    std::byte *output = nullptr;
    const void *scalar = nullptr;
  };
  /// `plan` is null if none is loaded.
  Status check(const CollectiveRequest &request, const Plan *plan, Checked &checked) const;
  Status checkBuffers(const CollectiveRequest &request, Checked &checked) const;
  /// A plan in use, and all ranks' memory for it.
  struct LoadedPlan {
    std::vector<PeerSegment> segments;
    std::unique_ptr<cpu::CpuExecutor> executor;
    std::unique_ptr<cuda::LoadedCudaPlan> onGpu; ///< in place of the above

    const Plan &plan() const { return onGpu ? onGpu->plan() : executor->plan(); }
  };
  /// The plan that a request is for, or null. Fails if it names none of several.
  Result<LoadedPlan *> find(const CollectiveRequest &request) const;
  Result<std::unique_ptr<LoadedPlan>> loadOnCpu(Plan plan, const PlanSegmentLayout &layout);
  Status preparePlan(Plan plan, const PlanSegmentLayout &layout, LoadedPlan &loaded);

  Status enter(const CallArguments &arguments, WindowPlace send = {}, WindowPlace receive = {});
  Status enterSetup(CallKind kind);
  /// Waits until all ranks have entered the running call, with the same
  /// arguments. The variant is what would run, for the error; may be null.
  Status meetAll(const cpu::CpuExecutor *executor, const cpu::PreparedVariant *variant);
  Status runVariants(LoadedPlan &loaded, const Checked &checked);
  Status enqueue(LoadedPlan &loaded, const Checked &checked, void *stream);
  Result<const Window *> registerOnGpu(void *pointer, size_t bytes);
  /// True if every rank's buffers are registered; all must have entered.
  bool resolveBuffers(cpu::CpuExecutor &executor, const Checked &checked) const;
  Status missingVariant(const LoadedPlan &loaded, const Checked &checked) const;

  CommunicatorConfig config;
  std::unique_ptr<Bootstrap> bootstrap;
  Group group;
  std::vector<PeerSegment> controlSegments;
  std::unique_ptr<SetupExchange> exchange;
  std::unique_ptr<Patience> patience;

  std::atomic<bool> busy = false;
  uint64_t sequence = 0;
  uint64_t fingerprint = 0; ///< of the running call

  std::unique_ptr<cuda::CudaRank> gpu; ///< null where ranks run on CPUs
  WindowTable windows;
  size_t sendHint = 0, receiveHint = 0;
  std::array<std::unique_ptr<LoadedPlan>, numCollectives> plans;
  /// With contracts of their own, by name.
  std::map<std::string, std::unique_ptr<LoadedPlan>, std::less<>> customPlans;
  std::vector<PreMulSum> preMulSums;

  /// The last few errors: a text that was handed out stays valid for a while.
  mutable std::mutex errorMutex;
  std::array<std::string, 8> errors;
  size_t errorCount = 0;
};

} // namespace coil

#endif // COIL_RUNTIME_API_COMMUNICATOR_H
