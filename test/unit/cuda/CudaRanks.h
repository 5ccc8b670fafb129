//===- CudaRanks.h - Runs ranks on emulated GPUs ----------------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_CUDA_CUDARANKS_H
#define COIL_TEST_UNIT_CUDA_CUDARANKS_H

#include "runtime/executor/cuda/CudaRank.h"
#include "runtime/nvrtc/CubinBundle.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coil::test {

struct CudaSetting {
  int ranks = 2;
  /// All ranks'; kernels are cached beside the tests.
  cuda::CudaConfig config = usualConfig();
  /// Ranks on each device: rank r is on device r / ranksPerDevice.
  int ranksPerDevice = 1;
  uint64_t timeoutMs = 60000;
  std::optional<Plan> plan;
  /// The plan's kernels that need no compiler; may be null.
  std::shared_ptr<const nvrtc::CubinBundle> trusted;
  /// Processes: which of the driver's calls fail on the last rank, as
  /// runtime/emulated/Faults.h writes it.
  std::string faults;

  /// Small blocks and tiles, so that small data has all that large data has.
  static cuda::CudaConfig usualConfig();
};

/// One rank of a test.
struct CudaMember {
  int rank;
  Group &group;
  SetupExchange &exchange;
  cuda::CudaRank *gpu;        ///< null if creation failed
  cuda::LoadedCudaPlan *plan; ///< null if there is none or loading failed
  Status status;              ///< of creation and loading
  const cuda::Driver &driver;
  cuda::DriverStream *stream; ///< the rank's own

  /// Enqueues and waits; an error of either.
  Status run(const cuda::CudaCall &call);
};

using CudaBody = std::function<void(CudaMember &member)>;

/// Runs the body on every rank, each a thread of this process.
void runCudaThreads(const CudaSetting &setting, const CudaBody &body);
/// The same, each rank a process; a failed expectation there fails the test here.
/// A rank that dies by a signal is no failure if it is `mayDie`.
void runCudaProcesses(const CudaSetting &setting, const CudaBody &body, int mayDie = -1);

/// Device memory with a copy on the host.
class DeviceArray {
public:
  DeviceArray(CudaMember &member, size_t bytes);
  ~DeviceArray();
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  std::byte *data() { return memory; }
  void write(const std::vector<std::byte> &values);
  std::vector<std::byte> read();

private:
  CudaMember &member;
  std::byte *memory = nullptr;
  size_t bytes;
};

/// The plan as a reader gives it, with its digest.
Plan readBack(const Plan &plan);
/// An allreduce of f32, sums.
cuda::CudaCall allReduce(DeviceArray &send, DeviceArray &receive, uint64_t count);

/// Values of which sums are exact.
std::vector<std::byte> valuesOf(int rank, uint64_t count, int salt = 0);
std::vector<std::byte> sumsOf(int ranks, uint64_t count, int salt = 0);

enum class Buffers { Plain, Registered };
/// Runs allreduces of several lengths, out of place and in place, and checks them.
void checkSums(CudaMember &member, Buffers buffers);

/// Compute capability 9.0.
inline constexpr uint32_t emulatedCapability = 90;
/// The plan's kernels for the emulated devices, staged ones for the protocol, each
/// for calls of the type, sums; compiled as `coilc --cubin` does.
nvrtc::CubinBundle bundleOf(const Plan &plan, DataType type, cuda::Protocol protocol);

CudaSetting settingFor(int ranks, const Plan &plan);

} // namespace coil::test

#endif // COIL_TEST_UNIT_CUDA_CUDARANKS_H
