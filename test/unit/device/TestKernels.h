//===- TestKernels.h - Programs for Worker, by hand -------------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_DEVICE_TESTKERNELS_H
#define COIL_TEST_UNIT_DEVICE_TESTKERNELS_H

#include "runtime/kernels/device/Worker.h"

namespace coil::test {

using namespace coil::device;

/// All-reduce on a ring of any size: staged, one channel to the right. Chunk c is
/// combined at ranks c, c + 1, ... in this order.
template <typename Element, typename Operator, Protocol protocol>
COIL_KERNEL void ringAllReduce(COIL_GRID_CONSTANT const Launch launch) {
  const u32 ranks = launch.ranks[0].state->ranks;
  Worker<Element, Operator, protocol> worker(launch, ranks);
  const u32 rank = worker.rank();
  while (worker.nextTile()) {
    worker.push(0, rank, worker.input(rank), 1);
    for (u32 step = 1; step < ranks; ++step) {
      u32 chunk = (rank + ranks - step) % ranks;
      worker.reduce(worker.output(chunk), chunk, step + 1 == ranks ? Complete : Keep, 2,
                    worker.head(0), worker.input(chunk));
      worker.push(0, chunk, worker.output(chunk), 3);
    }
    for (u32 step = 0; step + 1 < ranks; ++step) {
      u32 chunk = (rank + ranks - step) % ranks;
      worker.pop(worker.output(chunk), chunk, 0, 4);
      if (step + 2 < ranks)
        worker.push(0, chunk, worker.output(chunk), 5);
    }
  }
  worker.finish();
}

/// All-reduce by direct access: every rank combines its own chunk of all inputs in
/// rank order, and fetches the others. Channels: to rank + 1, rank + 2, ...
template <typename Element, typename Operator>
COIL_KERNEL void directAllReduce(COIL_GRID_CONSTANT const Launch launch) {
  const u32 ranks = launch.ranks[0].state->ranks;
  Worker<Element, Operator, Protocol::Simple> worker(launch, ranks);
  const u32 rank = worker.rank();
  for (u32 step = 1; step < ranks; ++step) {
    worker.meet((rank + step) % ranks, 1);
    worker.bind(step - 1, (rank + step) % ranks, 1, 1, 0);
  }
  while (worker.nextTile()) {
    auto inputOf = [&](u32 other) {
      return other == rank ? worker.input(rank)
                           : worker.peerInput((other + ranks - rank - 1) % ranks, rank);
    };
    worker.reduceMany(worker.output(rank), rank, Complete, 2, ranks, inputOf);
    for (u32 step = 1; step < ranks; ++step)
      worker.signal(step - 1);
    for (u32 step = 1; step < ranks; ++step) {
      u32 other = (rank + step) % ranks;
      worker.wait(ranks - 1 - step, 3); // the channel from there
      worker.copy(worker.output(other), other, worker.peerOutput(step - 1, other));
    }
  }
  // Nobody leaves while its buffers are read.
  for (u32 step = 1; step < ranks; ++step)
    worker.signal(step - 1);
  for (u32 step = 1; step < ranks; ++step)
    worker.wait(step - 1, 4);
  worker.finish();
}

/// All-reduce by messages from all to all: one statement has all as operands.
template <typename Element, typename Operator, Protocol protocol, bool many>
COIL_KERNEL void messagesAllReduce(COIL_GRID_CONSTANT const Launch launch) {
  const u32 ranks = launch.ranks[0].state->ranks; // 4
  Worker<Element, Operator, protocol> worker(launch, ranks);
  const u32 rank = worker.rank();
  while (worker.nextTile()) {
    for (u32 step = 1; step < ranks; ++step)
      worker.push(step - 1, (rank + step) % ranks, worker.input((rank + step) % ranks), 1);
    if (many) {
      Place places[4];
      places[0] = worker.input(rank);
      for (u32 q = 1; q < 4; ++q)
        places[q] = worker.head(q - 1);
      worker.reduceMany(worker.output(rank), rank, Complete, 2, places);
    } else {
      worker.reduce(worker.output(rank), rank, Complete, 2, worker.input(rank), worker.head(0),
                    worker.head(1), worker.head(2));
    }
    for (u32 step = 1; step < ranks; ++step)
      worker.push(step - 1, rank, worker.output(rank), 3);
    for (u32 step = 1; step < ranks; ++step) {
      u32 end = ranks - 1 - step; // the channel from rank + step
      worker.pop(worker.output((rank + step) % ranks), (rank + step) % ranks, end, 4);
    }
  }
  worker.finish();
}

/// Two workers fill a half of scratch each, and read the other's behind a barrier.
template <typename Element>
COIL_KERNEL void exchangeAtBarrier(COIL_GRID_CONSTANT const Launch launch) {
  Worker<Element, Sum, Protocol::Simple> worker(launch, 2);
  const u32 mine = worker.index(), other = 1 - mine;
  while (worker.nextTile()) {
    worker.copy(worker.scratch(mine), mine, worker.input(mine));
    worker.barrier(1);
    worker.copy(worker.output(other), other, worker.scratch(other));
    worker.barrier(2);
  }
  worker.finish();
}

} // namespace coil::test

#endif // COIL_TEST_UNIT_DEVICE_TESTKERNELS_H
