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

#include "runtime/kernels/device/Operations.h"

namespace coil::device {

/// Whether a reduction makes its value complete, so that avg divides it.
enum Ending : bool { Keep, Complete };

/// See the file's comment. `Operator` is one of Operators.h; `protocol` is how
/// messages of staged channels lie in slots, and Simple for p2p variants.
template <typename Element, typename Operator, Protocol protocol> class Worker {
public:
  /// `chunks` is the plan's number of chunks a segment.
  COIL_DEVICE Worker(const Launch &launch, u32 chunks) : launch(launch) {
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
    return !hasFailed() && tile < blockFacts().tiles;
  }

  //===--------------------------------------------------------------------===//
  // Places and operands: the current tile of chunk `chunk` of a segment
  //===--------------------------------------------------------------------===//

  COIL_DEVICE static Place input(u32 chunk, u32 segment = 0) {
    return {Place::Input, 0, chunk, segment};
  }
  COIL_DEVICE static Place output(u32 chunk, u32 segment = 0) {
    return {Place::Output, 0, chunk, segment};
  }
  COIL_DEVICE static Place scratch(u32 index) { return {Place::Scratch, 0, index, 0}; }

  /// Of the rank bound to `slot`.
  COIL_DEVICE static Place peerInput(u32 slot, u32 chunk, u32 segment = 0) {
    return {Place::PeerInput, slot, chunk, segment};
  }
  COIL_DEVICE static Place peerOutput(u32 slot, u32 chunk, u32 segment = 0) {
    return {Place::PeerOutput, slot, chunk, segment};
  }
  /// Of any rank; the same instance's.
  COIL_DEVICE static Place peerScratch(u32 rank, u32 index) {
    return {Place::PeerScratch, rank, index, 0};
  }

  /// The message that comes next at a receiving end. A statement that has it as an
  /// operand waits for it, and frees its slot in the end.
  COIL_DEVICE static Place head(u32 receiveEnd) { return {Place::Head, receiveEnd, 0, 0}; }

  //===--------------------------------------------------------------------===//
  // Data. `length` is the chunk that gives the number of elements.
  //===--------------------------------------------------------------------===//

  /// destination := source, which is no head.
  COIL_DEVICE void copy(Place destination, u32 length, Place source) {
    runCopy<Element, Operator>(destination, length, source, tile);
  }

  /// destination := sources, at least one, combined left to right, rounded once.
  template <typename... Sources>
  COIL_DEVICE void reduce(Place destination, u32 length, Ending ending, u32 location,
                          Sources... sources) {
    PlaceList<sizeof...(sources)> list = {{sources...}};
    if (divides(ending))
      combine<Operator>(destination, length, location, list);
    else
      combine<Undivided<Operator>>(destination, length, location, list);
  }

  /// The same for any number of operands: placeAt(q) gives operand q of `arity`
  /// and is asked again and again, so that no memory is needed for many.
  template <typename PlaceAt>
  COIL_DEVICE void reduceMany(Place destination, u32 length, Ending ending, u32 location, u32 arity,
                              PlaceAt placeAt) {
    if (divides(ending))
      runLongStatement<Element, Operator, protocol>(destination, length, arity, placeAt, tile,
                                                    location);
    else
      runLongStatement<Element, Undivided<Operator>, protocol>(destination, length, arity, placeAt,
                                                               tile, location);
  }
  /// The same for operands in an array: quicker for a few, but a thread needs memory
  /// for each.
  template <u32 arity>
  COIL_DEVICE void reduceMany(Place destination, u32 length, Ending ending, u32 location,
                              const Place (&places)[arity]) {
    OperandOf<protocol> operands[arity];
    if (divides(ending))
      runListedStatement<Element, Operator, protocol>(destination, length, places, operands, arity,
                                                      tile, location);
    else
      runListedStatement<Element, Undivided<Operator>, protocol>(destination, length, places,
                                                                 operands, arity, tile, location);
  }

  /// Waits for a free slot of a staged channel and sends `source`, which is no head.
  COIL_DEVICE void push(u32 sendEnd, u32 length, Place source, u32 location) {
    pushMessage<Element, Operator, protocol>(sendEnd, length, source, tile, location);
  }

  /// destination := the next message of a staged channel.
  COIL_DEVICE void pop(Place destination, u32 length, u32 receiveEnd, u32 location) {
    combine<CopyFor<Operator>>(destination, length, location, PlaceList<1>{{head(receiveEnd)}});
  }

  //===--------------------------------------------------------------------===//
  // Order
  //===--------------------------------------------------------------------===//

  /// Tells the other end of a p2p channel that all earlier operations of this
  /// worker are done.
  COIL_DEVICE void signal(u32 sendEnd) { postSignal(sendEnd); }

  /// Waits for the next signal of a p2p channel.
  COIL_DEVICE void wait(u32 receiveEnd, u32 location) { awaitSignal(receiveEnd, location); }

  /// Waits until another rank has entered this call.
  COIL_DEVICE void meet(u32 rank, u32 location) { awaitEntry(rank, location); }

  /// Makes `slot` the buffers of a rank that this rank has met: by this worker, or
  /// ordered before. `inputSegments` and `outputSegments` are the segments of them
  /// that the worker uses, which must lie in memory that the rank has registered; of
  /// a buffer with none only the beginning is checked. The location is of the
  /// operation that needs them.
  COIL_DEVICE void bind(u32 slot, u32 rank, u32 inputSegments, u32 outputSegments, u32 location) {
    bindPeer(slot, rank, inputSegments, outputSegments, sizeof(Element), location);
  }

  /// Waits until all workers of this rank and instance are here.
  COIL_DEVICE void barrier(u32 location) { awaitWorkers(location); }

  /// Ends the worker's program. Nothing may follow.
  COIL_DEVICE void finish() { leaveCall(launch); }

private:
  /// Whether a statement divides: for most operators, no.
  COIL_DEVICE bool divides(Ending ending) const {
    return Operator::divides && ending == Complete && blockFacts().ranks > 1;
  }

  template <typename Statement, u32 arity>
  COIL_DEVICE void combine(Place destination, u32 length, u32 location,
                           const PlaceList<arity> &list) {
    runStatement<Element, Statement, protocol, arity>(destination, length, list, tile, location);
  }

  const Launch &launch;
  u64 tile;
};

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_WORKER_H
