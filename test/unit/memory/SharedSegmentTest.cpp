//===- SharedSegmentTest.cpp - Segments and their errors ------------------===//

#include "runtime/memory/SharedSegment.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>

using namespace coil;
using testing::HasSubstr;

namespace {

long openDescriptors() {
  auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

std::string mappings() {
  std::ifstream file("/proc/self/maps");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SharedSegment, IsZeroedWritableAndOfTheSizeAskedFor) {
  for (size_t bytes : {size_t(1), size_t(4095), size_t(4096), size_t(4097), size_t(3) << 20}) {
    auto segment = SharedSegment::create("coil-test", bytes);
    ASSERT_TRUE(segment.isOk()) << segment.status().message();
    EXPECT_EQ(segment->size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(segment->data()) % 4096, 0u);
    for (size_t i = 0; i < bytes; ++i)
      ASSERT_EQ(segment->data()[i], std::byte(0));
    std::memset(segment->data(), 1, bytes);
  }
}

TEST(SharedSegment, SecondMappingSeesTheSameBytes) {
  auto first = SharedSegment::create("coil-test", 10000);
  ASSERT_TRUE(first.isOk());
  auto second = SharedSegment::map(UniqueFd(::dup(first->fd())), 10000);
  ASSERT_TRUE(second.isOk()) << second.status().message();
  EXPECT_NE(first->data(), second->data());
  first->data()[9999] = std::byte(7);
  EXPECT_EQ(second->data()[9999], std::byte(7));
  *first = SharedSegment();
  EXPECT_EQ(second->data()[9999], std::byte(7));
}

TEST(SharedSegment, IsSharedWithAForkedProcess) {
  auto segment = SharedSegment::create("coil-test", 64);
  ASSERT_TRUE(segment.isOk());
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    segment->data()[0] = std::byte(42);
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(segment->data()[0], std::byte(42));
}

TEST(SharedSegment, AbsurdSizesAreErrors) {
  for (size_t bytes : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1, size_t(1) << 50}) {
    auto segment = SharedSegment::create("coil-test", bytes);
    ASSERT_FALSE(segment.isOk());
    EXPECT_EQ(segment.status().code(), StatusCode::SystemError);
    EXPECT_THAT(segment.status().message(), HasSubstr(std::to_string(bytes)));
  }
  EXPECT_EQ(SharedSegment::create("coil-test", 0).status().code(), StatusCode::InvalidArgument);
}

TEST(SharedSegment, RefusesToMapWhatIsTooSmallOrNoSegment) {
  auto segment = SharedSegment::create("coil-test", 100);
  ASSERT_TRUE(segment.isOk());
  auto larger = SharedSegment::map(UniqueFd(::dup(segment->fd())), 101);
  EXPECT_EQ(larger.status().code(), StatusCode::InvalidArgument);
  EXPECT_THAT(larger.status().message(), HasSubstr("101 bytes or more, found 100"));
  EXPECT_FALSE(SharedSegment::map(UniqueFd(::dup(segment->fd())), 0).isOk());
  EXPECT_FALSE(SharedSegment::map(UniqueFd(), 1).isOk());
  EXPECT_FALSE(SharedSegment::map(UniqueFd(::open("/dev/zero", O_RDWR | O_CLOEXEC)), 1).isOk());
  UniqueFd unsealed(::memfd_create("other", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(unsealed.get(), 4096), 0);
  EXPECT_FALSE(SharedSegment::map(std::move(unsealed), 4096).isOk());
}

TEST(SharedSegment, NobodyCanShrinkIt) {
  auto segment = SharedSegment::create("coil-test", 8192);
  ASSERT_TRUE(segment.isOk());
  EXPECT_NE(::ftruncate(segment->fd(), 0), 0);
}

TEST(SharedSegment, LeavesNothingBehindAndUsesNoSharedMemoryFileSystem) {
  long before = openDescriptors();
  {
    auto segment = SharedSegment::create("coil-test", 4096);
    ASSERT_TRUE(segment.isOk());
    auto moved = std::move(*segment);
    EXPECT_EQ(segment->data(), nullptr);
    moved = SharedSegment(std::move(moved));
    EXPECT_THAT(mappings(), HasSubstr("memfd:coil-test"));
    EXPECT_THAT(mappings(), testing::Not(HasSubstr("/dev/shm/")));
    EXPECT_TRUE(::fcntl(moved.fd(), F_GETFD) & FD_CLOEXEC);
  }
  EXPECT_THAT(mappings(), testing::Not(HasSubstr("memfd:coil-test")));
  EXPECT_EQ(openDescriptors(), before);
}

} // namespace
