//===- DeathTest.cpp - Ranks that die are named to the others -------------===//

#include "test/unit/bootstrap/RankGroup.h"

#include <optional>

using namespace coil;
using namespace coil::test;
using testing::HasSubstr;

namespace {

constexpr int ranks = 4;

void expectGone(const Status &status, int rank) {
  EXPECT_EQ(status.code(), StatusCode::RemoteError) << status.message();
  EXPECT_THAT(status.message(), HasSubstr(fmt::format("rank {} (pid", rank)));
  EXPECT_THAT(status.message(), HasSubstr("is gone"));
}

void sleepMs(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// One process for each rank but `absent`; `first` comes well before the others
/// and is the hub.
template <typename Body>
std::vector<std::optional<Child>> startRanks(int first, Body body, int absent = -1) {
  std::vector<std::optional<Child>> children(ranks);
  children[first].emplace([&] { body(first); });
  sleepMs(150);
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != first && rank != absent)
      children[rank].emplace([&] { body(rank); });
  return children;
}

void expectSuccess(std::vector<std::optional<Child>> &children, int victim) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != victim && children[rank]) {
      EXPECT_EQ(children[rank]->wait(), 0) << "rank " << rank;
    }
  }
}

class Death : public testing::TestWithParam<int> {
protected:
  const int victim = 1;
  const int hub = GetParam(); // the victim itself, or another
  const UniqueId id = newId();
  SharedCounter arrived, killed;
};
INSTANTIATE_TEST_SUITE_P(HubAndOther, Death, testing::Values(0, 1),
                         [](const auto &info) { return info.param == 1 ? "Hub" : "Other"; });

TEST_P(Death, BeforeItConnects) {
  auto children = startRanks(hub, [&](int rank) {
    if (rank == victim)
      ::raise(SIGKILL);
    Stopwatch watch;
    auto bootstrap = Bootstrap::connect(id, rank, ranks, 700);
    EXPECT_EQ(bootstrap.status().code(), StatusCode::Timeout);
    EXPECT_THAT(bootstrap.status().message(), HasSubstr("rank 1 of 4 did not come within 0.7 s"));
    EXPECT_LT(watch.seconds(), 1.7);
  });
  expectSuccess(children, victim);
}

TEST_P(Death, WhileItWaitsForOthers) {
  auto children = startRanks(
      hub,
      [&](int rank) {
        arrived.increment();
        auto bootstrap = Bootstrap::connect(id, rank, ranks, 30000);
        killed.await(1);
        EXPECT_FALSE(bootstrap.isOk());
        expectGone(bootstrap.status(), victim);
      },
      /*absent=*/3);
  arrived.await(3);
  sleepMs(300);
  children[victim]->kill();
  killed.increment();
  Stopwatch watch;
  expectSuccess(children, victim);
  EXPECT_LT(watch.seconds(), 1);
}

TEST_P(Death, AfterItConnected) {
  auto children = startRanks(hub, [&](int rank) {
    auto bootstrap = connectOrFail(id, rank, ranks);
    ASSERT_TRUE(bootstrap);
    EXPECT_EQ(bootstrap->findLostPeer(), std::nullopt);
    arrived.increment();
    if (rank == victim)
      sleepMs(60000);
    killed.await(1);
    Stopwatch watch;
    while (bootstrap->findLostPeer() != victim && watch.seconds() < 2)
      sleepMs(1);
    EXPECT_LT(watch.seconds(), 1);
    auto all = bootstrap->exchange("call", {}, 30000, nullptr);
    expectGone(all.status(), victim);
    EXPECT_LT(watch.seconds(), 1);
    arrived.increment();
    arrived.await(2 * ranks - 1);
  });
  arrived.await(ranks);
  children[victim]->kill();
  killed.increment();
  expectSuccess(children, victim);
}

TEST_P(Death, WhileOthersWaitInAnExchange) {
  auto children = startRanks(hub, [&](int rank) {
    auto bootstrap = connectOrFail(id, rank, ranks);
    ASSERT_TRUE(bootstrap);
    arrived.increment();
    if (rank == victim)
      sleepMs(60000);
    auto all = bootstrap->exchange("call", {blobOf(rank, 1 << 20), {}}, 30000, nullptr);
    expectGone(all.status(), victim);
    arrived.increment();
    arrived.await(2 * ranks - 1);
  });
  arrived.await(ranks);
  sleepMs(200);
  children[victim]->kill();
  Stopwatch watch;
  expectSuccess(children, victim);
  EXPECT_LT(watch.seconds(), 1);
}

TEST_P(Death, InTheMiddleOfAnExchange) {
  auto children = startRanks(hub, [&](int rank) {
    auto bootstrap = connectOrFail(id, rank, ranks);
    ASSERT_TRUE(bootstrap);
    if (rank == 3)
      sleepMs(300); // keeps the others in the exchange
    auto die = [&]() -> Status {
      if (rank == victim)
        ::raise(SIGKILL);
      return Status::ok();
    };
    Stopwatch watch;
    auto all = bootstrap->exchange("call", {blobOf(rank, 1 << 20), {}}, 30000, die);
    expectGone(all.status(), victim);
    EXPECT_LT(watch.seconds(), 1.2);
    arrived.increment();
    arrived.await(ranks - 1);
  });
  expectSuccess(children, victim);
}

TEST_P(Death, AStoppedProcessIsLate) {
  auto children = startRanks(hub, [&](int rank) {
    auto bootstrap = connectOrFail(id, rank, ranks);
    ASSERT_TRUE(bootstrap);
    arrived.increment();
    if (rank == victim)
      sleepMs(60000);
    killed.await(1);
    Stopwatch watch;
    auto all = bootstrap->exchange("call", {blobOf(rank, 1 << 20), {}}, 500, nullptr);
    EXPECT_EQ(all.status().code(), StatusCode::Timeout);
    EXPECT_THAT(all.status().message(), HasSubstr("rank 1 of 4 did not come to \"call\""));
    EXPECT_LT(watch.seconds(), 1.5);
    EXPECT_EQ(bootstrap->findLostPeer(), std::nullopt);
    arrived.increment();
    arrived.await(2 * ranks - 1);
  });
  arrived.await(ranks);
  children[victim]->signal(SIGSTOP);
  killed.increment();
  expectSuccess(children, victim);
}

} // namespace
