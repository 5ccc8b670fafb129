//===- Launch.h - What a kernel is launched with ----------------*- C++ -*-===//
//
// The structures that the host fills and kernels read; both include this file.
// All pointers are addresses of the device that runs the kernel, unless they
// are said to be mapped host memory.
//
// A rank's part of a call runs as workers x instances thread blocks. Instance g
// runs the tiles g, g + instances, g + 2 * instances, ... of every chunk, with
// channels and scratch of its own, and otherwise exactly the plan's program: so
// any number of instances computes the same as one. One launch runs one rank, or
// several ranks that share a device (for tests): rank slot after rank slot,
// worker after worker, instance after instance.
//
// Everything that goes on from call to call (ordinals, the number of calls) is
// kept in device memory and advanced by kernels, so that a launch captured in a
// graph can be replayed.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_LAUNCH_H
#define COIL_RUNTIME_KERNELS_DEVICE_LAUNCH_H

#include "runtime/kernels/device/Integers.h"

namespace coil::device {

/// Bytes in front of a slot's payload, of a FIFO of any protocol.
inline constexpr u32 slotHeaderBytes = 128;

/// How a message lies in a slot of a staged channel. Payload is at most one tile.
enum class Protocol : u32 {
  Simple, ///< header {ordinal, fingerprint}; then the bytes as they are
  Ll,     ///< 8-byte words: 4 bytes of data and a 4-byte flag each
  Ll128,  ///< 128-byte lines: 120 bytes of data and an 8-byte flag each
};
inline constexpr u32 numProtocols = 3;

/// Bytes of a slot's payload area for messages of up to `bytes` bytes.
COIL_HOST_DEVICE constexpr u64 payloadBytes(Protocol protocol, u64 bytes) {
  switch (protocol) {
  case Protocol::Ll:
    return (bytes + 7) / 8 * 16;
  case Protocol::Ll128:
    return (bytes + 119) / 120 * 128;
  default:
    return (bytes + 127) / 128 * 128;
  }
}

/// Distance of slots, a multiple of 128.
COIL_HOST_DEVICE constexpr u64 slotStride(Protocol protocol, u64 tileBytes) {
  return slotHeaderBytes + (payloadBytes(protocol, tileBytes) + 127) / 128 * 128;
}

/// The sending end of a channel of one instance. A p2p channel is a counter of
/// signals in the receiving rank's memory. A staged channel is `slotCount` slots
/// there, and a counter of freed slots in the sending rank's memory.
struct SendEnd {
  u64 *counter;  ///< p2p: at the receiver
  u8 *slots;     ///< staged: at the receiver
  u64 *freed;    ///< staged: here; the receiver counts in it
  u64 ordinal;   ///< signals or messages sent so far; written by this end alone
  u32 slotCount; ///< staged
  u32 peer;      ///< rank at the other end
};

/// The receiving end.
struct ReceiveEnd {
  u64 *counter;  ///< p2p: here
  u8 *slots;     ///< staged: here
  u64 *freed;    ///< staged: at the sender
  u64 ordinal;   ///< signals consumed or messages freed so far; written by this end alone
  u32 slotCount; ///< staged
  u32 peer;      ///< rank at the other end
};

/// A rank's part of a piece of registered memory, as this device reaches it.
struct Window {
  u8 *base; ///< null: this rank has no part
  u64 bytes;
};

/// Where a buffer of a call lies: windows count from 1, 0 is no window.
struct WindowPlace {
  u32 window;
  u32 unused;
  u64 offset;
};

/// What a rank tells another when it enters a call. It lies in the other's
/// memory and is written by the entering rank alone, `call` last.
struct alignas(64) EntryRecord {
  u64 call; ///< ordinal of the call, from 1
  u64 fingerprint;
  WindowPlace input, output;
};

/// Why a kernel gave up. Values are read by the host.
enum class FailureKind : u32 {
  None,
  Aborted,      ///< the host had set HostBoard::abort
  TimedOut,     ///< a wait took longer than Launch::timeoutNanoseconds
  Disagreement, ///< another rank is in a call with other arguments
  BadWindow,    ///< a peer's buffer is not registered, or too short
};

/// The first failure of a rank, for the error message. `kind` is written last.
struct FailureReport {
  FailureKind kind;
  u32 worker, instance;
  u32 location; ///< index in the plan's locations of the operation that gave up
  u32 peer;     ///< rank that it waited for or disagrees with
  u32 channel;  ///< index of the worker's send or receive end that it waited at, or ~0u
  u64 expected; ///< ordinal or call that it waited for; Disagreement: own fingerprint
  u64 found;    ///< what was there instead; Disagreement: the peer's fingerprint
};

/// Host memory mapped into the device: a rank's line to its host.
struct alignas(128) HostBoard {
  u64 abort;            ///< host sets 1: every wait ends
  u64 claimed;          ///< the block that moves this from 0 to 1 reports
  FailureReport report; ///< valid once report.kind is not None
  u64 finishedCalls;    ///< calls that have ended, in order
};

/// A rank's lasting state, one for each loaded plan.
struct RankState {
  u32 rank, ranks;
  u64 calls;            ///< calls completed; read when a kernel starts, advanced by its last block
  u64 finishedBlocks;   ///< blocks of the running call that have ended
  EntryRecord *entries; ///< [ranks] in this rank's memory: who has entered what
  EntryRecord *const *peerEntries; ///< [ranks] this rank's record in every rank's memory
  const Window *windows;           ///< [(window - 1) * ranks + rank]
  u32 windowCount;
  u32 instances;
  u8 *const *scratch; ///< [ranks] every rank's scratch: [instance][chunk][tileBytes]
  u64 scratchChunks;  ///< chunks of one instance; the same for all ranks
  u64 tileBytes;      ///< of a scratch chunk
  /// [(workers - 1) * instances + instance]: arrivals at barriers, over all calls with
  /// so many workers.
  u64 *barriers;
  SendEnd *sendEnds;       ///< [instance * sendEndCount + end]
  ReceiveEnd *receiveEnds; ///< [instance * receiveEndCount + end]
  u32 sendEndCount, receiveEndCount;
  HostBoard *board; ///< mapped host memory
};

/// Which of the rank's ends a worker uses, in the order in which the kernel's
/// text counts them. Host-filled tables in device memory.
struct WorkerTables {
  const u32 *sendEnds;    ///< indices below RankState::sendEndCount
  const u32 *receiveEnds; ///< indices below RankState::receiveEndCount
  u32 sendEndCount, receiveEndCount;
};

/// One rank's part of a launch.
struct RankCall {
  RankState *state;
  const WorkerTables *workers; ///< [workerCount]
  /// Numbers that differ between ranks of one class and follow no simple rule.
  const u32 *constants;
  const u8 *input;
  u8 *output;
  WindowPlace inputPlace, outputPlace; ///< of p2p variants
  u64 fingerprint;                     ///< of the call's arguments
  u64 scalar;                          ///< premulsum's factor, its element in the low bytes
  u32 rankClass;                       ///< which of the kernel's rank classes the rank is of
  u32 firstBlock;                      ///< in the grid
  u32 workerCount;
  u32 instances;
};

/// Ranks that may share a launch.
inline constexpr u32 maxRanksPerLaunch = 16;

/// A kernel's one parameter.
struct Launch {
  u64 count;              ///< elements of a segment
  u64 tileElements;       ///< elements of a tile; tileElements * sizeof(element) <= tileBytes
  u64 tiles;              ///< tiles of the longest chunk, at least 1
  u64 timeoutNanoseconds; ///< of one wait; 0: for ever
  u32 rankCount;
  u32 unused;
  RankCall ranks[maxRanksPerLaunch];
};

static_assert(sizeof(Launch) <= 4096, "a kernel's parameters have 4 KiB on every architecture");

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_LAUNCH_H
