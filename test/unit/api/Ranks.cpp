//===- Ranks.cpp - Runs the ranks of a test -------------------------------===//

#include "test/unit/api/Ranks.h"

#include "runtime/kernels/cpu/Reduce.h"
#include "test/unit/api/HandPlans.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace coil::test {

void expectSuccess(coilResult_t result, coilComm_t comm, const char *what) {
  EXPECT_EQ(result, coilSuccess) << what << ": " << coilGetErrorString(result) << ": "
                                 << coilGetLastError(comm);
}

static void runRank(const Setting &setting, const coilUniqueId &id, int rank,
                    const RankBody &body) {
  coilComm_t comm = nullptr;
  coilResult_t joined = coilCommInitRankConfig(&comm, setting.ranks, id, rank, &setting.config);
  ASSERT_EQ(joined, coilSuccess) << coilGetLastError(nullptr);
  for (const Plan &plan : setting.plans) {
    std::vector<uint8_t> file = planFile(plan);
    EXPECT_COIL(comm, coilCommLoadPlan(comm, file.data(), file.size()));
  }
  body(comm, rank);
  EXPECT_EQ(coilCommDestroy(comm), coilSuccess);
}

void runThreads(const Setting &setting, const RankBody &body) {
  coilUniqueId id;
  ASSERT_EQ(coilGetUniqueId(&id), coilSuccess);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < setting.ranks; ++rank)
    threads.emplace_back([&, rank] { runRank(setting, id, rank, body); });
  for (std::thread &thread : threads)
    thread.join();
}

void runProcesses(const Setting &setting, const RankBody &body, int mayDie) {
  coilUniqueId id;
  ASSERT_EQ(coilGetUniqueId(&id), coilSuccess);
  std::vector<pid_t> children;
  for (int rank = 0; rank < setting.ranks; ++rank) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      runRank(setting, id, rank, body);
      std::fflush(nullptr);
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (int rank = 0; rank < setting.ranks; ++rank) {
    int status = 0;
    ASSERT_EQ(waitpid(children[static_cast<size_t>(rank)], &status, 0),
              children[static_cast<size_t>(rank)]);
    if (rank != mayDie) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "rank " << rank << " ended with status " << status;
    }
  }
}

void runRanks(Ranks kind, const Setting &setting, const RankBody &body) {
  if (kind == Ranks::Threads)
    runThreads(setting, body);
  else
    runProcesses(setting, body);
}

std::vector<std::byte> smallValues(DataType type, uint64_t count, int rank, uint64_t salt) {
  size_t size = sizeOf(type);
  std::byte one[8], two[8];
  cpu::fromDouble(type, 1, one);
  cpu::fromDouble(type, 2, two);
  std::vector<std::byte> values(count * size);
  uint64_t state = 0x2545f4914f6cdd1d * (static_cast<uint64_t>(rank) * 77 + salt + 1);
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 32 == 0) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
    }
    std::memcpy(values.data() + i * size, (state >> (i % 32 + 16) & 1) != 0 ? two : one, size);
  }
  return values;
}

std::vector<std::byte> combined(DataType type, ReduceOp op, uint64_t count,
                                const std::vector<std::vector<std::byte>> &inputs, double scale) {
  std::vector<std::vector<std::byte>> scaled = inputs;
  std::byte scalar[8];
  cpu::fromDouble(type, scale, scalar);
  std::vector<const void *> sources;
  for (std::vector<std::byte> &each : scaled) {
    if (op == ReduceOp::PreMulSum)
      cpu::scaleKernel(type)(each.data(), each.data(), scalar, count);
    sources.push_back(each.data());
  }
  std::vector<std::byte> result(count * sizeOf(type));
  cpu::reduceKernel(type, op)(result.data(), sources.data(), sources.size(), count,
                              {op == ReduceOp::Avg ? inputs.size() : 1});
  return result;
}

GuardedBuffer::GuardedBuffer(size_t bytes) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t usable = (bytes + page - 1) / page * page;
  mappedBytes = usable + page;
  mapping = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(mapping, MAP_FAILED);
  auto *base = static_cast<std::byte *>(mapping);
  EXPECT_EQ(mprotect(base + usable, page, PROT_NONE), 0);
  first = base + usable - bytes;
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping, mappedBytes); }

} // namespace coil::test
