//===- CopyTest.cpp - Copies with and without the caches ------------------===//

#include "test/unit/kernels/TestKernels.h"

#include <algorithm>

namespace coil::test {
namespace {

TEST(CopyTest, StreamingCopiesExactlyTheBytesForEverySizeAndAlignment) {
  std::mt19937_64 random(1);
  Bytes source = randomElements(DataType::U8, 2000, Fill::AnyBits, random);
  Bytes destination(2200);
  for (const cpu::KernelTable *table : runnableKernels())
    for (size_t bytes = 0; bytes <= 1500; bytes += bytes < 700 ? 1 : 97)
      for (size_t toOffset : {64, 65, 67, 72, 127})
        for (size_t fromOffset : {0, 1, 3}) {
          std::fill(destination.begin(), destination.end(), 0xA5);
          table->copyStreaming(&destination[toOffset], &source[fromOffset], bytes);
          for (size_t i = 0; i < destination.size(); ++i) {
            bool inside = i >= toOffset && i < toOffset + bytes;
            ASSERT_EQ(destination[i], inside ? source[fromOffset + i - toOffset] : 0xA5)
                << table->name << ": byte " << i << " of a copy of " << bytes;
          }
        }
}

TEST(CopyTest, TouchesNothingBeyondItsBytes) {
  constexpr size_t size = 5000;
  GuardedBuffer source(size), destination(size);
  for (const cpu::KernelTable *table : runnableKernels())
    for (size_t bytes = 0; bytes <= size; bytes += bytes < 600 ? 1 : 41) {
      std::memset(source.last(bytes), 0x3C, bytes);
      table->copyStreaming(destination.last(bytes), source.last(bytes), bytes);
      ASSERT_EQ(std::memcmp(destination.last(bytes), source.last(bytes), bytes), 0);
      table->copyStreaming(destination.begin(), source.begin(), bytes);
    }
}

TEST(CopyTest, CopyBytes) {
  std::mt19937_64 random(2);
  Bytes source = randomElements(DataType::U8, 100003, Fill::AnyBits, random);
  for (bool streaming : {false, true}) {
    Bytes destination(source.size());
    cpu::copyBytes(destination.data(), source.data(), source.size(), streaming);
    EXPECT_EQ(destination, source);
    cpu::copyBytes(destination.data(), destination.data(), source.size(), streaming);
    EXPECT_EQ(destination, source);
    cpu::copyBytes(nullptr, nullptr, 0, streaming);
  }
}

} // namespace
} // namespace coil::test
