//===- MessageTest.cpp - One thread block tells another -------------------===//
//
// A message is data and then a flag. The kernel is right as it is; each planted
// mistake must be reported, though an x86 host computes the right result.
//
//===----------------------------------------------------------------------===//

#include "test/unit/emulation/Support.h"

using namespace coil::device;

namespace coil::emulation {
namespace {

enum class Mistake {
  None,
  RelaxedRelease,
  RelaxedAcquire,
  DeviceRelease,
  DeviceAcquire,
  BlockRelease,
  NoWait,
  EarlyFlag,
  NoSyncBeforeRelease,
  NoSyncAfterAcquire,
};

struct Message {
  alignas(128) u64 flag = 0;
  alignas(128) u32 data[64] = {};
  alignas(128) u32 received[64] = {};
};

void send(Message &message, Mistake mistake) {
  if (mistake == Mistake::EarlyFlag && threadIndex() == 0)
    storeRelease<Scope::System>(&message.flag, 1);
  storeData<u32>(&message.data[threadIndex()], threadIndex() * 3);
  if (mistake != Mistake::NoSyncBeforeRelease)
    syncBlock();
  if (threadIndex() != 0 || mistake == Mistake::EarlyFlag)
    return;
  switch (mistake) {
  case Mistake::RelaxedRelease:
    return storeRelaxed<Scope::System>(&message.flag, 1);
  case Mistake::DeviceRelease:
    return storeRelease<Scope::Device>(&message.flag, 1);
  case Mistake::BlockRelease:
    return storeRelease<Scope::Block>(&message.flag, 1);
  default:
    return storeRelease<Scope::System>(&message.flag, 1);
  }
}

void receive(Message &message, Mistake mistake) {
  if (threadIndex() == 0 && mistake != Mistake::NoWait) {
    auto poll = [&] {
      switch (mistake) {
      case Mistake::RelaxedAcquire:
        return loadRelaxed<Scope::System>(&message.flag);
      case Mistake::DeviceAcquire:
        return loadAcquire<Scope::Device>(&message.flag);
      default:
        return loadAcquire<Scope::System>(&message.flag);
      }
    };
    while (poll() != 1)
      device::pause();
  }
  if (mistake != Mistake::NoSyncAfterAcquire)
    syncBlock();
  storeData<u32>(&message.received[threadIndex()], loadData<u32>(&message.data[threadIndex()]));
}

std::vector<Problem> pass(Message &message, Mistake mistake, u32 receiverDevice) {
  TrackingScope scope;
  return run({{1, 64, 0, 0, [&] { send(message, mistake); }},
              {1, 64, 0, receiverDevice, [&] { receive(message, mistake); }}},
             20);
}

TEST(MessageTest, RightKernelIsAccepted) {
  for (u32 device : {0u, 1u})
    for (int i = 0; i < 20; ++i) {
      Message message;
      EXPECT_THAT(pass(message, Mistake::None, device), HasNoProblem());
      for (u32 t = 0; t < 64; ++t)
        ASSERT_EQ(message.received[t], t * 3);
    }
}

TEST(MessageTest, SmallerScopeDoesOnOneDevice) {
  for (Mistake mistake : {Mistake::DeviceRelease, Mistake::DeviceAcquire}) {
    Message message;
    EXPECT_THAT(pass(message, mistake, 0), HasNoProblem());
  }
}

class MessageMistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(MessageMistakeTest, IsCaught) {
  for (int i = 0; i < 5; ++i) {
    Message message;
    EXPECT_THAT(pass(message, GetParam(), 1), HasProblem(ProblemKind::Race));
  }
}

INSTANTIATE_TEST_SUITE_P(All, MessageMistakeTest,
                         testing::Values(Mistake::RelaxedRelease, Mistake::RelaxedAcquire,
                                         Mistake::DeviceRelease, Mistake::DeviceAcquire,
                                         Mistake::BlockRelease, Mistake::NoWait, Mistake::EarlyFlag,
                                         Mistake::NoSyncBeforeRelease,
                                         Mistake::NoSyncAfterAcquire));

TEST(MessageTest, ScopesOfRelaxedAccessesAreCompared) {
  TrackingScope scope;
  u64 word = 0;
  auto problems = run({{1, 32, 0, 0,
                        [&] {
                          if (threadIndex() == 0)
                            storeRelaxed<Scope::Device>(&word, 1);
                        }},
                       {1, 32, 0, 1,
                        [&] {
                          if (threadIndex() == 0)
                            while (loadRelaxed<Scope::System>(&word) == 0)
                              device::pause();
                        }}},
                      20);
  EXPECT_THAT(problems, HasProblem(ProblemKind::Race));
  EXPECT_THAT(text(problems), testing::HasSubstr("their scopes do not include each other"));
}

TEST(MessageTest, ReportNamesBothAccesses) {
  Message message;
  auto problems = pass(message, Mistake::RelaxedRelease, 1);
  ASSERT_FALSE(problems.empty());
  EXPECT_THAT(problems[0].text,
              testing::AllOf(testing::HasSubstr("race at 0x"),
                             testing::HasSubstr("4-byte load by device 1, block 0, thread"),
                             testing::HasSubstr("4-byte store by device 0, block 0, thread"),
                             testing::HasSubstr("MessageTest.cpp:")));
}

TEST(MessageTest, UpdatesHandReleasesOn) {
  // Two senders add to a counter; who sees both additions sees both senders' data.
  // A store instead of the second addition would hide the first sender.
  struct {
    u64 counter = 0;
    u64 data[2] = {};
  } shared;
  TrackingScope scope;
  auto sender = [&](u32 i) {
    return [&shared, i] {
      if (threadIndex() != 0)
        return;
      storeData<u64>(&shared.data[i], i + 1);
      addAcquireRelease<Scope::System>(&shared.counter, 1);
    };
  };
  u64 sum = 0;
  auto receiver = [&] {
    if (threadIndex() != 0)
      return;
    while (loadAcquire<Scope::System>(&shared.counter) != 2)
      device::pause();
    sum = loadData<u64>(&shared.data[0]) + loadData<u64>(&shared.data[1]);
  };
  EXPECT_THAT(
      run({{1, 32, 0, 0, sender(0)}, {1, 32, 0, 1, sender(1)}, {1, 32, 0, 2, receiver}}, 20),
      HasNoProblem());
  EXPECT_EQ(sum, 3u);
}

TEST(MessageTest, LaunchesAreOrderedWithTheHost) {
  TrackingScope scope;
  u64 word = 0;
  auto increment = [&] {
    if (threadIndex() == 0)
      storeData<u64>(&word, loadData<u64>(&word) + 1);
  };
  for (u32 i = 0; i < 4; ++i)
    EXPECT_THAT(run({{1, 32, 0, i, increment}}), HasNoProblem());
  EXPECT_EQ(word, 4u);
}

TEST(MessageTest, BytesBesideEachOtherDoNotConflict) {
  TrackingScope scope;
  alignas(8) u8 bytes[64] = {};
  auto fill = [&] { storeData<u8>(&bytes[blockIndex() * 32 + threadIndex()], u8(threadIndex())); };
  EXPECT_THAT(run({{2, 32, 0, 0, fill}}), HasNoProblem());
  auto overlap = [&] { storeData<u8>(&bytes[blockIndex() * 31 + threadIndex()], u8(1)); };
  EXPECT_THAT(run({{2, 32, 0, 0, overlap}}), HasProblem(ProblemKind::Race));
}

} // namespace
} // namespace coil::emulation
