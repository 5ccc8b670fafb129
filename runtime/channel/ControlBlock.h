//===- ControlBlock.h - What a rank shows of itself -------------*- C++ -*-===//
//
// One control block a rank, in shared memory, for the life of a communicator:
// the calls it has entered, whether it has left, and its poison, by which any
// rank can make it fail.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CHANNEL_CONTROLBLOCK_H
#define COIL_RUNTIME_CHANNEL_CONTROLBLOCK_H

#include "runtime/base/Status.h"
#include "runtime/channel/CallRecord.h"

#include <array>
#include <atomic>
#include <string_view>

namespace coil {

/// Lines that different ranks write are this far apart: processors fetch pairs
/// of 64-byte lines.
inline constexpr size_t lineBytes = 128;

/// The reason why a rank must not go on; the first one stays.
class alignas(lineBytes) Poison {
public:
  /// Any rank. Longer texts are cut.
  void set(StatusCode code, std::string_view text);
  bool isSet() const { return state.load(std::memory_order_relaxed) != Clean; }
  /// The error, if there is one.
  Status status() const;

private:
  enum : uint32_t { Clean, BeingWritten, Written };
  std::atomic<uint32_t> state;
  uint32_t code;
  uint32_t length;
  std::array<char, 1012> text;
};

/// Zeroed memory is a valid, new block.
struct ControlBlock {
  Poison poison; ///< the owner's: what it fails with

  /// Not 0 once the owner has destroyed its communicator.
  alignas(lineBytes) std::atomic<uint32_t> departed;

  /// Record of call n at n % numRecords. It is overwritten by call n + numRecords.
  /// Every recordCheckInterval calls the owner waits until all ranks have entered
  /// the call that many before, so that no rank ever needs a record that is gone.
  static constexpr uint64_t numRecords = 64;
  static constexpr uint64_t recordCheckInterval = 32;
  alignas(lineBytes) std::array<EntryRecord, numRecords> records;

  EntryRecord &recordOf(uint64_t sequence) { return records[sequence % numRecords]; }
  const EntryRecord &recordOf(uint64_t sequence) const { return records[sequence % numRecords]; }
};

} // namespace coil

#endif // COIL_RUNTIME_CHANNEL_CONTROLBLOCK_H
