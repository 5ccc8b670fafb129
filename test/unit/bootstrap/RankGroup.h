//===- RankGroup.h - Ranks as threads and as processes ----------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_BOOTSTRAP_RANKGROUP_H
#define COIL_TEST_UNIT_BOOTSTRAP_RANKGROUP_H

#include "runtime/bootstrap/Bootstrap.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace coil::test {

inline UniqueId newId() { return *UniqueId::make(); }

/// Runs `body(rank)` for every rank in a thread of its own.
template <typename Body> void runRanks(int ranks, Body body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&body, rank] { body(rank); });
  for (std::thread &thread : threads)
    thread.join();
}

/// Connects, or fails the test.
inline std::unique_ptr<Bootstrap> connectOrFail(const UniqueId &id, int rank, int ranks,
                                                uint64_t timeoutMs = 60000) {
  auto bootstrap = Bootstrap::connect(id, rank, ranks, timeoutMs);
  EXPECT_TRUE(bootstrap.isOk()) << "rank " << rank << ": " << bootstrap.status().message();
  return bootstrap.isOk() ? *std::move(bootstrap) : nullptr;
}

/// A child process, killed with the object if it has not ended.
class Child {
public:
  /// The child runs `body()`, in which failed expectations show in its exit
  /// status. To be called while the parent has one thread.
  template <typename Body> explicit Child(Body body) {
    std::fflush(nullptr);
    pid = ::fork();
    EXPECT_GE(pid, 0);
    if (pid != 0)
      return;
    body();
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure());
  }
  Child(Child &&other) noexcept : pid(std::exchange(other.pid, -1)) {}
  ~Child() {
    if (pid > 0)
      kill();
  }
  void signal(int number) { ::kill(pid, number); }
  void kill() {
    signal(SIGKILL);
    wait();
  }
  /// The exit status, or -1 after a signal.
  int wait() {
    pid_t ended = std::exchange(pid, -1);
    int status = 0;
    EXPECT_EQ(::waitpid(ended, &status, 0), ended);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

private:
  pid_t pid = -1;
};

/// A number that the test and its children share.
class SharedCounter {
public:
  SharedCounter()
      : value(new (::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<int>(0)) {}
  ~SharedCounter() { ::munmap(value, sizeof(*value)); }
  SharedCounter(const SharedCounter &) = delete;
  void increment() { ++*value; }
  void await(int expected) const {
    while (*value < expected)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

private:
  std::atomic<int> *value;
};

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

inline long openDescriptors() {
  auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

inline std::vector<uint8_t> blobOf(int rank, size_t size) {
  std::vector<uint8_t> blob(size);
  for (size_t i = 0; i < size; ++i)
    blob[i] = static_cast<uint8_t>(rank * 31 + i * 7 + (i >> 8));
  return blob;
}

} // namespace coil::test

#endif // COIL_TEST_UNIT_BOOTSTRAP_RANKGROUP_H
