//===- ConnectionTest.cpp - Frames over a socket --------------------------===//

#include "runtime/bootstrap/Connection.h"

#include "test/unit/bootstrap/RankGroup.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

using namespace coil;
using namespace coil::test;
using testing::HasSubstr;

namespace {

struct Pair {
  UniqueFd first, second;
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    first.reset(ends[0]);
    second.reset(ends[1]);
  }
};

/// Sends and receives by turns until a frame is there.
Result<Frame> pass(Connection &from, Connection &to) {
  while (true) {
    COIL_RETURN_IF_ERROR(from.flush());
    COIL_ASSIGN_OR_RETURN(auto frame, to.receive());
    if (frame)
      return *std::move(frame);
    if (to.isClosed())
      return Status::error(StatusCode::RemoteError, "closed");
  }
}

TEST(Connection, CarriesBytesAndDescriptorsInOrder) {
  long before = openDescriptors();
  {
    Pair pair;
    Connection from(std::move(pair.first)), to(std::move(pair.second));
    std::vector<size_t> sizes = {0, 1, 1000, 5 << 20, 0, 3};
    std::vector<size_t> counts = {0, 1, 63, 64, 65, 200};
    UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    for (size_t i = 0; i < sizes.size(); ++i)
      from.post(FrameKind::Parcel, blobOf(int(i), sizes[i]),
                std::vector<int>(counts[i], file.get()));
    for (size_t i = 0; i < sizes.size(); ++i) {
      auto frame = pass(from, to);
      ASSERT_TRUE(frame.isOk()) << frame.status().message();
      EXPECT_EQ(frame->kind, FrameKind::Parcel);
      EXPECT_EQ(frame->bytes, blobOf(int(i), sizes[i]));
      ASSERT_EQ(frame->fds.size(), counts[i]);
      for (const UniqueFd &fd : frame->fds)
        EXPECT_TRUE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC);
    }
    EXPECT_FALSE(from.hasOutput());
    from = Connection(UniqueFd());
    EXPECT_EQ(pass(from, to).status().code(), StatusCode::RemoteError);
    EXPECT_TRUE(to.isClosed());
  }
  EXPECT_EQ(openDescriptors(), before);
}

TEST(Connection, RefusesWhatIsNoFrameOrTooLarge) {
  {
    Pair pair;
    Connection to(std::move(pair.second));
    std::string garbage(100, 'x');
    ASSERT_EQ(::write(pair.first.get(), garbage.data(), garbage.size()), 100);
    EXPECT_EQ(to.receive().status().code(), StatusCode::InvalidArgument);
  }
  {
    Pair pair;
    Connection from(std::move(pair.first)), to(std::move(pair.second), {10, 1});
    from.post(FrameKind::Hello, blobOf(0, 11));
    EXPECT_THAT(pass(from, to).status().message(), HasSubstr("at most 10 bytes"));
  }
  {
    Pair pair;
    Connection from(std::move(pair.first)), to(std::move(pair.second), {10, 1});
    from.post(FrameKind::Hello, blobOf(0, 1), {0, 0});
    EXPECT_EQ(pass(from, to).status().code(), StatusCode::InvalidArgument);
  }
}

TEST(Connection, AnEndInTheMiddleOfAFrameIsAnEnd) {
  Pair pair;
  Connection from(std::move(pair.first)), to(std::move(pair.second));
  from.post(FrameKind::Parcel, blobOf(0, 50 << 20));
  ASSERT_TRUE(from.flush().isOk());
  EXPECT_TRUE(from.hasOutput());
  {
    Connection gone(std::move(from));
  }
  auto frame = to.receive();
  ASSERT_TRUE(frame.isOk());
  EXPECT_FALSE(frame->has_value());
  EXPECT_TRUE(to.isClosed());
}

TEST(Connection, SaysWhenTheProcessIsOutOfDescriptors) {
  Pair pair;
  Connection from(std::move(pair.first)), to(std::move(pair.second));
  from.post(FrameKind::Parcel, blobOf(0, 1), std::vector<int>(60, 0));
  ASSERT_TRUE(from.flush().isOk());
  rlimit limit;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit low{40, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  long before = openDescriptors();
  auto frame = to.receive();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_FALSE(frame.isOk());
  EXPECT_EQ(frame.status().code(), StatusCode::SystemError);
  EXPECT_THAT(frame.status().message(), HasSubstr("60 came"));
  EXPECT_THAT(frame.status().message(), HasSubstr("40 descriptors (ulimit -n)"));
  to = Connection(UniqueFd());
  EXPECT_EQ(openDescriptors(), before - 1);
}

} // namespace
