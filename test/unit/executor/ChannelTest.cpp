//===- ChannelTest.cpp - What ranks share in memory -----------------------===//

#include "runtime/channel/Fifo.h"
#include "runtime/channel/Group.h"
#include "runtime/channel/Patience.h"
#include "runtime/channel/PlanSegment.h"
#include "test/unit/api/HandPlans.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <thread>

using namespace coil;
using namespace coil::test;
using ::testing::HasSubstr;

namespace {

/// Zeroed control blocks, as if shared.
struct Blocks {
  explicit Blocks(int ranks) : blocks(new ControlBlock[static_cast<size_t>(ranks)]()) {
    for (int rank = 0; rank < ranks; ++rank) {
      control.push_back(&blocks[static_cast<size_t>(rank)]);
      processIds.push_back(100 + rank);
    }
  }
  Group group(int rank) {
    Group group;
    group.rank = rank;
    group.ranks = static_cast<int>(control.size());
    group.control = control;
    group.processIds = processIds;
    group.isLost = [this](int other) { return other == lost; };
    return group;
  }
  void enter(int rank, uint64_t sequence, const CallArguments &arguments) {
    control[static_cast<size_t>(rank)]->recordOf(sequence).publish(
        sequence, fingerprintOf(sequence, arguments), arguments, {}, {});
  }

  std::unique_ptr<ControlBlock[]> blocks;
  std::vector<ControlBlock *> control;
  std::vector<int> processIds;
  int lost = -1;
};

TEST(CallRecordTest, KeepsEverything) {
  CallArguments arguments{callKind(Collective::Broadcast),
                          DataType::BF16,
                          ReduceOp::Max,
                          true,
                          4000000000,
                          UINT64_MAX - 1,
                          0x123456789abcdef0};
  auto record = std::make_unique<EntryRecord>();
  EXPECT_FALSE(record->isOf(7));
  record->publish(7, 99, arguments, {3, uint64_t{1} << 40}, {UINT32_MAX, 5});
  EXPECT_TRUE(record->isOf(7));
  EXPECT_FALSE(record->isOf(71));
  EXPECT_EQ(record->fingerprint(), 99u);
  EXPECT_EQ(record->arguments(), arguments);
  EXPECT_EQ(record->send().window, 3u);
  EXPECT_EQ(record->send().offset, uint64_t{1} << 40);
  EXPECT_EQ(record->receive().window, UINT32_MAX);
  EXPECT_EQ(record->receive().offset, 5u);
}

TEST(CallRecordTest, EveryArgumentChangesTheFingerprint) {
  CallArguments base;
  std::set<uint64_t> seen{fingerprintOf(1, base), fingerprintOf(2, base)};
  auto add = [&](auto change) {
    CallArguments arguments;
    change(arguments);
    seen.insert(fingerprintOf(1, arguments));
  };
  add([](CallArguments &a) { a.kind = CallKind::LoadPlan; });
  add([](CallArguments &a) { a.type = DataType::F32; });
  add([](CallArguments &a) { a.op = ReduceOp::Avg; });
  add([](CallArguments &a) { a.inPlace = true; });
  add([](CallArguments &a) { a.root = 1; });
  add([](CallArguments &a) { a.count = 1; });
  add([](CallArguments &a) { a.planDigest = 1; });
  EXPECT_EQ(seen.size(), 9u);
}

TEST(CallRecordTest, Describes) {
  CallArguments arguments;
  arguments.type = DataType::F32;
  arguments.count = 1000;
  EXPECT_EQ(describe(arguments), "allreduce of 1000 f32 (sum)");
  arguments.inPlace = true;
  EXPECT_EQ(describe(arguments), "allreduce of 1000 f32 (sum), in place");
  arguments.kind = callKind(Collective::Broadcast);
  arguments.root = 3;
  EXPECT_EQ(describe(arguments), "broadcast of 1000 f32 from root 3, in place");
  arguments.kind = CallKind::Register;
  EXPECT_EQ(describe(arguments), "coilCommRegister");
}

TEST(PoisonTest, TheFirstReasonStays) {
  Blocks blocks(1);
  Poison &poison = blocks.control[0]->poison;
  EXPECT_FALSE(poison.isSet());
  EXPECT_TRUE(poison.status().isOk());
  poison.set(StatusCode::Timeout, std::string(5000, 'x'));
  poison.set(StatusCode::Aborted, "later");
  EXPECT_TRUE(poison.isSet());
  EXPECT_EQ(poison.status().code(), StatusCode::Timeout);
  EXPECT_THAT(poison.status().message(), testing::MatchesRegex("x+"));
}

TEST(PoisonTest, ManyWritersAndReaders) {
  Blocks blocks(1);
  Poison &poison = blocks.control[0]->poison;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      poison.set(StatusCode::RemoteError, fmt::format("writer {}", i));
      EXPECT_EQ(poison.status().code(), StatusCode::RemoteError);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(poison.status().message(), HasSubstr("writer "));
}

TEST(GroupTest, FailTellsAll) {
  Blocks blocks(3);
  Status failure = blocks.group(1).fail({StatusCode::Timeout, "rank 1 waited"});
  EXPECT_EQ(failure.code(), StatusCode::Timeout);
  EXPECT_EQ(blocks.control[1]->poison.status().code(), StatusCode::Timeout);
  EXPECT_EQ(blocks.control[0]->poison.status().code(), StatusCode::RemoteError);
  EXPECT_EQ(blocks.control[2]->poison.status().message(), "rank 1 waited");
}

TEST(GroupTest, NamesThoseThatAreMissing) {
  Blocks blocks(4);
  Group group = blocks.group(0);
  EXPECT_EQ(group.describeMissing(5), "ranks 0, 1, 2 and 3 have not entered the call");
  blocks.enter(0, 5, {});
  blocks.enter(2, 5, {});
  EXPECT_EQ(group.describeMissing(5), "ranks 1 and 3 have not entered the call");
  blocks.enter(3, 5, {});
  EXPECT_EQ(group.describeMissing(5), "rank 1 has not entered the call");
  blocks.enter(1, 5, {});
  EXPECT_EQ(group.describeMissing(5), "all ranks have entered the call");
}

class WaitForRank final : public Obstacle {
public:
  explicit WaitForRank(int rank) : rank(rank) {}
  bool waitsFor(int other) const override { return other == rank; }
  std::string describe() const override { return fmt::format("for rank {} in a test", rank); }

private:
  int rank;
};

TEST(PatienceTest, GivesUpForGoodReasonsOnly) {
  Blocks blocks(3);
  Group group = blocks.group(0);
  group.timeoutMs = 30;
  blocks.enter(0, 1, {});
  Patience patience(group);
  WaitForRank obstacle(2);
  auto wait = [&] {
    patience.begin(1);
    return waitUntil(patience, obstacle, [] { return false; });
  };
  // A rank that is not waited for may leave.
  blocks.lost = 1;
  blocks.control[1]->departed = 1;
  Status status = wait();
  EXPECT_EQ(status.code(), StatusCode::Timeout);
  EXPECT_THAT(status.message(),
              HasSubstr("for rank 2 in a test, call 1 (allreduce of 0 i8 (sum)): ranks 1 and 2 "
                        "have not entered the call"));
  blocks.lost = 2;
  status = wait();
  EXPECT_EQ(status.code(), StatusCode::RemoteError);
  EXPECT_THAT(status.message(), HasSubstr("rank 2 (pid 102) is gone: its process died"));
  blocks.control[2]->departed = 1;
  EXPECT_THAT(wait().message(), HasSubstr("rank 2 (pid 102) has destroyed its communicator"));
  CallArguments other;
  other.count = 5;
  blocks.enter(1, 1, other);
  EXPECT_EQ(wait().code(), StatusCode::InvalidUsage);
  blocks.control[0]->poison.set(StatusCode::Aborted, "enough");
  EXPECT_EQ(wait().code(), StatusCode::Aborted);
}

TEST(PatienceTest, LooksOnceMoreAtWhatALostRankLeft) {
  Blocks blocks(2);
  Group group = blocks.group(0);
  blocks.enter(0, 1, {});
  Patience patience(group);
  patience.begin(1);
  std::atomic<bool> flag = false;
  group.isLost = [&](int) {
    // The rank did its part between the last look and its end.
    flag = true;
    return true;
  };
  WaitForRank obstacle(1);
  EXPECT_TRUE(waitUntil(patience, obstacle, [&] { return flag.load(); }).isOk());
}

TEST(FifoTest, WrapsAroundWithFewSlots) {
  constexpr size_t slotBytes = 256;
  constexpr uint32_t slotCount = 3;
  struct alignas(lineBytes) Memory {
    std::byte slots[slotCount * slotStride(slotBytes)];
    SharedCounter freed;
  };
  auto memory = std::make_unique<Memory>();
  std::memset(static_cast<void *>(memory.get()), 0, sizeof(Memory));
  FifoPlace place{memory->slots, &memory->freed, slotCount, slotStride(slotBytes)};
  constexpr int messages = 20000;
  // Small ones in the header line, large ones behind it.
  auto sizeOfMessage = [](int i) { return static_cast<size_t>(i * 37 % 256 + 1); };
  std::thread sending([&] {
    FifoSender sender(place);
    for (int i = 0; i < messages; ++i) {
      while (!sender.hasRoom())
        std::this_thread::yield();
      std::memset(sender.payload(sizeOfMessage(i)), i % 251, sizeOfMessage(i));
      sender.send(static_cast<uint64_t>(i));
    }
  });
  FifoReceiver receiver(place);
  for (int i = 0; i < messages; ++i) {
    while (!receiver.hasMessage())
      std::this_thread::yield();
    EXPECT_EQ(receiver.fingerprint(), static_cast<uint64_t>(i));
    const std::byte *payload = receiver.payload(sizeOfMessage(i));
    EXPECT_EQ(payload[0], static_cast<std::byte>(i % 251));
    EXPECT_EQ(payload[sizeOfMessage(i) - 1], static_cast<std::byte>(i % 251));
    receiver.release(sizeOfMessage(i));
    receiver.announce();
  }
  sending.join();
  EXPECT_FALSE(receiver.hasMessage());
}

TEST(PlanSegmentTest, VariantsShareChannelsWithTheSameEnds) {
  Result<PlanSegmentLayout> layout = PlanSegmentLayout::compute(mixedAllReduce(2), 4096);
  ASSERT_TRUE(layout.isOk());
  // One FIFO and two counters each way.
  EXPECT_EQ(layout->channels().size(), 6u);
  EXPECT_EQ(layout->tileBytes(), 4096u);
  EXPECT_EQ(layout->segmentBytes(0), layout->segmentBytes(1));
}

TEST(PlanSegmentTest, NothingOverlaps) {
  for (const Plan &plan : {mixedAllReduce(4), scratchAllReduce(), broadcast(3)}) {
    Result<PlanSegmentLayout> layout = PlanSegmentLayout::compute(plan, 1024);
    ASSERT_TRUE(layout.isOk());
    std::vector<std::vector<bool>> used(plan.ranks);
    for (uint32_t rank = 0; rank < plan.ranks; ++rank)
      used[rank].resize(layout->segmentBytes(rank));
    auto take = [&](uint32_t rank, size_t offset, size_t size) {
      ASSERT_LE(offset + size, used[rank].size());
      for (size_t i = offset; i < offset + size; ++i) {
        ASSERT_FALSE(used[rank][i]);
        used[rank][i] = true;
      }
    };
    for (const PlanSegmentLayout::SharedChannel &shared : layout->channels()) {
      const PlanChannel &channel = shared.channel;
      if (channel.transport == Transport::Staged) {
        take(channel.destinationRank, shared.atDestination, channel.slots * slotStride(1024));
        take(channel.sourceRank, shared.atSource, sizeof(SharedCounter));
      } else {
        take(channel.destinationRank, shared.atDestination, sizeof(SharedCounter));
      }
    }
    uint32_t scratch = 0;
    for (const PlanVariant &variant : plan.variants)
      scratch = std::max(scratch, variant.scratchChunks[0]);
    for (uint32_t i = 0; i < scratch; ++i)
      take(0, layout->scratchOffset(0, i), 1024);
  }
}

TEST(PlanSegmentTest, ManySlotsMakeThemSmaller) {
  constexpr size_t largest = 1 << 20;
  Result<PlanSegmentLayout> few = PlanSegmentLayout::compute(directAllReduce(2), largest);
  Result<PlanSegmentLayout> many = PlanSegmentLayout::compute(directAllReduce(64), largest);
  ASSERT_TRUE(few.isOk() && many.isOk());
  EXPECT_EQ(few->tileBytes(), largest);
  EXPECT_LT(many->tileBytes(), largest);
  EXPECT_EQ(many->tileBytes() % 64, 0u);
  EXPECT_LT(many->segmentBytes(0), size_t{40} << 20);
}

} // namespace
