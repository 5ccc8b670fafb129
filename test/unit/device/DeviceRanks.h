//===- DeviceRanks.h - Ranks with one worker each, by hand ------*- C++ -*-===//
//
// What the executor sets up for a kernel, in host memory: rank states, channels,
// windows and launches, for tests that run Worker in the emulation. Each rank is on
// a device of its own.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_TEST_UNIT_DEVICE_DEVICERANKS_H
#define COIL_TEST_UNIT_DEVICE_DEVICERANKS_H

#include "runtime/kernels/device/Worker.h"
#include "runtime/kernels/emulation/Emulation.h"

#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace coil::test {

/// Zeroed memory, aligned to 128 bytes.
class ZeroedMemory {
public:
  explicit ZeroedMemory(size_t bytes) : lines(bytes / 128 + 1) {}
  template <typename T> T *as() { return reinterpret_cast<T *>(lines.data()); }

private:
  struct alignas(128) Line {
    unsigned char bytes[128] = {};
  };
  std::vector<Line> lines;
};

struct RanksOptions {
  device::u32 ranks = 2;
  device::u32 instances = 1;
  device::Protocol protocol = device::Protocol::Simple;
  device::u64 tileBytes = 128;
  device::u32 slots = 2;
  device::u64 scratchChunks = 0;
  device::u32 workers = 1;
  device::u64 firstOrdinal = 0; ///< messages and signals that the channels begin with
};

/// What a call works on.
struct CallOptions {
  device::u64 count = 0; ///< elements of a segment
  device::u32 elementBytes = 4;
  device::u32 chunks = 1;
  device::u64 scalar = 0;
  device::u64 timeoutNanoseconds = 0;
  device::u32 threads = 64;
  double secondsLimit = 60;
  std::vector<const void *> inputs; ///< of each rank
  std::vector<void *> outputs;
};

class DeviceRanks {
public:
  /// `channels` are pairs of ranks; a rank's ends are numbered in their order. All
  /// workers of a rank have all of its ends.
  DeviceRanks(const RanksOptions &options,
              const std::vector<std::pair<device::u32, device::u32>> &channels);

  device::RankState &state(device::u32 rank) { return *states[rank]; }
  device::HostBoard &board(device::u32 rank) { return *boards[rank]; }
  /// May be changed before a call: the fingerprint that a rank calls with.
  std::vector<device::u64> fingerprints;
  /// Ranks that take part in calls; all at first.
  std::vector<bool> present;
  /// Registers memory as window 1, one piece a rank, and gives calls' buffers there.
  void setWindow(std::vector<device::Window> pieces) { windows = std::move(pieces); }

  using Kernel = void (*)(const device::Launch);
  /// Runs one call on all present ranks.
  std::vector<emulation::Problem> call(Kernel kernel, const CallOptions &options);

private:
  device::WindowPlace placeOf(const void *buffer, device::u32 rank) const;

  RanksOptions options;
  std::deque<ZeroedMemory> memory;
  std::vector<std::unique_ptr<device::RankState>> states;
  std::vector<device::HostBoard *> boards;
  std::vector<std::vector<device::u32>> sendNumbers, receiveNumbers;
  std::vector<std::vector<device::WorkerTables>> tables;
  std::vector<std::vector<device::EntryRecord *>> peerEntries;
  std::vector<device::u8 *> scratch;
  std::vector<device::Window> windows;
};

} // namespace coil::test

#endif // COIL_TEST_UNIT_DEVICE_DEVICERANKS_H
