//===- Block.h - How a block enters a call and leaves it --------*- C++ -*-===//
//
// What happens before a worker's first operation and after its last: finding out
// which worker the block is, taking its ends of channels into shared memory,
// telling peers that the rank has entered the call, and keeping what goes on from
// call to call.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_BLOCK_H
#define COIL_RUNTIME_KERNELS_DEVICE_BLOCK_H

#include "runtime/kernels/device/SharedLayout.h"
#include "runtime/kernels/device/Words.h"

namespace coil::device {

/// Which worker of a launch a block is.
struct Seat {
  u32 rankSlot; ///< in Launch::ranks
  u32 worker, instance;
};

COIL_DEVICE inline Seat findSeat(const Launch &launch) {
  u32 slot = 0;
  while (slot + 1 < launch.rankCount && blockIndex() >= launch.ranks[slot + 1].firstBlock)
    ++slot;
  const RankCall &call = launch.ranks[slot];
  u32 block = blockIndex() - call.firstBlock;
  return {slot, block / call.instances, block % call.instances};
}

/// The block's shared memory, as SharedLayout.h sizes it.
COIL_DEVICE inline BlockFacts &blockFacts() {
  return *reinterpret_cast<BlockFacts *>(sharedMemory());
}
COIL_DEVICE inline LocalSendEnd &localSend(u32 end) {
  return reinterpret_cast<LocalSendEnd *>(sharedMemory() + sizeof(BlockFacts))[end];
}
COIL_DEVICE inline LocalReceiveEnd &localReceive(u32 end) {
  return reinterpret_cast<LocalReceiveEnd *>(&localSend(blockFacts().sendEnds))[end];
}
COIL_DEVICE inline PeerBuffers &boundPeer(u32 slot) {
  return reinterpret_cast<PeerBuffers *>(&localReceive(blockFacts().receiveEnds))[slot];
}

template <typename Element> COIL_DEVICE inline Terms<Element> &termsOf(BlockFacts &facts) {
  static_assert(sizeof(Terms<Element>) <= sizeof(facts.terms));
  return *reinterpret_cast<Terms<Element> *>(facts.terms);
}

/// The rank's ends that a worker's instance uses.
COIL_DEVICE inline SendEnd *sendEndOf(const RankCall &call, const Seat &seat, u32 end) {
  u32 number = call.workers[seat.worker].sendEnds[end];
  return call.state->sendEnds + (u64(seat.instance) * call.state->sendEndCount + number);
}
COIL_DEVICE inline ReceiveEnd *receiveEndOf(const RankCall &call, const Seat &seat, u32 end) {
  u32 number = call.workers[seat.worker].receiveEnds[end];
  return call.state->receiveEnds + (u64(seat.instance) * call.state->receiveEndCount + number);
}

/// Ordinal of the running call, the same until the rank's last block has left it.
COIL_DEVICE inline u64 runningCall(const RankState &state) {
  return loadData<u64>(&state.calls) + 1;
}

/// Tells every other rank that this one has entered the call, and with which
/// buffers. By one block of the rank; its threads take a rank each. A rank's record
/// of one call is overwritten by the next one's: peers that need it are proved to
/// have read it before this rank leaves the call.
COIL_DEVICE inline void publishEntry(const RankCall &call) {
  const RankState &state = *call.state;
  for (u32 rank = threadIndex(); rank < state.ranks; rank += blockThreads()) {
    EntryRecord *record = state.peerEntries[rank];
    if (rank == state.rank || record == nullptr)
      continue;
    storeData<u64>(&record->fingerprint, call.fingerprint);
    storeData<u32>(&record->input.window, call.inputPlace.window);
    storeData<u64>(&record->input.offset, call.inputPlace.offset);
    storeData<u32>(&record->output.window, call.outputPlace.window);
    storeData<u64>(&record->output.offset, call.outputPlace.offset);
    storeRelease<Scope::System>(&record->call, runningCall(state));
  }
}

/// Fills the block's shared memory. Ends with the block synchronised.
template <typename Element>
COIL_OUTLINED void enterCall(const Launch &launch, Protocol protocol, u32 chunks) {
  Seat seat = findSeat(launch);
  const RankCall &call = launch.ranks[seat.rankSlot];
  const RankState &state = *call.state;
  const WorkerTables &tables = call.workers[seat.worker];
  if (threadIndex() == 0) {
    BlockFacts &facts = blockFacts();
    facts.state = call.state;
    facts.board = state.board;
    facts.timeoutNanoseconds = launch.timeoutNanoseconds;
    facts.fingerprint = call.fingerprint;
    facts.input = call.input;
    facts.output = call.output;
    facts.scratch =
        state.scratch[state.rank] + seat.instance * state.scratchChunks * state.tileBytes;
    facts.tileBytes = state.tileBytes;
    facts.slotStride = slotStride(protocol, state.tileBytes);
    facts.chunking = Chunking::of(launch.count, chunks);
    facts.tileElements = launch.tileElements;
    facts.tiles = launch.tiles;
    facts.constants = call.constants;
    facts.rank = state.rank;
    facts.rankClass = call.rankClass;
    facts.worker = seat.worker;
    facts.workers = call.workerCount;
    facts.instance = seat.instance;
    facts.instances = call.instances;
    facts.ranks = state.ranks;
    facts.failed = 0;
    Terms<Element> &terms = termsOf<Element>(facts);
    terms.factor =
        Arithmetic<Element>::widen(bitCast<Element>(static_cast<Bits<Element>>(call.scalar)));
    if (state.ranks > 1)
      terms.divisor = {state.ranks, reciprocalOf(state.ranks)};
    facts.sendEnds = tables.sendEndCount;
    facts.receiveEnds = tables.receiveEndCount;
  }
  syncBlock();
  const BlockFacts &facts = blockFacts();
  for (u32 i = threadIndex(); i < facts.sendEnds; i += blockThreads()) {
    const SendEnd &end = *sendEndOf(call, seat, i);
    u64 ordinal = loadData<u64>(&end.ordinal), lap = end.slotCount ? ordinal / end.slotCount : 0;
    localSend(i) = {end.counter,
                    end.slots,
                    end.freed,
                    ordinal,
                    0,
                    end.slotCount,
                    end.peer,
                    static_cast<u32>(ordinal - lap * end.slotCount),
                    static_cast<u32>(lap)};
  }
  for (u32 i = threadIndex(); i < facts.receiveEnds; i += blockThreads()) {
    const ReceiveEnd &end = *receiveEndOf(call, seat, i);
    u64 ordinal = loadData<u64>(&end.ordinal);
    localReceive(i) = {end.counter,
                       end.slots,
                       end.freed,
                       ordinal,
                       end.slotCount,
                       end.peer,
                       end.slotCount ? static_cast<u32>(ordinal % end.slotCount) : 0,
                       0};
  }
  if (seat.worker == 0 && seat.instance == 0)
    publishEntry(call);
  syncBlock();
}

/// Writes the ends' ordinals back. The last of the rank's blocks to leave ends the
/// call: it advances RankState::calls and tells the host.
COIL_OUTLINED void leaveCall(const Launch &launch) {
  Seat seat = findSeat(launch);
  const RankCall &call = launch.ranks[seat.rankSlot];
  RankState &state = *call.state;
  syncBlock();
  const BlockFacts &facts = blockFacts();
  for (u32 i = threadIndex(); i < facts.sendEnds; i += blockThreads())
    storeData<u64>(&sendEndOf(call, seat, i)->ordinal, localSend(i).ordinal);
  for (u32 i = threadIndex(); i < facts.receiveEnds; i += blockThreads())
    storeData<u64>(&receiveEndOf(call, seat, i)->ordinal, localReceive(i).ordinal);
  syncBlock();
  if (threadIndex() != 0)
    return;
  u64 others = call.workerCount * call.instances - 1;
  if (addAcquireRelease<Scope::Device>(&state.finishedBlocks, 1) != others)
    return;
  u64 finished = runningCall(state);
  storeRelaxed<Scope::Device>(&state.finishedBlocks, 0);
  storeData<u64>(&state.calls, finished);
  storeRelease<Scope::System>(&state.board->finishedCalls, finished);
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_BLOCK_H
