//===- MeetingTest.cpp - Ranks come together, or say why not --------------===//

#include "runtime/bootstrap/Connection.h"
#include "test/unit/bootstrap/RankGroup.h"

#include <barrier>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

using namespace coil;
using namespace coil::test;
using testing::HasSubstr;

namespace {

TEST(Meeting, BringsTogetherAnyNumberOfRanks) {
  for (int ranks : {1, 2, 3, 4, 5, 8, 13, 16, 33}) {
    UniqueId id = newId();
    std::barrier together(ranks);
    runRanks(ranks, [&](int rank) {
      auto bootstrap = connectOrFail(id, rank, ranks);
      if (bootstrap) {
        EXPECT_EQ(bootstrap->rank(), rank);
        EXPECT_EQ(bootstrap->ranks(), ranks);
        for (int peer = 0; peer < ranks; ++peer) {
          EXPECT_EQ(bootstrap->peer(peer).pid, ::getpid());
          EXPECT_EQ(bootstrap->peer(peer).processCookie, bootstrap->peer(rank).processCookie);
        }
        EXPECT_EQ(bootstrap->findLostPeer(), std::nullopt);
      }
      together.arrive_and_wait();
    });
  }
}

TEST(Meeting, EveryRankThatCameLearnsWhoDidNot) {
  UniqueId id = newId();
  Stopwatch watch;
  runRanks(6, [&](int rank) {
    if (rank == 2 || rank == 5)
      return;
    auto bootstrap = Bootstrap::connect(id, rank, 6, 300);
    ASSERT_FALSE(bootstrap.isOk());
    EXPECT_EQ(bootstrap.status().code(), StatusCode::Timeout);
    EXPECT_EQ(bootstrap.status().message(), "ranks 2 and 5 of 6 did not come within 0.3 s");
  });
  EXPECT_GE(watch.seconds(), 0.29);
  EXPECT_LT(watch.seconds(), 1.3);
}

TEST(Meeting, RankZeroMayBeTheOneThatIsMissing) {
  UniqueId id = newId();
  runRanks(3, [&](int rank) {
    if (rank == 0)
      return;
    auto bootstrap = Bootstrap::connect(id, rank, 3, 200);
    EXPECT_EQ(bootstrap.status().message(), "rank 0 of 3 did not come within 0.2 s");
  });
  EXPECT_EQ(Bootstrap::connect(id, 1, 4, 100).status().message(),
            "ranks 0, 2 and 3 of 4 did not come within 0.1 s");
  EXPECT_THAT(Bootstrap::connect(id, 0, 100, 1).status().message(),
              HasSubstr("14, 15 and 84 more of 100 did not come"));
}

TEST(Meeting, TheFirstToRunOutOfTimeEndsItForAll) {
  UniqueId id = newId();
  Stopwatch watch;
  runRanks(4, [&](int rank) {
    if (rank == 3)
      return;
    auto bootstrap = Bootstrap::connect(id, rank, 4, rank == 1 ? 200 : rank == 0 ? 0 : 60000);
    EXPECT_EQ(bootstrap.status().code(), StatusCode::Timeout);
    EXPECT_THAT(bootstrap.status().message(), HasSubstr("rank 3 of 4 did not come within 0.2 s"));
  });
  EXPECT_LT(watch.seconds(), 1.2);
}

TEST(Meeting, ARankGivenTwiceIsNamedToAll) {
  for (int twice = 0; twice < 3; ++twice) {
    UniqueId id = newId();
    runRanks(4, [&](int thread) {
      auto bootstrap = Bootstrap::connect(id, thread == 3 ? twice : thread, 4, 5000);
      EXPECT_EQ(bootstrap.status().code(), StatusCode::InvalidUsage);
      EXPECT_THAT(bootstrap.status().message(),
                  HasSubstr(fmt::format("rank {} was given twice", twice)));
    });
  }
}

TEST(Meeting, RanksThatDisagreeOnTheirNumberAreNamedToAll) {
  UniqueId id = newId();
  runRanks(3, [&](int rank) {
    auto bootstrap = Bootstrap::connect(id, rank, rank == 2 ? 5 : 4, 5000);
    EXPECT_EQ(bootstrap.status().code(), StatusCode::InvalidUsage);
    EXPECT_THAT(bootstrap.status().message(), HasSubstr("ranks disagree on how many they are"));
    EXPECT_THAT(bootstrap.status().message(), HasSubstr("expects 5"));
    EXPECT_THAT(bootstrap.status().message(), HasSubstr("expects 4"));
  });
}

TEST(Meeting, RefusesImpossibleRanks) {
  UniqueId id = newId();
  for (auto [rank, ranks] : {std::pair(-1, 2), {2, 2}, {0, 0}, {0, -1}, {0, INT_MAX}})
    EXPECT_EQ(Bootstrap::connect(id, rank, ranks, 100).status().code(),
              StatusCode::InvalidArgument);
}

TEST(Meeting, MayBeRepeatedUnderOneIdAndLeaksNothing) {
  UniqueId id = newId();
  long before = openDescriptors();
  for (int cycle = 0; cycle < 200; ++cycle) {
    std::barrier together(3);
    runRanks(3, [&](int rank) {
      auto bootstrap = connectOrFail(id, rank, 3);
      together.arrive_and_wait();
    });
    ASSERT_EQ(openDescriptors(), before);
  }
  runRanks(2, [&](int rank) { EXPECT_FALSE(Bootstrap::connect(id, rank, 3, 50).isOk()); });
  EXPECT_EQ(openDescriptors(), before);
}

TEST(Meeting, RanksOfOneCycleMayRunAheadOfOthers) {
  UniqueId id = newId();
  runRanks(4, [&](int rank) {
    for (int cycle = 0; cycle < 50; ++cycle)
      connectOrFail(id, rank, 4);
  });
}

TEST(Meeting, DifferentIdsDoNotMeet) {
  std::vector<UniqueId> ids = {newId(), newId(), newId()};
  runRanks(6, [&](int thread) { connectOrFail(ids[thread % 3], thread / 3, 2); });
}

/// Connects to where the ranks of `id` meet as soon as one listens.
UniqueFd connectAsStranger(const UniqueId &id) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name = "coil-" + id.text().substr(10, 32);
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Stopwatch watch;
  while (::connect(socket.get(), reinterpret_cast<sockaddr *>(&address), size) != 0) {
    if (watch.seconds() > 10) {
      ADD_FAILURE() << "cannot connect as a stranger: " << std::strerror(errno);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return socket;
}

TEST(Meeting, StrangersDoNoHarm) {
  UniqueId id = newId();
  std::thread first([&] { connectOrFail(id, 0, 3); });

  std::vector<UniqueFd> silent;
  for (int i = 0; i < 20; ++i)
    silent.push_back(connectAsStranger(id));
  for (int i = 0; i < 20; ++i) {
    UniqueFd garbage = connectAsStranger(id);
    std::string bytes(1 + i * 500, static_cast<char>('a' + i));
    EXPECT_GT(::send(garbage.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
    if (i % 2)
      silent.push_back(std::move(garbage)); // stays connected
    connectAsStranger(id);                  // and leaves at once
  }
  // Well formed, but without the secret: bytes that are no greeting of a rank.
  UniqueFd liar = connectAsStranger(id);
  Connection lying(UniqueFd(::dup(liar.get())));
  UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  lying.post(FrameKind::Hello, blobOf(1, 56), {file.get()});
  EXPECT_TRUE(lying.flush().isOk());

  std::thread others[] = {std::thread([&] { connectOrFail(id, 1, 3); }),
                          std::thread([&] { connectOrFail(id, 2, 3); })};
  first.join();
  for (std::thread &other : others)
    other.join();
}

TEST(Meeting, AFloodOfStrangersDoesNotKeepRanksOut) {
  UniqueId id = newId();
  std::thread first([&] { connectOrFail(id, 0, 2); });
  std::vector<UniqueFd> held;
  for (int i = 0; i < 400; ++i)
    held.push_back(connectAsStranger(id));
  runRanks(1, [&](int) { connectOrFail(id, 1, 2); });
  first.join();
}

} // namespace
