//===- AllReduceTime.cpp - How long an all-reduce takes, by size ----------===//
//
//   allreduce_time [ranks] [seconds a size] [directBytes] [slotBytes] [plan]
//
// Ranks are processes of this machine. For each size (bytes a rank, f32 sum, out
// of place) and each plan it prints the median and the least of the times of
// many batches of calls, in microseconds as rank 0 sees them. `direct` and
// `ring` run between plain buffers, `symmetric` between registered ones. A plan's
// name restricts the run to it.
//
//===----------------------------------------------------------------------===//

#include "runtime/include/coil/coil.h"
#include "test/unit/api/HandPlans.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace coil;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
  int ranks = 2;
  double seconds = 0.2;
  std::string plan;
  coilConfig_t config = COIL_CONFIG_INITIALIZER;
};

void require(coilResult_t result, coilComm_t comm) {
  if (result == coilSuccess)
    return;
  std::fprintf(stderr, "allreduce_time: %s\n", coilGetLastError(comm));
  std::exit(1);
}

struct Times {
  double median, least;
};

/// Microseconds a call. Ranks agree on the number of calls by running one of
/// their own to measure, whose result is shared by an all-reduce.
Times measure(coilComm_t comm, const float *send, float *receive, size_t count, double seconds) {
  auto run = [&](int calls) {
    auto start = Clock::now();
    for (int i = 0; i < calls; ++i)
      require(coilAllReduce(send, receive, count, coilFloat32, coilSum, comm, nullptr), comm);
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  run(3);
  double once = run(3) / 3, slowest = 0;
  require(coilAllReduce(&once, &slowest, 1, coilFloat64, coilMax, comm, nullptr), comm);
  constexpr int batches = 21;
  int calls = std::clamp(static_cast<int>(seconds / batches / slowest), 1, 20000);
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch)
    times.push_back(run(calls) / calls * 1e6);
  std::sort(times.begin(), times.end());
  return {times[batches / 2], times.front()};
}

void runRank(const Options &options, const coilUniqueId &id, int rank) {
  coilComm_t comm = nullptr;
  require(coilCommInitRankConfig(&comm, options.ranks, id, rank, &options.config), nullptr);
  constexpr size_t largest = 64 << 20;
  void *memory = nullptr;
  require(coilMemAlloc(&memory, 2 * largest), nullptr);
  coilWindow_t window = nullptr;
  require(coilCommRegister(comm, memory, 2 * largest, &window), comm);
  auto *registered = static_cast<float *>(memory);
  constexpr size_t elements = largest / sizeof(float);
  std::vector<float> send(elements, 1.0f), receive(elements);
  std::fill(registered, registered + elements, 1.0f);

  auto ranks = static_cast<uint32_t>(options.ranks);
  struct {
    const char *name;
    Plan plan;
    bool registered;
  } cases[] = {{"direct", test::directAllReduce(ranks), false},
               {"ring", test::ringAllReduce(ranks), false},
               {"symmetric", test::mixedAllReduce(ranks), true}};
  if (rank == 0)
    std::printf("%-10s %10s %12s %12s\n", "plan", "bytes", "median us", "least us");
  for (auto &each : cases) {
    if (!options.plan.empty() && options.plan != each.name)
      continue;
    std::vector<uint8_t> file = test::planFile(each.plan);
    require(coilCommLoadPlan(comm, file.data(), file.size()), comm);
    for (size_t bytes : {size_t{4}, size_t{256}, size_t{1} << 10, size_t{4} << 10, size_t{8} << 10,
                         size_t{16} << 10, size_t{32} << 10, size_t{128} << 10, size_t{1} << 20,
                         size_t{4} << 20, size_t{16} << 20, largest}) {
      const float *from = each.registered ? registered : send.data();
      float *to = each.registered ? registered + elements : receive.data();
      Times times = measure(comm, from, to, bytes / sizeof(float), options.seconds);
      if (rank == 0)
        std::printf("%-10s %10zu %12.3f %12.3f\n", each.name, bytes, times.median, times.least);
    }
  }
  std::fflush(stdout);
  require(coilCommDeregister(comm, window), comm);
  require(coilMemFree(memory), nullptr);
  require(coilCommDestroy(comm), nullptr);
}

} // namespace

int main(int count, char **arguments) {
  Options options;
  if (count > 1)
    options.ranks = std::atoi(arguments[1]);
  if (count > 2)
    options.seconds = std::atof(arguments[2]);
  if (count > 3)
    options.config.directBytes = std::strtoull(arguments[3], nullptr, 10);
  if (count > 4)
    options.config.slotBytes = std::strtoull(arguments[4], nullptr, 10);
  if (count > 5)
    options.plan = arguments[5];
  if (options.ranks < 1 || options.seconds <= 0) {
    std::fprintf(stderr,
                 "usage: allreduce_time [ranks] [seconds] [directBytes] [slotBytes] [plan]\n");
    return 2;
  }
  coilUniqueId id;
  require(coilGetUniqueId(&id), nullptr);
  for (int rank = 0; rank < options.ranks; ++rank)
    if (fork() == 0) {
      runRank(options, id, rank);
      return 0;
    }
  int worst = 0;
  for (int status = 0; wait(&status) > 0;)
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  return worst;
}
