//===- Worker.h - One worker of a plan, as generated kernels see it -*- C++ -*-===//
//
// A worker is a thread block that runs one worker's program of a plan for one
// instance (Launch.h). Generated kernels are calls of the members below; each is
// one operation of the plan.
//
// Participants: every member is called by all threads of the block, with the same
//   arguments.
// Memory order: operations take effect in the order of the calls. A data operation
//   (copy, reduce, push, pop) ends with the block synchronised, so what one thread
//   wrote may be read by another in the next operation, and signal() and the
//   headers of messages, which one thread releases at system scope, follow all that
//   the block did before. wait(), meet(), barrier() and the arrival of a message
//   are acquired by one thread and then brought to the block by synchronising it.
//   In shared memory thread 0 alone changes anything, after a synchronisation; what
//   other threads read of it, they read after the next one.
// Alignment: buffers of any alignment; the library finds the widest accesses.
// Progress: a worker waits for other workers where its operations say so, and for
//   nothing else; blocks that wait for one another must be resident together. A
//   wait that fails (Waiting.h) makes every later operation do nothing and
//   nextTile() false, so that the kernel ends soon.
//
// `location` arguments are indices in the plan's locations: where the operation
// comes from in the algorithm's source, for the report of a failure.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_WORKER_H
#define COIL_RUNTIME_KERNELS_DEVICE_WORKER_H

#include "runtime/kernels/device/Block.h"
#include "runtime/kernels/device/LowLatency.h"
#include "runtime/kernels/device/LowLatency128.h"
#include "runtime/kernels/device/SimpleFifo.h"
#include "runtime/kernels/device/Tile.h"

namespace coil::device {

/// Whether a reduction makes its value complete, so that avg divides it.
enum Ending : bool { Keep, Complete };

/// The current tile of a chunk in memory, here or at a peer.
struct Place {
  u8 *address;
};

/// An operand: a place, the rank's own input, or a message that has come.
struct Source {
  enum Kind : u32 { Memory, OwnInput, Head };

  COIL_DEVICE Source() : address(nullptr), end(0), kind(Memory) {}
  COIL_DEVICE Source(Place place) : address(place.address), end(0), kind(Memory) {}
  COIL_DEVICE Source(const u8 *address, u32 end, Kind kind)
      : address(address), end(end), kind(kind) {}

  const u8 *address; ///< of memory
  u32 end;           ///< receiving end of a message
  Kind kind;
};

/// See the file's comment. `Operator` is one of Operators.h; `protocol` is how
/// messages of staged channels lie in slots, and Simple for p2p variants.
template <typename Element, typename Operator, Protocol protocol> class Worker {
public:
  /// `chunks` is the plan's number of chunks a segment.
  COIL_DEVICE Worker(const Launch &launch, u32 chunks) : launch(launch), chunks(chunks) {
    enterCall<Element>(launch, protocol, chunks);
    const BlockFacts &facts = blockFacts();
    tile = u64(facts.instance) - facts.instances; // before the first
  }

  //===--------------------------------------------------------------------===//
  // Who and which
  //===--------------------------------------------------------------------===//

  COIL_DEVICE u32 rank() const { return blockFacts().rank; }
  /// Ranks of a class run the same program, but for numbers.
  COIL_DEVICE u32 rankClass() const { return blockFacts().rankClass; }
  /// Number of the worker among its rank's.
  COIL_DEVICE u32 index() const { return blockFacts().worker; }
  /// Number `i` among those in which the rank differs from others of its class.
  COIL_DEVICE u32 constant(u32 i) const { return blockFacts().constants[i]; }

  /// Goes on to this instance's next tile. False after the last, or once the call
  /// has failed.
  COIL_DEVICE bool nextTile() {
    tile += blockFacts().instances;
    return !failed && tile < blockFacts().tiles;
  }

  //===--------------------------------------------------------------------===//
  // Places and operands: the current tile of chunk `chunk` of a segment
  //===--------------------------------------------------------------------===//

  COIL_DEVICE Source input(u32 chunk, u32 segment = 0) const {
    return {blockFacts().input + byteOf(chunk, segment), 0, Source::OwnInput};
  }
  COIL_DEVICE Place output(u32 chunk, u32 segment = 0) const {
    return {blockFacts().output + byteOf(chunk, segment)};
  }
  COIL_DEVICE Place scratch(u32 index) const {
    return {blockFacts().scratch + index * blockFacts().tileBytes};
  }

  /// Of the rank bound to `slot`.
  COIL_DEVICE Place peerInput(u32 slot, u32 chunk, u32 segment = 0) const {
    return {boundPeer(slot).input + byteOf(chunk, segment)};
  }
  COIL_DEVICE Place peerOutput(u32 slot, u32 chunk, u32 segment = 0) const {
    return {boundPeer(slot).output + byteOf(chunk, segment)};
  }
  /// Of any rank; the same instance's.
  COIL_DEVICE Place peerScratch(u32 rank, u32 index) const {
    const RankState &state = *blockFacts().state;
    return {state.scratch[rank] +
            (blockFacts().instance * state.scratchChunks + index) * state.tileBytes};
  }

  /// The message that comes next at a receiving end. A statement that has it as an
  /// operand waits for it, and frees its slot in the end.
  COIL_DEVICE Source head(u32 receiveEnd) const { return {nullptr, receiveEnd, Source::Head}; }

  //===--------------------------------------------------------------------===//
  // Data. `length` is the chunk that gives the number of elements.
  //===--------------------------------------------------------------------===//

  /// destination := source, which is no head.
  COIL_DEVICE void copy(Place destination, u32 length, Source source) {
    bool scales = Operator::scales && source.kind == Source::OwnInput;
    if (failed || (destination.address == source.address && !scales))
      return;
    copyMemory<Element, Operator>(destination.address, source.address, scales,
                                  tiling().size(length), terms());
    syncBlock();
  }

  /// destination := sources, at least one, combined left to right, rounded once.
  template <typename... Sources>
  COIL_DEVICE void reduce(Place destination, u32 length, Ending ending, u32 location,
                          Sources... sources) {
    const Source list[] = {Source(sources)...};
    if (divides(ending))
      combine<Operator>(destination, length, location, list);
    else
      combine<Undivided<Operator>>(destination, length, location, list);
  }

  /// The same for any number of operands: sourceAt(q) gives operand q of `arity`
  /// and is asked again and again, so that no memory is needed for many.
  template <typename SourceAt>
  COIL_DEVICE void reduceMany(Place destination, u32 length, Ending ending, u32 location, u32 arity,
                              SourceAt sourceAt) {
    if (divides(ending))
      combineMany<Operator>(destination, length, location, arity, sourceAt);
    else
      combineMany<Undivided<Operator>>(destination, length, location, arity, sourceAt);
  }
  COIL_DEVICE void reduceMany(Place destination, u32 length, Ending ending, u32 location,
                              const Source *sources, u32 arity) {
    reduceMany(destination, length, ending, location, arity, [=](u32 q) { return sources[q]; });
  }

  /// Waits for a free slot of a staged channel and sends `source`, which is no head.
  COIL_DEVICE void push(u32 sendEnd, u32 length, Source source, u32 location) {
    if (failed)
      return;
    failed = syncBlockOr(threadIndex() == 0 && !awaitRoom(sendEnd, location));
    if (failed)
      return;
    LocalSendEnd &end = localSend(sendEnd);
    const BlockFacts &facts = blockFacts();
    u8 *slot = end.slots + end.slot * facts.slotStride;
    u64 message = end.ordinal + 1, count = tiling().size(length);
    bool scales = Operator::scales && source.kind == Source::OwnInput;
    if constexpr (protocol == Protocol::Simple) {
      u32 payload = simplePayload(source.address);
      copyMemory<Element, Operator>(slot + payload, source.address, scales, count, terms());
      syncBlock();
      if (threadIndex() == 0)
        postSimple(slot, message, facts.fingerprint, payload);
    } else if constexpr (protocol == Protocol::Ll) {
      if (threadIndex() == 0)
        postLl(slot, message, facts.fingerprint);
      bool cleans = end.lap % llCleaningPeriod == 0;
      fillLl<Element, Operator>(slot + slotHeaderBytes, message, source.address, scales, count,
                                cleans ? (facts.slotStride - slotHeaderBytes) / sizeof(Pair) : 0,
                                terms());
      syncBlock();
    } else {
      if (threadIndex() < 32)
        postLl128(slot, message, facts.fingerprint);
      fillLl128<Element, Operator>(slot + slotHeaderBytes, message, source.address, scales, count,
                                   terms());
      syncBlock();
    }
    if (threadIndex() == 0) {
      end.ordinal = message;
      bool wraps = end.slot + 1 == end.slotCount;
      end.slot = wraps ? 0 : end.slot + 1;
      end.lap += wraps;
    }
  }

  /// destination := the next message of a staged channel.
  COIL_DEVICE void pop(Place destination, u32 length, u32 receiveEnd, u32 location) {
    const Source list[] = {head(receiveEnd)};
    combine<CopyFor<Operator>>(destination, length, location, list);
  }

  //===--------------------------------------------------------------------===//
  // Order
  //===--------------------------------------------------------------------===//

  /// Tells the other end of a p2p channel that all earlier operations of this
  /// worker are done.
  COIL_DEVICE void signal(u32 sendEnd) {
    if (failed || threadIndex() != 0)
      return;
    LocalSendEnd &end = localSend(sendEnd);
    storeRelease<Scope::System>(end.counter, ++end.ordinal);
  }

  /// Waits for the next signal of a p2p channel.
  COIL_DEVICE void wait(u32 receiveEnd, u32 location) {
    if (failed)
      return;
    bool ended = false;
    if (threadIndex() == 0) {
      LocalReceiveEnd &end = localReceive(receiveEnd);
      Obstacle obstacle = {location, end.peer, receiveEnd, ++end.ordinal};
      ended = awaitCounter<Scope::System>(blockFacts(), end.counter, obstacle) == 0;
    }
    failed = syncBlockOr(ended);
  }

  /// Waits until another rank has entered this call.
  COIL_DEVICE void meet(u32 rank, u32 location) {
    if (failed)
      return;
    bool ended = false;
    if (threadIndex() == 0) {
      const EntryRecord &record = blockFacts().state->entries[rank];
      Obstacle obstacle = {location, rank, noChannel, runningCall(*blockFacts().state)};
      u64 entered = awaitCounter<Scope::System>(blockFacts(), &record.call, obstacle);
      ended = entered == 0;
      // A rank that is further on was in this call; its record is a later one's.
      if (entered == obstacle.expected)
        ended = !agree(blockFacts(), loadData<u64>(&record.fingerprint), obstacle);
    }
    failed = syncBlockOr(ended);
  }

  /// Makes `slot` the buffers of a rank that this rank has met: by this worker, or
  /// ordered before. `inputSegments` and `outputSegments` are the segments of them
  /// that the worker uses, which must lie in memory that the rank has registered; of
  /// a buffer with none only the beginning is checked. The location is of the
  /// operation that needs them.
  COIL_DEVICE void bind(u32 slot, u32 rank, u32 inputSegments = 0, u32 outputSegments = 0,
                        u32 location = 0) {
    if (failed)
      return;
    bool ended = false;
    if (threadIndex() == 0) {
      const EntryRecord &record = blockFacts().state->entries[rank];
      PeerBuffers &peer = boundPeer(slot);
      Obstacle obstacle = {location, rank, noChannel, 0};
      ended = !findBuffer(record.input, inputSegments, peer.input, obstacle) ||
              !findBuffer(record.output, outputSegments, peer.output, obstacle);
    }
    failed = syncBlockOr(ended);
  }

  /// Waits until all workers of this rank and instance are here.
  COIL_DEVICE void barrier(u32 location) {
    if (failed)
      return;
    bool ended = false;
    if (threadIndex() == 0) {
      const BlockFacts &facts = blockFacts();
      // Variants with other numbers of workers count apart.
      u64 *arrivals = facts.state->barriers +
                      (u64(facts.workers - 1) * facts.state->instances + facts.instance);
      u64 before = addAcquireRelease<Scope::Device>(arrivals, 1);
      u64 goal = (before / facts.workers + 1) * facts.workers;
      Obstacle obstacle = {location, facts.rank, noChannel, goal};
      ended = awaitCounter<Scope::Device>(blockFacts(), arrivals, obstacle) == 0;
    }
    failed = syncBlockOr(ended);
  }

  /// Ends the worker's program. Nothing may follow.
  COIL_DEVICE void finish() { leaveCall(launch); }

private:
  COIL_DEVICE Tiling tiling() const {
    const BlockFacts &facts = blockFacts();
    return Tiling(facts.count, chunks, facts.shortChunk, facts.longChunks, facts.tileElements,
                  tile * facts.tileElements);
  }
  COIL_DEVICE u64 byteOf(u32 chunk, u32 segment) const {
    return tiling().first(chunk, segment) * sizeof(Element);
  }

  COIL_DEVICE const Terms<Element> &terms() const { return termsOf<Element>(blockFacts()); }

  /// Whether a statement divides; a compile-time `false` for most operators.
  COIL_DEVICE bool divides(Ending ending) const {
    return Operator::divides && ending == Complete && blockFacts().ranks > 1;
  }

  template <typename Statement, u32 arity>
  COIL_DEVICE void combine(Place destination, u32 length, u32 location,
                           const Source (&list)[arity]) {
    auto sourceAt = [&](u32 q) { return list[q]; };
    if (failed || !awaitHeads(location, arity, sourceAt))
      return;
    u64 count = tiling().size(length);
    if constexpr (protocol == Protocol::Simple) {
      Operands<arity> operands = {};
      COIL_UNROLL
      for (u32 q = 0; q < arity; ++q) {
        operands.address[q] = addressOf(list[q]);
        operands.own |= u32(list[q].kind == Source::OwnInput) << q;
      }
      reduceMemory<Element, Statement>(destination.address, operands, count, terms());
      syncBlock();
    } else {
      PacketOperands<arity> operands;
      operands.location = location;
      COIL_UNROLL
      for (u32 q = 0; q < arity; ++q)
        operands.list[q] = packetOperand(list[q]);
      bool whole;
      if constexpr (protocol == Protocol::Ll)
        whole = reduceLl<Element, Statement>(blockFacts(), destination.address, operands, count,
                                             terms());
      else
        whole = reduceLl128<Element, Statement>(blockFacts(), destination.address, operands, count,
                                                terms());
      failed = syncBlockOr(!whole);
    }
    freeHeads(arity, sourceAt);
  }

  template <typename Statement, typename SourceAt>
  COIL_DEVICE void combineMany(Place destination, u32 length, u32 location, u32 arity,
                               SourceAt sourceAt) {
    if (failed || !awaitHeads(location, arity, sourceAt))
      return;
    u64 count = tiling().size(length);
    if constexpr (protocol == Protocol::Simple) {
      reduceManyMemory<Element, Statement>(
          destination.address, arity,
          [&](u32 q) {
            Source source = sourceAt(q);
            return Operand{addressOf(source), source.kind == Source::OwnInput};
          },
          count, terms());
      syncBlock();
    } else {
      auto operandAt = [&](u32 q) { return packetOperand(sourceAt(q)); };
      bool whole;
      if constexpr (protocol == Protocol::Ll)
        whole = reduceManyLl<Element, Statement>(blockFacts(), destination.address, arity,
                                                 operandAt, location, count, terms());
      else
        whole = reduceManyLl128<Element, Statement>(blockFacts(), destination.address, arity,
                                                    operandAt, location, count, terms());
      failed = syncBlockOr(!whole);
    }
    freeHeads(arity, sourceAt);
  }

  COIL_DEVICE const u8 *slotOf(const LocalReceiveEnd &end) const {
    return end.slots + end.slot * blockFacts().slotStride;
  }

  /// An operand's elements; a message has arrived. Simple protocol.
  COIL_DEVICE const u8 *addressOf(const Source &source) const {
    if (source.kind != Source::Head)
      return source.address;
    const LocalReceiveEnd &end = localReceive(source.end);
    return slotOf(end) + end.payload;
  }

  COIL_DEVICE PacketOperand packetOperand(const Source &source) const {
    if (source.kind != Source::Head)
      return {source.address, 0, 0, 0, source.kind == Source::OwnInput};
    const LocalReceiveEnd &end = localReceive(source.end);
    return {slotOf(end) + slotHeaderBytes, end.ordinal + 1, end.peer, source.end, false};
  }

  /// By thread 0: waits until the end's next slot is free. False if the wait gave up.
  COIL_DEVICE bool awaitRoom(u32 sendEnd, u32 location) const {
    LocalSendEnd &end = localSend(sendEnd);
    if (end.ordinal < end.freedSeen + end.slotCount)
      return true;
    u64 needed = end.ordinal + 1 - end.slotCount;
    if (needed == 0)
      return true;
    end.freedSeen =
        awaitCounter<Scope::System>(blockFacts(), end.freed, {location, end.peer, sendEnd, needed});
    return end.freedSeen != 0;
  }

  /// Waits for the messages among the operands. False if that failed.
  template <typename SourceAt>
  COIL_DEVICE bool awaitHeads(u32 location, u32 arity, SourceAt sourceAt) {
    bool any = false;
    for (u32 q = 0; q < arity; ++q)
      any |= sourceAt(q).kind == Source::Head;
    if (!any)
      return true;
    bool ended = false;
    // A line is a warp's; else thread 0 polls.
    if (threadIndex() < (protocol == Protocol::Ll128 ? 32 : 1)) {
      if constexpr (protocol == Protocol::Ll128)
        syncWarp(); // thread 0 may have changed the ends
      for (u32 q = 0; q < arity && !ended; ++q)
        if (sourceAt(q).kind == Source::Head)
          ended = !awaitMessage(sourceAt(q).end, location);
    }
    failed = syncBlockOr(ended);
    return !failed;
  }

  COIL_DEVICE bool awaitMessage(u32 receiveEnd, u32 location) const {
    LocalReceiveEnd &end = localReceive(receiveEnd);
    Obstacle obstacle = {location, end.peer, receiveEnd, end.ordinal + 1};
    if constexpr (protocol == Protocol::Simple)
      return awaitSimple(blockFacts(), end, slotOf(end), obstacle);
    else if constexpr (protocol == Protocol::Ll)
      return awaitLl(blockFacts(), slotOf(end), obstacle);
    else
      return awaitLl128(blockFacts(), slotOf(end), obstacle);
  }

  /// Frees the messages among the operands, which the block has read.
  template <typename SourceAt> COIL_DEVICE void freeHeads(u32 arity, SourceAt sourceAt) const {
    if (failed || threadIndex() != 0)
      return;
    for (u32 q = 0; q < arity; ++q) {
      Source source = sourceAt(q);
      if (source.kind != Source::Head)
        continue;
      LocalReceiveEnd &end = localReceive(source.end);
      storeRelease<Scope::System>(end.freed, ++end.ordinal);
      end.slot = end.slot + 1 == end.slotCount ? 0 : end.slot + 1;
    }
  }

  /// By thread 0: a peer's buffer as this device reaches it; null if it has none and
  /// none is needed. False, and reported, if `segments` of it are not all there.
  COIL_DEVICE bool findBuffer(const WindowPlace &place, u32 segments, u8 *&buffer,
                              const Obstacle &obstacle) const {
    const RankState &state = *blockFacts().state;
    u32 number = loadData<u32>(&place.window);
    u64 offset = loadData<u64>(&place.offset), needed = segments * launch.count * sizeof(Element);
    buffer = nullptr;
    if (number == 0 && needed == 0)
      return true;
    if (number != 0 && number <= state.windowCount) {
      const Window &window = state.windows[u64(number - 1) * state.ranks + obstacle.peer];
      if (window.base != nullptr && offset <= window.bytes && needed <= window.bytes - offset) {
        buffer = window.base + offset;
        return true;
      }
    }
    Obstacle missing = obstacle;
    missing.expected = needed;
    giveUp(blockFacts(), FailureKind::BadWindow, missing, number);
    return false;
  }

  const Launch &launch;
  const u32 chunks;
  u64 tile;
  bool failed = false; ///< the same in all threads of the block
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_WORKER_H
