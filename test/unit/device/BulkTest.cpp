//===- BulkTest.cpp - Copies by the copying engine ------------------------===//

#include "runtime/kernels/device/Bulk.h"
#include "test/unit/emulation/Support.h"

#include <algorithm>
#include <cstring>

namespace coil::test {
namespace {

using namespace coil::device;
using emulation::HasNoProblem;
using emulation::HasProblem;
using emulation::ProblemKind;

constexpr u64 margin = 32;
constexpr u32 threads = 64;

/// A copy of elements between byte offsets, with room around the destination.
template <typename Element> class Copy {
public:
  Copy(u64 count, u32 from, u32 to)
      : count(count), from(from), to(to), source(memoryFor(from, 0)), destination(memoryFor(to, 1)),
        before(destination) {
    for (u64 i = 0; i < count * sizeof(Element); ++i)
      sourceAt()[i] = static_cast<u8>(i * 7 + i / 251 + from);
  }

  u8 *sourceAt() { return aligned(source) + from; }
  u8 *destinationAt() { return aligned(destination) + to; }

  /// By all threads.
  void run(u8 *shared) {
    Terms<Element> terms = {};
    bulkCopyMemory<Element, Sum>(destinationAt(), sourceAt(), count, shared, terms);
    syncBlock();
    // Other threads may read what has been written.
    for (u64 i = threadIndex(); i < count * sizeof(Element); i += blockThreads())
      wrongAtDevice += loadData<u8>(destinationAt() + i) != sourceAt()[i];
  }

  /// Empty if exactly the elements have been copied.
  std::string check() {
    u64 bytes = count * sizeof(Element);
    if (wrongAtDevice != 0)
      return std::to_string(wrongAtDevice) + " bytes were wrong behind the barrier";
    std::memcpy(aligned(before) + to, sourceAt(), bytes);
    // The vectors need not lie at the same address modulo 128.
    if (std::memcmp(aligned(before), aligned(destination), to + bytes + margin) != 0)
      return "wrong bytes, " + std::to_string(bytes) + " from " + std::to_string(from) + " to " +
             std::to_string(to);
    return "";
  }

private:
  using Memory = std::vector<u8>;
  Memory memoryFor(u32 offset, u8 fill) {
    return Memory(128 + offset + count * sizeof(Element) + margin, fill);
  }
  static u8 *aligned(Memory &memory) {
    return memory.data() + (128 - reinterpret_cast<u64>(memory.data()) % 128) % 128;
  }

  u64 count;
  u32 from, to;
  Memory source, destination, before;
  u64 wrongAtDevice = 0; ///< the threads of a block take turns
};

template <typename Element>
std::vector<emulation::Problem> runAll(std::vector<Copy<Element>> &copies, u32 capability = 90) {
  emulation::KernelLaunch launch = {1, threads, bulkSharedBytes, 0, [&] {
                                      for (Copy<Element> &copy : copies)
                                        copy.run(sharedMemory());
                                    }};
  launch.computeCapability = capability;
  // Where there is no engine, no shared memory is needed.
  if (capability < 90)
    launch.sharedBytes = 0;
  return emulation::run({launch}, 60);
}

template <typename Element> void expectRight(std::vector<Copy<Element>> copies) {
  ASSERT_THAT(runAll(copies), HasNoProblem());
  for (Copy<Element> &copy : copies)
    ASSERT_EQ(copy.check(), "");
}

TEST(BulkTest, EveryMisalignmentOfShortCopies) {
  std::vector<Copy<u8>> copies;
  for (u32 from = 0; from < 16; ++from)
    for (u32 to = 0; to < 16; ++to)
      for (u64 count : {0, 1, 15, 16, 17, 31, 32, 33, 47, 100, 300})
        copies.emplace_back(count, from, to);
  expectRight(std::move(copies));
}

TEST(BulkTest, SizesAroundTheBuffers) {
  std::vector<Copy<u8>> copies;
  for (u64 pieces = 1; pieces <= 2 * bulkBuffers + 1; ++pieces)
    for (i32 more : {-17, -16, -1, 0, 1, 16, 4000})
      for (u32 offset : {0u, 5u})
        copies.emplace_back(pieces * bulkBufferBytes + static_cast<u64>(i64(more)), offset, offset);
  expectRight(std::move(copies));
}

TEST(BulkTest, EveryMisalignmentOfLongCopies) {
  std::vector<Copy<u8>> copies;
  for (u32 offset = 0; offset < 16; ++offset) {
    copies.emplace_back(5 * bulkBufferBytes + 333, offset, offset);
    copies.emplace_back(2 * bulkBufferBytes + 77, offset, 15 - offset);
  }
  expectRight(std::move(copies));
}

TEST(BulkTest, WideElements) {
  std::vector<Copy<double>> doubles;
  std::vector<Copy<Half>> halves;
  for (u64 count : {1u, 7u, 5000u})
    for (u32 from : {0, 2, 3, 8, 14})
      for (u32 to : {0, 2, 3, 8, 14}) {
        doubles.emplace_back(count, from, to);
        halves.emplace_back(count, from, to);
      }
  expectRight(std::move(doubles));
  expectRight(std::move(halves));
}

TEST(BulkTest, InPlace) {
  Copy<u8> copy(3 * bulkBufferBytes + 100, 4, 4);
  std::vector<u8> expected(copy.sourceAt(), copy.sourceAt() + 3 * bulkBufferBytes + 100);
  auto kernel = [&] {
    bulkCopyMemory<u8, Sum>(copy.sourceAt(), copy.sourceAt(), expected.size(), sharedMemory(), {});
  };
  ASSERT_THAT(emulation::run({{1, threads, bulkSharedBytes, 0, kernel}}), HasNoProblem());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), copy.sourceAt()));
}

TEST(BulkTest, OlderDevicesCopyByThemselves) {
  std::vector<Copy<u8>> copies;
  for (u64 count : {0u, 5u, 1000u, 40000u})
    for (u32 to : {3, 4})
      copies.emplace_back(count, 3, to);
  ASSERT_THAT(runAll(copies, 80), HasNoProblem());
  for (Copy<u8> &copy : copies)
    EXPECT_EQ(copy.check(), "");
  // And the others do not: the engine needs shared memory.
  Copy<u8> copy(1000, 3, 3);
  auto kernel = [&] { copy.run(sharedMemory()); };
  EXPECT_THAT(emulation::run({{1, threads, 0, 0, kernel}}), HasProblem(ProblemKind::Misuse));
}

/// Two blocks on devices of their own: one copies what the other has written, and
/// tells it to read the copy.
class TwoDevices {
public:
  std::vector<emulation::Problem> run(bool waitsForData, bool syncsBeforeTelling) {
    emulation::TrackingScope tracking;
    auto copier = [=, this] {
      if (waitsForData && threadIndex() == 0)
        while (loadAcquire<Scope::System>(&isWritten) == 0)
          pause();
      syncBlock();
      Terms<u8> terms = {};
      bulkCopyMemory<u8, Sum>(copy.destinationAt(), copy.sourceAt(), bytes, sharedMemory(), terms);
      if (syncsBeforeTelling)
        syncBlock();
      if (threadIndex() == threads - 1)
        storeRelease<Scope::System>(&isCopied, 1);
    };
    auto peer = [=, this] {
      for (u64 i = threadIndex() * 4; i < bytes; i += blockThreads() * 4)
        storeData<u32>(copy.sourceAt() + i, static_cast<u32>(i));
      syncBlock();
      if (threadIndex() == 0) {
        storeRelease<Scope::System>(&isWritten, 1);
        while (loadAcquire<Scope::System>(&isCopied) == 0)
          pause();
      }
      syncBlock();
      for (u64 i = threadIndex() * 4; i < bytes; i += blockThreads() * 4)
        wrong += loadData<u32>(copy.destinationAt() + i) != i;
    };
    return emulation::run({{1, threads, bulkSharedBytes, 0, copier}, {1, threads, 0, 1, peer}}, 60);
  }

  u64 wrong = 0;

private:
  static constexpr u64 bytes = 2 * bulkBufferBytes + 20;
  Copy<u8> copy{bytes, 4, 4};
  alignas(8) u64 isWritten = 0, isCopied = 0;
};

TEST(BulkTest, TrackedAsPlainAccesses) {
  TwoDevices right;
  EXPECT_THAT(right.run(true, true), HasNoProblem());
  EXPECT_EQ(right.wrong, 0u);
  EXPECT_THAT(TwoDevices().run(false, true), HasProblem(ProblemKind::Race));
  EXPECT_THAT(TwoDevices().run(true, false), HasProblem(ProblemKind::Race));
}

TEST(BulkTest, BlocksHaveBuffersOfTheirOwn) {
  emulation::TrackingScope tracking;
  Copy<u8> first(9000, 1, 1), second(9000, 2, 2);
  auto kernel = [&] { (blockIndex() == 0 ? first : second).run(sharedMemory()); };
  ASSERT_THAT(emulation::run({{2, threads, bulkSharedBytes, 0, kernel}}), HasNoProblem());
  EXPECT_EQ(first.check() + second.check(), "");
}

} // namespace
} // namespace coil::test
