//===- Ranks.h - Runs the ranks of a test -----------------------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_API_RANKS_H
#define COIL_TEST_UNIT_API_RANKS_H

#include "runtime/include/coil/coil.h"
#include "runtime/plan/Plan.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace coil::test {

struct Setting {
  int ranks = 2;
  std::vector<Plan> plans;
  coilConfig_t config = COIL_CONFIG_INITIALIZER;
};

/// Joins the communicator, loads the plans, runs `body` and destroys.
using RankBody = std::function<void(coilComm_t comm, int rank)>;

/// Runs the body on every rank, each a thread of this process.
void runThreads(const Setting &setting, const RankBody &body);
/// The same, each rank a process; a failed expectation there fails the test here.
/// A rank that dies by a signal is no failure if it is `mayDie`.
void runProcesses(const Setting &setting, const RankBody &body, int mayDie = -1);

/// Which of both.
enum class Ranks { Threads, Processes };
void runRanks(Ranks kind, const Setting &setting, const RankBody &body);

/// A rank's test data: small whole numbers, of which sums and products over 4
/// ranks are exact in every type.
std::vector<std::byte> smallValues(DataType type, uint64_t count, int rank, uint64_t salt = 0);
/// All ranks' elements combined in the order of ranks, by the kernels. `scale`
/// multiplies each first.
std::vector<std::byte> combined(DataType type, ReduceOp op, uint64_t count,
                                const std::vector<std::vector<std::byte>> &inputs,
                                double scale = 1);

/// Memory of which the last byte is the last before an inaccessible page, and the
/// first is `offset` bytes into a page if `bytes` allow.
class GuardedBuffer {
public:
  explicit GuardedBuffer(size_t bytes);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;
  std::byte *data() { return first; }

private:
  void *mapping;
  size_t mappedBytes;
  std::byte *first;
};

/// Expects success; the failure shows the communicator's sentence.
void expectSuccess(coilResult_t result, coilComm_t comm, const char *what);
#define EXPECT_COIL(comm, call) ::coil::test::expectSuccess((call), (comm), #call)

} // namespace coil::test

#endif // COIL_TEST_UNIT_API_RANKS_H
