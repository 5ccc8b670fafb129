//===- ProxyQueueTest.cpp - Requests to a proxy, in the emulation ---------===//

#include "runtime/kernels/device/ProxyQueue.h"
#include "test/unit/device/DeviceRanks.h"
#include "test/unit/emulation/Support.h"

#include <thread>

namespace coil::test {
namespace {

using namespace coil::device;
using emulation::HasNoProblem;
using emulation::HasProblem;

TEST(ProxyRequestTest, HoldsEveryFieldAtItsLimits) {
  for (u32 kind = 0; kind < numProxyKinds; ++kind)
    for (u64 number : {1, 4, 5, 8, 9}) {
      ProxyRequest request = {static_cast<ProxyKind>(kind), ProxySide::Receiving, ~0u - kind,
                              ~0u - 7, proxyBytesLimit - 1 - kind};
      ProxyEntry entry = packRequest(request, number, 4);
      ProxyRequest found = unpackRequest(entry);
      EXPECT_EQ(found.kind, request.kind);
      EXPECT_EQ(found.side, request.side);
      EXPECT_EQ(found.end, request.end);
      EXPECT_EQ(found.slot, request.slot);
      EXPECT_EQ(found.bytes, request.bytes);
      EXPECT_TRUE(hasArrived(entry.second, number, 4));
      EXPECT_FALSE(hasArrived(entry.second, number + 4, 4));
    }
  EXPECT_FALSE(hasArrived(0, 1, 4)) << "zeroed memory is empty";
}

/// A queue of device 0, and what its workers and its taker share.
struct Machine {
  explicit Machine(u64 capacity, u32 blocks)
      : memory(2048 + capacity * sizeof(ProxyEntry) + blocks * 2 * sizeof(u64)) {
    u8 *bytes = memory.as<u8>();
    board = reinterpret_cast<HostBoard *>(bytes);
    done = reinterpret_cast<u64 *>(bytes + 512);
    queue = {reinterpret_cast<ProxyEntry *>(bytes + 1024), capacity,
             reinterpret_cast<u64 *>(bytes + 640), reinterpret_cast<u64 *>(bytes + 768), done};
    slots = reinterpret_cast<u64 *>(queue.entries + capacity);
  }

  BlockFacts facts() const {
    BlockFacts facts = {};
    facts.board = board;
    facts.worker = blockIndex();
    facts.timeoutNanoseconds = timeout;
    return facts;
  }

  ZeroedMemory memory;
  HostBoard *board;
  u64 *done;
  ProxyQueue queue;
  u64 *slots; ///< two of each block
  u64 timeout = 0;
};

u64 contentOf(u32 block, u64 round) { return u64(block) << 32 | (round + 1); }

/// Every block fills its two slots in turn and has the proxy move them. All threads.
void pushRounds(Machine &machine, u64 rounds, bool awaitsLast) {
  const BlockFacts facts = machine.facts();
  u64 numbers[2] = {0, 0};
  for (u64 round = 0; round < rounds; ++round) {
    u32 slot = round % 2;
    // A slot is filled again once the proxy is done with it.
    bool ended = threadIndex() == 0 && numbers[slot] != 0 &&
                 !awaitRequest(facts, machine.queue, numbers[slot], {1, 5, slot, 0});
    if (syncBlockOr(ended))
      return;
    if (threadIndex() == 31)
      storeData<u64>(&machine.slots[blockIndex() * 2 + slot], contentOf(blockIndex(), round));
    syncBlock();
    if (threadIndex() == 0)
      numbers[slot] =
          pushRequest(facts, machine.queue,
                      {ProxyKind::PutSignal, ProxySide::Sending, blockIndex(), slot, 8 + round},
                      {2, 5, slot, 0});
    if (syncBlockOr(threadIndex() == 0 && numbers[slot] == 0))
      return;
  }
  if (awaitsLast && threadIndex() == 0)
    awaitRequest(facts, machine.queue, numbers[(rounds - 1) % 2], {3, 5, noChannel, 0});
}

/// The proxy's part, by one thread of another device: takes so many requests and
/// completes them one behind, so that some are always under way.
void takeRequests(Machine &machine, u64 requests, u64 blocks, u64 &mistakes) {
  std::vector<u64> rounds(blocks);
  for (u64 number = 1; number <= requests; ++number) {
    ProxyEntry &entry = machine.queue.entries[(number - 1) % machine.queue.capacity];
    u64 second;
    while (!hasArrived(second = loadAcquire<Scope::System>(&entry.second), number,
                       machine.queue.capacity))
      pause();
    ProxyRequest request = unpackRequest({loadRelaxed<Scope::System>(&entry.first), second});
    if (request.end >= blocks || request.slot > 1) {
      ++mistakes;
      return;
    }
    u64 round = rounds[request.end]++;
    mistakes += request.kind != ProxyKind::PutSignal || request.side != ProxySide::Sending;
    mistakes += request.slot != round % 2 || request.bytes != 8 + round;
    mistakes += loadData<u64>(&machine.slots[request.end * 2 + request.slot]) !=
                contentOf(request.end, round);
    storeRelease<Scope::System>(machine.done, number);
  }
}

void testQueue(u64 capacity, u32 blocks, u64 rounds) {
  SCOPED_TRACE(testing::Message() << capacity << " entries, " << blocks << " blocks");
  Machine machine(capacity, blocks);
  u64 mistakes = 0;
  std::vector<emulation::KernelLaunch> launches(2);
  launches[0].blocks = blocks;
  launches[0].body = [&] { pushRounds(machine, rounds, true); };
  launches[1].device = 1;
  launches[1].body = [&] {
    if (threadIndex() == 0)
      takeRequests(machine, rounds * blocks, blocks, mistakes);
  };
  EXPECT_THAT(emulation::run(std::move(launches), 60), HasNoProblem());
  EXPECT_EQ(mistakes, 0u);
  EXPECT_EQ(*machine.queue.pushed, rounds * blocks);
  EXPECT_EQ(*machine.done, rounds * blocks);
  EXPECT_EQ(machine.board->report.kind, FailureKind::None);
}

TEST(ProxyQueueTest, ManyBlocksPushAroundASmallQueue) {
  emulation::TrackingScope tracking;
  testQueue(1, 1, 9);
  testQueue(1, 3, 5);
  testQueue(4, 4, 11);
  testQueue(64, 3, 10);
}

TEST(ProxyQueueTest, ManyBlocksPushUntracked) { testQueue(8, 6, 300); }

/// Without awaitRequest() a block changes a slot that the proxy may be reading.
TEST(ProxyQueueTest, TrackingSeesASlotReusedTooSoon) {
  emulation::TrackingScope tracking;
  Machine machine(8, 1);
  std::vector<emulation::KernelLaunch> launches(2);
  launches[0].body = [&] {
    const BlockFacts facts = machine.facts();
    for (u64 round = 0; round < 2 && threadIndex() == 0; ++round) {
      storeData<u64>(machine.slots, contentOf(0, round));
      pushRequest(facts, machine.queue, {ProxyKind::Put, ProxySide::Sending, 0, 0, 8}, {});
    }
  };
  launches[1].device = 1;
  launches[1].body = [&] {
    if (threadIndex() != 0)
      return;
    while (!hasArrived(loadAcquire<Scope::System>(&machine.queue.entries[0].second), 1, 8))
      pause();
    loadData<u64>(machine.slots);
  };
  EXPECT_THAT(emulation::run(std::move(launches), 60), HasProblem(emulation::ProblemKind::Race));
}

/// A block learns from another that the proxy is done with a slot.
TEST(ProxyQueueTest, WhatOneBlockHasSeenAllMayUse) {
  emulation::TrackingScope tracking;
  Machine machine(8, 2);
  std::vector<emulation::KernelLaunch> launches(2);
  launches[0].blocks = 2;
  launches[0].body = [&] {
    const BlockFacts facts = machine.facts();
    if (threadIndex() != 0)
      return;
    if (blockIndex() == 0) {
      u64 number =
          pushRequest(facts, machine.queue, {ProxyKind::Put, ProxySide::Sending, 0, 0, 8}, {});
      awaitRequest(facts, machine.queue, number, {});
      return;
    }
    while (loadRelaxed<Scope::Device>(machine.queue.doneSeen) == 0)
      pause();
    awaitRequest(facts, machine.queue, 1, {});
    storeData<u64>(machine.slots, 1);
  };
  launches[1].device = 1;
  u64 mistakes = 0;
  launches[1].body = [&] {
    if (threadIndex() != 0)
      return;
    while (!hasArrived(loadAcquire<Scope::System>(&machine.queue.entries[0].second), 1, 8))
      pause();
    mistakes += loadData<u64>(machine.slots) != 0;
    storeRelease<Scope::System>(machine.done, 1);
  };
  EXPECT_THAT(emulation::run(std::move(launches), 60), HasNoProblem());
  EXPECT_EQ(mistakes, 0u);
}

TEST(ProxyQueueTest, AFullQueueTimesOutAndReports) {
  Machine machine(2, 1);
  machine.timeout = 20'000'000;
  std::vector<emulation::KernelLaunch> launches(1);
  u64 last = ~u64(0);
  launches[0].body = [&] {
    const BlockFacts facts = machine.facts();
    for (u64 i = 0; i < 3 && threadIndex() == 0; ++i)
      last = pushRequest(facts, machine.queue, {ProxyKind::Signal, ProxySide::Receiving, 0, 0, 0},
                         {7, 3, 4, 0});
  };
  EXPECT_THAT(emulation::run(std::move(launches), 60), HasNoProblem());
  EXPECT_EQ(last, 0u);
  const FailureReport &report = machine.board->report;
  EXPECT_EQ(report.kind, FailureKind::TimedOut);
  EXPECT_EQ(report.location, 7u);
  EXPECT_EQ(report.peer, 3u);
  EXPECT_EQ(report.channel, 4u);
  EXPECT_EQ(report.expected, 1u);
  EXPECT_EQ(report.found, 0u);
  EXPECT_EQ(machine.board->abort, 1u);
  EXPECT_EQ(machine.queue.entries[0].first, 0u) << "what the host has not taken stays";
}

TEST(ProxyQueueTest, AnAbortEndsTheWaitForARequest) {
  Machine machine(2, 1);
  std::vector<emulation::KernelLaunch> launches(1);
  bool came = true;
  launches[0].body = [&] {
    const BlockFacts facts = machine.facts();
    if (threadIndex() != 0)
      return;
    u64 number = pushRequest(facts, machine.queue, {ProxyKind::Flush, ProxySide::Sending, 0, 0, 0},
                             {8, 1, 0, 0});
    came = awaitRequest(facts, machine.queue, number, {9, 1, 0, 0});
  };
  std::thread aborter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    __atomic_store_n(&machine.board->abort, 1, __ATOMIC_RELEASE);
  });
  EXPECT_THAT(emulation::run(std::move(launches), 60), HasNoProblem());
  aborter.join();
  EXPECT_FALSE(came);
  EXPECT_EQ(machine.board->report.kind, FailureKind::Aborted);
  EXPECT_EQ(machine.board->report.location, 9u);
}

} // namespace
} // namespace coil::test
