//===- TestKernels.h - What the tests of the kernels share ------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_KERNELS_TESTKERNELS_H
#define COIL_TEST_UNIT_KERNELS_TESTKERNELS_H

#include "runtime/kernels/cpu/KernelTable.h"
#include "test/unit/kernels/Reference.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace coil::test {

/// The tables that this machine can run.
inline std::vector<const cpu::KernelTable *> runnableKernels() {
  std::vector<const cpu::KernelTable *> tables;
  for (const char *limit : {"baseline", "avx2", "avx512"})
    if (const cpu::KernelTable *table = &cpu::selectKernels(limit);
        tables.empty() || tables.back() != table)
      tables.push_back(table);
  return tables;
}

/// `capacity` usable bytes, whole pages, between two pages that no one may touch.
class GuardedBuffer {
public:
  explicit GuardedBuffer(size_t minCapacity) : page(sysconf(_SC_PAGESIZE)) {
    capacity = (minCapacity + page - 1) / page * page;
    void *mapped =
        mmap(nullptr, capacity + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    usable = static_cast<char *>(mapped) + page;
    EXPECT_EQ(mprotect(usable, capacity, PROT_READ | PROT_WRITE), 0);
  }
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;
  ~GuardedBuffer() { munmap(usable - page, capacity + 2 * page); }

  char *begin() { return usable; }
  /// The last `bytes` usable bytes.
  char *last(size_t bytes) { return usable + capacity - bytes; }

private:
  size_t page, capacity;
  char *usable;
};

/// Names a case in a failure's trace.
inline std::string describe(const cpu::KernelTable &table, DataType type, ReduceOp op) {
  return std::string(table.name) + " " + std::string(nameOf(type)) + " " + std::string(nameOf(op));
}

inline cpu::ReduceKernel kernelOf(const cpu::KernelTable &table, DataType type, ReduceOp op) {
  return table.reduce[static_cast<int>(type)][static_cast<int>(op)];
}

} // namespace coil::test

#endif // COIL_TEST_UNIT_KERNELS_TESTKERNELS_H
