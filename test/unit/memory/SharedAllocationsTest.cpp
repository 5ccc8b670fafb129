//===- SharedAllocationsTest.cpp - Which bytes can be shared --------------===//

#include "runtime/memory/SharedAllocations.h"

#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <thread>
#include <vector>

using namespace coil;
using testing::HasSubstr;

namespace {

std::byte *allocate(size_t bytes) {
  auto pointer = allocateShared(bytes);
  EXPECT_TRUE(pointer.isOk()) << pointer.status().message();
  return static_cast<std::byte *>(*pointer);
}

TEST(SharedAllocations, FindsExactlyTheBytesOfAnAllocation) {
  std::byte *base = allocate(10000);
  auto whole = findShared(base, 10000);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->base, base);
  EXPECT_EQ(whole->offset, 0u);
  EXPECT_EQ(whole->allocationBytes, 10000u);
  EXPECT_GE(whole->fd, 0);
  auto part = findShared(base + 4000, 6000);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->offset, 4000u);
  EXPECT_EQ(part->id, whole->id);
  EXPECT_FALSE(findShared(base + 4000, 6001));
  EXPECT_FALSE(findShared(base, 10001));
  EXPECT_FALSE(findShared(base, SIZE_MAX));
  EXPECT_FALSE(findShared(base - 1, 1));
  EXPECT_FALSE(findShared(base + 10000, 1));
  EXPECT_FALSE(findShared(base + 10001, 0));
  EXPECT_FALSE(findShared(&base, sizeof(base)));
  EXPECT_FALSE(findShared(nullptr, 0));
  ASSERT_TRUE(freeShared(base).isOk());
  EXPECT_FALSE(findShared(base, 1));
}

TEST(SharedAllocations, NoBytesLieAtTheStartAndAtTheEnd) {
  std::byte *base = allocate(4096);
  EXPECT_EQ(findShared(base, 0)->offset, 0u);
  EXPECT_EQ(findShared(base + 17, 0)->offset, 17u);
  auto end = findShared(base + 4096, 0);
  ASSERT_TRUE(end); // of this allocation, or the start of a neighbour
  EXPECT_EQ(static_cast<std::byte *>(end->base) + end->offset, base + 4096);
  EXPECT_TRUE(freeShared(base).isOk());
}

TEST(SharedAllocations, NeighboursAreToldApart) {
  std::vector<std::byte *> all;
  for (int i = 0; i < 50; ++i)
    all.push_back(allocate(4096));
  for (std::byte *base : all) {
    EXPECT_EQ(findShared(base, 4096)->base, base);
    EXPECT_EQ(findShared(base, 0)->base, base);
    EXPECT_EQ(findShared(base + 4095, 1)->base, base);
    EXPECT_FALSE(findShared(base + 4095, 2));
  }
  for (std::byte *base : all)
    EXPECT_TRUE(freeShared(base).isOk());
}

TEST(SharedAllocations, AllocationsWithoutBytesDiffer) {
  std::byte *first = allocate(0), *second = allocate(0);
  EXPECT_NE(first, second);
  EXPECT_EQ(findShared(first, 0)->allocationBytes, 0u);
  EXPECT_NE(findShared(first, 0)->id, findShared(second, 0)->id);
  EXPECT_FALSE(findShared(first, 1));
  EXPECT_TRUE(freeShared(first).isOk());
  EXPECT_TRUE(freeShared(second).isOk());
}

TEST(SharedAllocations, RefusesToFreeOtherPointers) {
  std::byte *base = allocate(100);
  int local = 0;
  for (void *pointer : {static_cast<void *>(base + 1), static_cast<void *>(&local)}) {
    Status status = freeShared(pointer);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("coilMemAlloc"));
  }
  EXPECT_TRUE(freeShared(nullptr).isOk());
  EXPECT_TRUE(freeShared(base).isOk());
  EXPECT_FALSE(freeShared(base).isOk());
}

TEST(SharedAllocations, AbsurdSizesAreErrors) {
  EXPECT_EQ(allocateShared(SIZE_MAX).status().code(), StatusCode::SystemError);
  EXPECT_EQ(allocateShared(size_t(1) << 50).status().code(), StatusCode::SystemError);
}

TEST(SharedAllocations, MayBeUsedFromAllThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([thread] {
      for (int i = 0; i < 100; ++i) {
        size_t bytes = 1 + static_cast<size_t>(thread) * 1000 + i;
        std::byte *base = allocate(bytes);
        std::memset(base, thread, bytes);
        EXPECT_EQ(findShared(base, bytes)->base, base);
        EXPECT_TRUE(freeShared(base).isOk());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
