//===- Ll128SelfTest.h - Looks for lines that arrive torn -------*- C++ -*-===//
//
// The ll128 protocol takes for granted what PTX does not promise: that a line stored
// by one warp instruction arrives whole. Here every device of a communicator stores
// lines into every other's memory, and into its own, round after round with other
// content, while the receiver polls for them as the protocol does. A line whose flag
// has come while some of its data is of the round before is torn. That none is
// found is no proof; that one is found is.
//
// Participants: all threads of a block. A device runs two blocks for each device, of
//   which block 2 * d writes to device d and block 2 * d + 1 reads from it. Blocks
//   of a device are resident together, and all devices run at the same time.
// Memory order: lines as in LowLatency128.h; they are written again after a release
//   of the reader's, at system scope, that follows a syncBlock() behind its last
//   read of them.
// Progress: see Waiting.h. A wait's report names the device as its peer.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_LL128SELFTEST_H
#define COIL_RUNTIME_KERNELS_DEVICE_LL128SELFTEST_H

#include "runtime/kernels/device/Block.h"
#include "runtime/kernels/device/LowLatency128.h"
#include "runtime/kernels/device/SelfTestLayout.h"

namespace coil::device {

/// This lane's part of a line: the flag is the round, counted from 1, and every
/// other word is another one in every round.
COIL_DEVICE inline Pair selfTestPair(u64 round, u64 line) {
  u64 position = laneIndex() % lanesOfALine * 2;
  auto word = [&](u64 index) { return (round << 32 | line << 8 | index) * 0x9e3779b97f4a7c15; };
  return {word(position), holdsFlag() ? round : word(position + 1)};
}

inline constexpr u64 selfTestDataBytes = u64(selfTestLines) * lineDataBytes;

/// Writes the launch's rounds. `read` counts the rounds that the reader has read.
COIL_OUTLINED void writeSelfTest(const SelfTestLaunch &test, u8 *lines, const u64 *read, u32 peer) {
  const BlockFacts &facts = blockFacts();
  for (u64 round = test.firstRound; round <= test.lastRound; ++round) {
    bool ended = threadIndex() == 0 && round > 1 &&
                 awaitCounter<Scope::System>(facts, read, {0, peer, noChannel, round - 1}) == 0;
    if (syncBlockOr(ended))
      return;
    forEachLine(selfTestDataBytes, [&](u64 line, bool counts) {
      storeLine(counts ? lines + line * lineBytes : nullptr, selfTestPair(round, line));
      return true;
    });
  }
}

/// Reads the launch's rounds, and adds the number of torn lines to `torn`.
COIL_OUTLINED void readSelfTest(const SelfTestLaunch &test, const u8 *lines, u64 *read, u64 *torn,
                                u32 peer) {
  const BlockFacts &facts = blockFacts();
  u64 found = 0; // by this warp
  for (u64 round = test.firstRound; round <= test.lastRound; ++round) {
    bool whole = forEachLine(selfTestDataBytes, [&](u64 line, bool counts) {
      Pair pair = {0, 0};
      if (!awaitLines(facts, counts ? lines + line * lineBytes : nullptr, round,
                      {0, peer, noChannel, round}, pair))
        return false;
      Pair expected = selfTestPair(round, line);
      bool differs = counts && (pair.first != expected.first || pair.second != expected.second);
      for (u32 group = 0; group < linesOfAWarp; ++group)
        found += anyInWarp(differs && laneIndex() / lanesOfALine == group);
      return true;
    });
    if (syncBlockOr(!whole))
      break;
    if (threadIndex() == 0)
      storeRelease<Scope::System>(read, round);
  }
  if (laneIndex() == 0 && found != 0)
    addAcquireRelease<Scope::Device>(torn, found);
}

/// A block's part.
COIL_DEVICE inline void runLl128SelfTest(const SelfTestLaunch &test) {
  const u32 peer = blockIndex() / 2;
  BlockFacts &facts = blockFacts();
  if (threadIndex() == 0) {
    facts = BlockFacts();
    facts.board = test.board;
    facts.timeoutNanoseconds = test.timeoutNanoseconds;
    facts.rank = test.self;
    facts.worker = blockIndex();
  }
  syncBlock();
  u8 *here = test.pieces[test.self], *there = test.pieces[peer];
  if (blockIndex() % 2 == 0)
    writeSelfTest(test, there + selfTestLinesAt(test.self),
                  reinterpret_cast<const u64 *>(here + selfTestReadAt(test.devices, peer)), peer);
  else
    readSelfTest(test, here + selfTestLinesAt(peer),
                 reinterpret_cast<u64 *>(there + selfTestReadAt(test.devices, test.self)),
                 reinterpret_cast<u64 *>(here + selfTestTornAt(test.devices, peer)), peer);
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_LL128SELFTEST_H
