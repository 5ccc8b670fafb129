//===- WorkerTest.cpp - Whole kernels in the emulation --------------------===//

#include "runtime/kernels/cpu/Reduce.h"
#include "test/unit/device/DeviceRanks.h"
#include "test/unit/device/ElementTypes.h"
#include "test/unit/device/TestKernels.h"
#include "test/unit/emulation/Support.h"

#include <cstring>
#include <thread>

namespace coil::test {
namespace {

using emulation::HasNoProblem;

/// Channels to rank + 1, rank + 2, ..., as many as `most`: send end step - 1 goes to
/// rank + step, and receive end step - 1 comes from rank - step.
std::vector<std::pair<u32, u32>> channelsToNext(u32 ranks, u32 most) {
  std::vector<std::pair<u32, u32>> channels;
  for (u32 step = 1; step <= most; ++step)
    for (u32 rank = 0; rank < ranks; ++rank)
      channels.push_back({rank, (rank + step) % ranks});
  return channels;
}

/// Buffers of small integers, whose sums all types hold exactly, at addresses that
/// are `offset` elements from alignment.
template <typename Element> class Buffers {
public:
  Buffers(u32 ranks, u64 count, u64 offset) : count(count) {
    for (u32 rank = 0; rank < ranks; ++rank) {
      memory.emplace_back((2 * (count + offset) + 32) * sizeof(Element));
      Element *base = memory.back().template as<Element>();
      inputs.push_back(base + offset);
      outputs.push_back(base + offset + count + 16);
      windows.push_back(
          {reinterpret_cast<u8 *>(base), (2 * (count + offset) + 32) * sizeof(Element)});
      for (u64 i = 0; i < count; ++i)
        cpu::fromDouble(typeOf<Element>, value(rank, i),
                        static_cast<Element *>(const_cast<void *>(inputs[rank])) + i);
    }
  }

  static int value(u32 rank, u64 index) { return static_cast<int>((rank * 7 + index * 3) % 4); }
  int sum(u64 index) const {
    int result = 0;
    for (u32 rank = 0; rank < inputs.size(); ++rank)
      result += value(rank, index);
    return result;
  }

  void clearOutputs() {
    for (void *output : outputs)
      std::memset(output, 0x55, count * sizeof(Element));
  }
  /// Empty if every element of every output is `expected(index)`, and nothing behind
  /// an output was written.
  template <typename Expected> std::string check(Expected expected) const {
    for (u32 rank = 0; rank < outputs.size(); ++rank) {
      const Element *output = static_cast<const Element *>(outputs[rank]);
      for (u64 i = 0; i < count; ++i) {
        double found = cpu::toDouble(typeOf<Element>, output + i);
        if (found != expected(i))
          return "rank " + std::to_string(rank) + ", element " + std::to_string(i) + ": expected " +
                 std::to_string(expected(i)) + ", found " + std::to_string(found);
      }
      for (u64 i = 0; i < 16 * sizeof(Element); ++i)
        if (reinterpret_cast<const u8 *>(output + count)[i] != 0)
          return "rank " + std::to_string(rank) + " wrote behind its output";
    }
    return "";
  }

  const u64 count;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  std::vector<Window> windows;

private:
  std::deque<ZeroedMemory> memory;
};

template <typename Element> CallOptions callOn(Buffers<Element> &buffers, u32 chunks) {
  CallOptions call;
  call.count = buffers.count;
  call.elementBytes = sizeof(Element);
  call.chunks = chunks;
  call.inputs = buffers.inputs;
  call.outputs = buffers.outputs;
  return call;
}

template <typename Element, Protocol protocol>
void testRing(u32 ranks, u32 instances, u64 count, u64 offset, u64 firstOrdinal = 0,
              int calls = 3) {
  SCOPED_TRACE(testing::Message() << ranks << " ranks, " << instances << " instances, " << count
                                  << " elements, offset " << offset << ", protocol "
                                  << static_cast<u32>(protocol));
  Buffers<Element> buffers(ranks, count, offset);
  DeviceRanks machine({.ranks = ranks,
                       .instances = instances,
                       .protocol = protocol,
                       .tileBytes = 256,
                       .firstOrdinal = firstOrdinal},
                      channelsToNext(ranks, 1));
  for (int i = 0; i < calls; ++i) {
    buffers.clearOutputs();
    ASSERT_THAT(machine.call(ringAllReduce<Element, Sum, protocol>, callOn(buffers, ranks)),
                HasNoProblem());
    ASSERT_EQ(buffers.check([&](u64 index) { return double(buffers.sum(index)); }), "");
    ASSERT_EQ(machine.state(0).calls, u64(i + 1));
    ASSERT_EQ(machine.board(0).finishedCalls, u64(i + 1));
  }
}

template <typename Element> void testRingAllProtocols(u32 ranks, u64 count, u64 offset) {
  testRing<Element, Protocol::Simple>(ranks, 2, count, offset);
  testRing<Element, Protocol::Ll>(ranks, 2, count, offset);
  testRing<Element, Protocol::Ll128>(ranks, 2, count, offset);
}

TEST(WorkerTest, RingSumsUnderTracking) {
  emulation::TrackingScope tracking;
  for (u64 count : {0, 1, 7, 500})
    testRingAllProtocols<float>(3, count, 1);
}

TEST(WorkerTest, RingSumsAllSizesOfElements) {
  testRingAllProtocols<Float8E4M3>(2, 1501, 3);
  testRingAllProtocols<BFloat16>(2, 777, 1);
  testRingAllProtocols<Half>(4, 1000, 0);
  testRingAllProtocols<i32>(5, 1203, 2);
  testRingAllProtocols<double>(2, 301, 1);
  testRingAllProtocols<u8>(3, 4099, 5);
}

TEST(WorkerTest, OrdinalsBeyond32Bits) {
  u64 first = (u64(1) << 32) - 5;
  testRing<float, Protocol::Simple>(2, 1, 300, 0, first);
  testRing<float, Protocol::Ll128>(2, 1, 300, 0, first);
}

TEST(WorkerTest, DirectAccessUnderTracking) {
  emulation::TrackingScope tracking;
  for (u64 count : {1, 30, 400}) {
    Buffers<float> buffers(3, count, 1);
    DeviceRanks machine({.ranks = 3, .instances = 2, .tileBytes = 256}, channelsToNext(3, 2));
    machine.setWindow(buffers.windows);
    for (int i = 0; i < 3; ++i) {
      buffers.clearOutputs();
      ASSERT_THAT(machine.call(directAllReduce<float, Sum>, callOn(buffers, 3)), HasNoProblem());
      ASSERT_EQ(buffers.check([&](u64 index) { return double(buffers.sum(index)); }), "");
    }
  }
}

TEST(WorkerTest, AverageAndScaledSum) {
  Buffers<i32> buffers(3, 100, 0);
  DeviceRanks machine({.ranks = 3}, channelsToNext(3, 2));
  machine.setWindow(buffers.windows);
  CallOptions call = callOn(buffers, 3);
  ASSERT_THAT(machine.call(directAllReduce<i32, Avg>, call), HasNoProblem());
  EXPECT_EQ(buffers.check([&](u64 index) { return double(buffers.sum(index) / 3); }), "");

  call.scalar = 5;
  DeviceRanks staged({.ranks = 3, .protocol = Protocol::Ll}, channelsToNext(3, 1));
  ASSERT_THAT(staged.call(ringAllReduce<i32, PreMulSum, Protocol::Ll>, call), HasNoProblem());
  EXPECT_EQ(buffers.check([&](u64 index) { return double(buffers.sum(index) * 5); }), "");
}

template <Protocol protocol, bool many> void testMessages() {
  emulation::TrackingScope tracking;
  Buffers<BFloat16> buffers(4, 333, 1);
  DeviceRanks machine({.ranks = 4, .instances = 2, .protocol = protocol, .tileBytes = 128},
                      channelsToNext(4, 3));
  for (int i = 0; i < 2; ++i) {
    buffers.clearOutputs();
    ASSERT_THAT(machine.call(messagesAllReduce<BFloat16, Max, protocol, many>, callOn(buffers, 4)),
                HasNoProblem());
    EXPECT_EQ(buffers.check([&](u64 index) {
      int most = 0;
      for (u32 rank = 0; rank < 4; ++rank)
        most = std::max(most, buffers.value(rank, index));
      return double(most);
    }),
              "");
  }
}

TEST(WorkerTest, ManyMessagesInOneStatement) {
  testMessages<Protocol::Simple, false>();
  testMessages<Protocol::Simple, true>();
  testMessages<Protocol::Ll, false>();
  testMessages<Protocol::Ll, true>();
  testMessages<Protocol::Ll128, false>();
  testMessages<Protocol::Ll128, true>();
}

TEST(WorkerTest, WorkersMeetAtBarriers) {
  emulation::TrackingScope tracking;
  Buffers<float> buffers(1, 501, 0);
  DeviceRanks machine({.ranks = 1, .instances = 2, .scratchChunks = 2, .workers = 2}, {});
  for (int i = 0; i < 3; ++i) {
    buffers.clearOutputs();
    ASSERT_THAT(machine.call(exchangeAtBarrier<float>, callOn(buffers, 2)), HasNoProblem());
    EXPECT_EQ(buffers.check([&](u64 index) { return double(buffers.sum(index)); }), "");
  }
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

template <Protocol protocol> FailureReport missingPeer(u64 timeout, bool abort) {
  Buffers<float> buffers(2, 300, 0);
  DeviceRanks machine({.ranks = 2, .instances = 2, .protocol = protocol}, channelsToNext(2, 1));
  machine.present[1] = false;
  CallOptions call = callOn(buffers, 2);
  call.timeoutNanoseconds = timeout;
  std::thread aborter;
  if (abort)
    aborter = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      __atomic_store_n(&machine.board(0).abort, 1, __ATOMIC_RELEASE);
    });
  EXPECT_THAT(machine.call(ringAllReduce<float, Sum, protocol>, call), HasNoProblem());
  if (abort)
    aborter.join();
  EXPECT_EQ(machine.board(0).abort, 1u);
  EXPECT_EQ(machine.board(0).finishedCalls, 1u);
  return machine.board(0).report;
}

template <Protocol protocol> void testMissingPeer() {
  FailureReport report = missingPeer<protocol>(20'000'000, false);
  EXPECT_EQ(report.kind, FailureKind::TimedOut);
  EXPECT_EQ(report.worker, 0u);
  EXPECT_LT(report.instance, 2u);
  EXPECT_EQ(report.location, 2u);
  EXPECT_EQ(report.peer, 1u);
  EXPECT_EQ(report.channel, 0u);
  EXPECT_EQ(report.expected, 1u);
  EXPECT_EQ(missingPeer<protocol>(0, true).kind, FailureKind::Aborted);
}

TEST(WorkerFailureTest, MissingPeerEndsTheKernel) {
  testMissingPeer<Protocol::Simple>();
  testMissingPeer<Protocol::Ll>();
  testMissingPeer<Protocol::Ll128>();
}

template <Protocol protocol> void testDisagreement() {
  Buffers<float> buffers(2, 300, 0);
  DeviceRanks machine({.ranks = 2, .protocol = protocol}, channelsToNext(2, 1));
  machine.fingerprints = {5, 0x6'0000'0007};
  CallOptions call = callOn(buffers, 2);
  call.timeoutNanoseconds = 50'000'000;
  EXPECT_THAT(machine.call(ringAllReduce<float, Sum, protocol>, call), HasNoProblem());
  const FailureReport &report = machine.board(0).report;
  EXPECT_EQ(report.kind, FailureKind::Disagreement);
  EXPECT_EQ(report.peer, 1u);
  EXPECT_EQ(report.expected, 5u);
  EXPECT_EQ(report.found, 0x6'0000'0007u);
}

TEST(WorkerFailureTest, MessagesOfAnotherCallAreRefused) {
  testDisagreement<Protocol::Simple>();
  testDisagreement<Protocol::Ll>();
  testDisagreement<Protocol::Ll128>();
}

TEST(WorkerFailureTest, MeetingComparesFingerprints) {
  Buffers<float> buffers(2, 10, 0);
  DeviceRanks machine({.ranks = 2}, channelsToNext(2, 1));
  machine.setWindow(buffers.windows);
  machine.fingerprints = {5, 6};
  EXPECT_THAT(machine.call(directAllReduce<float, Sum>, callOn(buffers, 2)), HasNoProblem());
  for (u32 rank = 0; rank < 2; ++rank) {
    const FailureReport &report = machine.board(rank).report;
    EXPECT_EQ(report.kind, FailureKind::Disagreement);
    EXPECT_EQ(report.location, 1u);
    EXPECT_EQ(report.peer, 1 - rank);
    EXPECT_EQ(report.expected, 5u + rank);
    EXPECT_EQ(report.found, 6u - rank);
  }
}

TEST(WorkerFailureTest, BuffersOutsideOfWindows) {
  Buffers<float> buffers(2, 10, 0);
  DeviceRanks machine({.ranks = 2}, channelsToNext(2, 1));
  std::vector<Window> windows = buffers.windows;
  // Rank 1's output ends one byte behind its window.
  windows[1].bytes = static_cast<u64>(static_cast<u8 *>(buffers.outputs[1]) - windows[1].base) + 39;
  machine.setWindow(windows);
  CallOptions call = callOn(buffers, 2);
  call.timeoutNanoseconds = 50'000'000;
  EXPECT_THAT(machine.call(directAllReduce<float, Sum>, call), HasNoProblem());
  const FailureReport &report = machine.board(0).report;
  EXPECT_EQ(report.kind, FailureKind::BadWindow);
  EXPECT_EQ(report.peer, 1u);
  EXPECT_EQ(report.expected, 40u);
}

} // namespace
} // namespace coil::test
