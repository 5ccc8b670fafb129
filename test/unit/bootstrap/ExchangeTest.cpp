//===- ExchangeTest.cpp - What ranks give reaches all ---------------------===//

#include "test/unit/bootstrap/RankGroup.h"

#include <atomic>
#include <fcntl.h>
#include <random>

using namespace coil;
using namespace coil::test;
using testing::HasSubstr;

namespace {

Parcel contributionOf(std::vector<uint8_t> bytes) { return {std::move(bytes), {}}; }

TEST(Exchange, GivesEveryRankTheBytesOfAll) {
  for (int ranks : {1, 2, 3, 8, 33}) {
    UniqueId id = newId();
    runRanks(ranks, [&](int rank) {
      auto bootstrap = connectOrFail(id, rank, ranks);
      ASSERT_TRUE(bootstrap);
      for (size_t size : {size_t(0), size_t(1), size_t(100), size_t(ranks > 8 ? 5000 : 1 << 20)}) {
        // Sizes differ among ranks, and some give nothing.
        auto sizeOf = [&](int of) { return of % 3 == 1 ? 0 : size + of; };
        auto all = bootstrap->exchange("blobs", contributionOf(blobOf(rank, sizeOf(rank))), 60000,
                                       nullptr);
        ASSERT_TRUE(all.isOk()) << all.status().message();
        ASSERT_EQ(all->size(), static_cast<size_t>(ranks));
        for (int of = 0; of < ranks; ++of)
          EXPECT_EQ((*all)[of].bytes, blobOf(of, sizeOf(of)));
      }
    });
  }
}

TEST(Exchange, ThreadsOfOneProcessKeepTheirOwnDescriptorsOnly) {
  long before = openDescriptors();
  UniqueId id = newId();
  runRanks(33, [&](int rank) {
    auto bootstrap = connectOrFail(id, rank, 33);
    ASSERT_TRUE(bootstrap);
    Parcel mine;
    mine.fds.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    int number = mine.fds[0].get();
    auto all = bootstrap->exchange("descriptors", std::move(mine), 60000, nullptr);
    ASSERT_TRUE(all.isOk()) << all.status().message();
    for (int of = 0; of < 33; ++of)
      EXPECT_EQ((*all)[of].fds.size(), of == rank ? 1u : 0u);
    EXPECT_EQ((*all)[rank].fds[0].get(), number);
  });
  EXPECT_EQ(openDescriptors(), before);
}

/// A file of this content, and the content of such a file.
UniqueFd fileOf(const std::string &content) {
  UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(::write(file.get(), content.data(), content.size()), ssize_t(content.size()));
  return file;
}
std::string contentOf(const UniqueFd &file) {
  std::string content(100, '\0');
  ssize_t size = ::pread(file.get(), content.data(), content.size(), 0);
  content.resize(std::max<ssize_t>(size, 0));
  return content;
}

/// Ranks are threads of processes: rank r is in process r % `processes`.
void exchangeFilesAmong(int processes, int ranks, int files) {
  UniqueId id = newId();
  auto nameOf = [](int rank, int file) { return fmt::format("file {} of rank {}", file, rank); };
  auto countOf = [&](int rank) { return static_cast<size_t>(rank == 1 ? 0 : files + rank); };
  std::vector<Child> children;
  for (int process = 0; process < processes; ++process)
    children.emplace_back([=] {
      long before = openDescriptors();
      runRanks(ranks, [=](int rank) {
        if (rank % processes != process)
          return;
        auto bootstrap = connectOrFail(id, rank, ranks);
        ASSERT_TRUE(bootstrap);
        for (int peer = 0; peer < ranks; ++peer)
          EXPECT_EQ(bootstrap->peer(peer).processCookie == bootstrap->peer(rank).processCookie,
                    peer % processes == process);
        Parcel mine{blobOf(rank, 10), {}};
        for (size_t file = 0; file < countOf(rank); ++file)
          mine.fds.push_back(fileOf(nameOf(rank, int(file))));
        auto all = bootstrap->exchange("files", std::move(mine), 60000, nullptr);
        ASSERT_TRUE(all.isOk()) << all.status().message();
        for (int of = 0; of < ranks; ++of) {
          const Parcel &part = (*all)[of];
          EXPECT_EQ(part.bytes, blobOf(of, 10));
          bool away = of == rank || of % processes != process;
          ASSERT_EQ(part.fds.size(), away ? countOf(of) : 0);
          for (size_t file = 0; file < part.fds.size(); ++file)
            EXPECT_EQ(contentOf(part.fds[file]), nameOf(of, int(file)));
        }
        // Nobody leaves before all have looked.
        EXPECT_TRUE(bootstrap->exchange("done", {}, 60000, nullptr).isOk());
      });
      EXPECT_EQ(openDescriptors(), before);
    });
  for (Child &child : children)
    EXPECT_EQ(child.wait(), 0);
}

TEST(Exchange, GivesDescriptorsToOtherProcesses) { exchangeFilesAmong(4, 4, 3); }
TEST(Exchange, GivesManyDescriptorsInBatches) { exchangeFilesAmong(2, 2, 150); }
TEST(Exchange, ServesThreadsAndProcessesAtOnce) { exchangeFilesAmong(3, 8, 2); }

TEST(Exchange, EveryRankLearnsWhoDidNotEnter) {
  // The silent rank comes first, so that it is the hub, or last, so that it is not.
  for (bool silentFirst : {true, false}) {
    UniqueId id = newId();
    std::atomic<int> finished = 0;
    runRanks(4, [&](int rank) {
      bool silent = rank == 2;
      if (silent != silentFirst)
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      auto bootstrap = connectOrFail(id, rank, 4);
      ASSERT_TRUE(bootstrap);
      ASSERT_TRUE(bootstrap->exchange("first", {}, 60000, nullptr).isOk());
      if (silent) {
        while (finished < 3)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        // It comes late and hears what happened.
        auto late = bootstrap->exchange("second", {}, 60000, nullptr);
        EXPECT_FALSE(late.isOk());
        return;
      }
      Stopwatch watch;
      auto all = bootstrap->exchange("second", {}, 300, nullptr);
      EXPECT_EQ(all.status().code(), StatusCode::Timeout);
      EXPECT_EQ(all.status().message(), "rank 2 of 4 did not come to \"second\" within 0.3 s");
      EXPECT_LT(watch.seconds(), 1.3);
      // And stays so.
      EXPECT_EQ(bootstrap->exchange("third", {}, 300, nullptr).status().code(),
                StatusCode::Timeout);
      ++finished;
      while (finished < 3)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
}

TEST(Exchange, RanksInDifferentExchangesAllHearSoAndMayGoOn) {
  UniqueId id = newId();
  runRanks(4, [&](int rank) {
    auto bootstrap = connectOrFail(id, rank, 4);
    ASSERT_TRUE(bootstrap);
    for (int odd = 0; odd < 4; ++odd) {
      auto all = bootstrap->exchange(rank == odd ? "load plan" : "register", {}, 60000, nullptr);
      EXPECT_EQ(all.status().code(), StatusCode::InvalidUsage);
      EXPECT_THAT(all.status().message(), HasSubstr("\"load plan\""));
      EXPECT_THAT(all.status().message(), HasSubstr("\"register\""));
      auto next = bootstrap->exchange("agreed", contributionOf(blobOf(rank, 9)), 60000, nullptr);
      ASSERT_TRUE(next.isOk()) << next.status().message();
      EXPECT_EQ((*next)[3].bytes, blobOf(3, 9));
    }
  });
}

TEST(Exchange, AnInterruptionEndsItForAll) {
  // The interrupted rank comes first, so that it is the hub, or last.
  for (bool interruptedFirst : {true, false}) {
    UniqueId id = newId();
    std::atomic<int> finished = 0;
    runRanks(3, [&](int rank) {
      if ((rank == 1) != interruptedFirst)
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      auto bootstrap = connectOrFail(id, rank, 3);
      ASSERT_TRUE(bootstrap);
      Stopwatch watch;
      if (rank == 0) {
        // The others wait for this one.
        while (finished < 1)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      auto interrupted = [&] {
        return rank == 1 && watch.seconds() > 0.1 ? Status(StatusCode::Aborted, "the user gave up")
                                                  : Status::ok();
      };
      auto all = bootstrap->exchange("call", {}, 60000, interrupted);
      ++finished;
      EXPECT_FALSE(all.isOk());
      EXPECT_EQ(all.status().code(), rank == 1 ? StatusCode::Aborted : StatusCode::RemoteError);
      EXPECT_THAT(all.status().message(), HasSubstr("the user gave up"));
      if (rank != 1) {
        EXPECT_THAT(all.status().message(), HasSubstr("rank 1 (pid"));
      }
      EXPECT_LT(watch.seconds(), 5);
      while (finished < 3)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
}

TEST(Exchange, ARankThatLeavesIsNamed) {
  for (int leaving = 0; leaving < 3; ++leaving) {
    UniqueId id = newId();
    std::atomic<int> finished = 0;
    runRanks(3, [&](int rank) {
      auto bootstrap = connectOrFail(id, rank, 3);
      ASSERT_TRUE(bootstrap);
      ASSERT_TRUE(bootstrap->exchange("first", {}, 60000, nullptr).isOk());
      if (rank == leaving)
        return;
      auto all = bootstrap->exchange("second", {}, 60000, nullptr);
      EXPECT_EQ(all.status().code(), StatusCode::RemoteError);
      EXPECT_THAT(all.status().message(), HasSubstr(fmt::format("rank {} (pid", leaving)));
      EXPECT_EQ(bootstrap->findLostPeer(), leaving);
      EXPECT_EQ(bootstrap->findLostPeer(leaving), leaving);
      EXPECT_EQ(bootstrap->findLostPeer(leaving + 1), std::nullopt);
      ++finished;
      while (finished < 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
}

TEST(Exchange, ARankMayLeaveAsSoonAsItHasEverything) {
  for (int cycle = 0; cycle < 30; ++cycle) {
    UniqueId id = newId();
    runRanks(5, [&](int rank) {
      auto bootstrap = connectOrFail(id, rank, 5);
      ASSERT_TRUE(bootstrap);
      std::minstd_rand random(cycle * 5 + rank);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
      auto all = bootstrap->exchange("last", contributionOf(blobOf(rank, 300000)), 60000, nullptr);
      EXPECT_TRUE(all.isOk()) << all.status().message();
    });
  }
}

TEST(Exchange, LeaksNothingOverManyRuns) {
  UniqueId id = newId();
  long before = openDescriptors();
  for (int cycle = 0; cycle < 50; ++cycle) {
    runRanks(4, [&](int rank) {
      auto bootstrap = connectOrFail(id, rank, 4);
      ASSERT_TRUE(bootstrap);
      Parcel mine;
      mine.fds.push_back(fileOf("x"));
      EXPECT_TRUE(bootstrap->exchange("call", std::move(mine), 60000, nullptr).isOk());
    });
    ASSERT_EQ(openDescriptors(), before);
  }
}

} // namespace
