//===- CudaRank.h - One rank of a communicator on a GPU ---------*- C++ -*-===//
//
// Runs plans on one device: a call is a kernel in the user's stream, after which
// everything happens on devices. The host is not waited for, so a call can be
// captured in a graph and replayed. What goes wrong on a device is found by a
// thread that looks at the calls in flight from time to time, and ends them.
//
// Ranks are processes or threads. Ranks that share a device must be threads of
// one process; each of their calls is one launch for all of them, so enqueue()
// waits until all of them have come.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_CUDARANK_H
#define COIL_RUNTIME_EXECUTOR_CUDA_CUDARANK_H

#include "runtime/channel/SetupExchange.h"
#include "runtime/executor/cuda/CudaConfig.h"
#include "runtime/executor/cuda/Driver.h"
#include "runtime/nvrtc/CubinBundle.h"
#include "runtime/plan/Plan.h"

#include <memory>
#include <vector>

namespace coil::cuda {

class LoadedCudaPlan;

/// One call of a plan's collective, found right by the caller.
struct CudaCall {
  /// kind, type, op, inPlace, root and count; the rest is filled in.
  CallArguments arguments;
  /// Addresses on the device. Where this rank has no such buffer, any of its own.
  const void *send = nullptr;
  void *receive = nullptr;
  /// PreMulSum: the factor of this rank's input, one element in host memory.
  const void *scalar = nullptr;
};

/// All functions but abort() and health() are for one thread at a time, and all
/// but those and enqueue() may take their time. The user's current context is left
/// as it was.
class CudaRank {
public:
  /// Collective. `deviceOrdinal` counts as the driver does. `group` and `exchange`
  /// must outlive the rank, and the group's control blocks must be there.
  ///
  /// Errors: InvalidArgument for a configuration out of range, InvalidUsage for one
  /// that differs between ranks, Unsupported for a device or an arrangement of
  /// ranks that cannot run calls (several processes on one device) or the protocol
  /// that was asked for, SystemError.
  static Result<std::unique_ptr<CudaRank>> create(std::shared_ptr<const Driver> driver,
                                                  int deviceOrdinal, const Group &group,
                                                  SetupExchange &exchange,
                                                  const CudaConfig &config);
  /// Waits for its calls in flight, then for other processes to be done with its
  /// memory; not longer than a failing call takes to end.
  ~CudaRank();
  CudaRank(const CudaRank &) = delete;
  CudaRank &operator=(const CudaRank &) = delete;

  /// Collective: all ranks load the same plan, which was read from a file and is
  /// for as many ranks. Kernels are compiled later. Errors: Unsupported if the
  /// plan's workers cannot be resident together, or if it only has p2p variants
  /// and some devices cannot reach each other; SystemError. `trusted`, which may be
  /// null, has kernels that need not be compiled.
  Result<std::unique_ptr<LoadedCudaPlan>>
  loadPlan(Plan plan, std::shared_ptr<const nvrtc::CubinBundle> trusted = nullptr);

  /// Compiles and loads what a call of these arguments runs, which its first
  /// enqueue() would do otherwise. Nothing is exchanged.
  Status prepare(LoadedCudaPlan &plan, const CudaCall &call);

  /// Puts a call into a stream and returns; null is the legacy default stream.
  /// Errors of the call itself come later, from health().
  ///
  /// Errors: InvalidUsage if the plan has no variant for the call, or ranks on the
  /// same device disagree; Unsupported for a graph's capture of ranks that share
  /// the device but not the stream; what health() says; SystemError.
  Status enqueue(LoadedCudaPlan &plan, const CudaCall &call, DriverStream *stream);

  /// Collective. Gives the window's number, the same on all ranks. `bytes` may be
  /// 0. Errors: InvalidArgument for memory that is not this device's, Unsupported
  /// for such as other processes cannot map, SystemError.
  Result<uint32_t> registerMemory(void *pointer, size_t bytes);
  /// Collective. No call in flight may use it.
  Status deregister(uint32_t window);

  /// Memory of this device that can be registered.
  Result<void *> memAlloc(size_t bytes);
  Status memFree(void *pointer);

  /// Any thread: why calls fail from now on, if they do. Looks at the calls in
  /// flight.
  Status health();
  /// Waits until all enqueued calls have ended, replays of graphs excepted, and
  /// says whether they went well.
  Status waitIdle();
  /// Any thread: ends all calls in flight. Others hear of it through the group.
  void abort();

  struct State;

private:
  explicit CudaRank(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// A plan on one rank. It must not outlive the rank. Unloading waits as
/// ~CudaRank does.
class LoadedCudaPlan {
public:
  ~LoadedCudaPlan();
  LoadedCudaPlan(const LoadedCudaPlan &) = delete;
  LoadedCudaPlan &operator=(const LoadedCudaPlan &) = delete;

  const Plan &plan() const;
  /// Instances of the plan's program that run side by side, the same on all ranks.
  uint32_t instances() const;
  /// Bytes of a tile at most.
  uint64_t tileBytes() const;

  struct State;

private:
  friend class CudaRank;
  explicit LoadedCudaPlan(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_CUDARANK_H
