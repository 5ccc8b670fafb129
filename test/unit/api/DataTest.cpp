//===- DataTest.cpp - Collectives give the right data ---------------------===//

#include "runtime/kernels/cpu/Reduce.h"
#include "test/unit/api/HandPlans.h"
#include "test/unit/api/Ranks.h"

#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace coil;
using namespace coil::test;

namespace {

using Bytes = std::vector<std::byte>;

// A sanitizer makes calls ten times as long, and more.
#ifdef COIL_SANITIZED
constexpr bool isSanitized = true;
constexpr uint64_t countsToTry[] = {0, 1, 13, 4097};
constexpr uint64_t largeCount = (1 << 17) + 1;
#else
constexpr bool isSanitized = false;
constexpr uint64_t countsToTry[] = {0, 1, 2, 3, 12, 13, 17, 1000, 4096, 4097, 20011};
constexpr uint64_t largeCount = (1 << 20) + 1;
#endif

coilDataType_t apiType(DataType type) { return static_cast<coilDataType_t>(type); }

/// Where a rank's buffers lie.
enum class Memory { Plain, Guarded, Registered };

/// One buffer of a call, in memory of some kind, at some alignment.
class Buffer {
public:
  Buffer(Memory memory, size_t bytes, size_t misalignment, coilComm_t comm) : comm(comm) {
    switch (memory) {
    case Memory::Plain:
      plain.resize(bytes + misalignment);
      start = plain.data() + misalignment;
      break;
    case Memory::Guarded:
      guarded = std::make_unique<GuardedBuffer>(bytes + misalignment);
      start = guarded->data();
      break;
    case Memory::Registered:
      EXPECT_COIL(nullptr, coilMemAlloc(&allocation, bytes + misalignment + 1));
      EXPECT_COIL(comm, coilCommRegister(comm, allocation, bytes + misalignment + 1, &window));
      start = static_cast<std::byte *>(allocation) + misalignment;
      break;
    }
  }
  ~Buffer() {
    if (!allocation)
      return;
    EXPECT_COIL(comm, coilCommDeregister(comm, window));
    EXPECT_COIL(nullptr, coilMemFree(allocation));
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  std::byte *data() { return start; }

private:
  coilComm_t comm;
  Bytes plain;
  std::unique_ptr<GuardedBuffer> guarded;
  void *allocation = nullptr;
  coilWindow_t window = nullptr;
  std::byte *start = nullptr;
};

struct Case {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::F32;
  ReduceOp op = ReduceOp::Sum;
  uint64_t count = 0;
  int root = 0;
  bool inPlace = false;
  Memory memory = Memory::Plain;
  size_t misalignment = 0;
};

coilResult_t callCollective(const Case &test, const void *send, void *receive, coilRedOp_t op,
                            coilComm_t comm) {
  switch (test.collective) {
  case Collective::AllReduce:
    return coilAllReduce(send, receive, test.count, apiType(test.type), op, comm, nullptr);
  case Collective::AllGather:
    return coilAllGather(send, receive, test.count, apiType(test.type), comm, nullptr);
  case Collective::ReduceScatter:
    return coilReduceScatter(send, receive, test.count, apiType(test.type), op, comm, nullptr);
  case Collective::Reduce:
    return coilReduce(send, receive, test.count, apiType(test.type), op, test.root, comm, nullptr);
  case Collective::Gather:
    return coilGather(send, receive, test.count, apiType(test.type), test.root, comm, nullptr);
  case Collective::Scatter:
    return coilScatter(send, receive, test.count, apiType(test.type), test.root, comm, nullptr);
  case Collective::AllToAll:
    return coilAlltoAll(send, receive, test.count, apiType(test.type), comm, nullptr);
  case Collective::SendRecv:
    return coilSendRecv(send, receive, test.count, apiType(test.type), comm, nullptr);
  default:
    return coilBroadcast(send, receive, test.count, apiType(test.type), test.root, comm, nullptr);
  }
}

/// What `rank` must have in its receive buffer; nothing if it has none.
Bytes expected(const Case &test, int rank, int ranks, const std::vector<Bytes> &inputs) {
  size_t bytes = test.count * sizeOf(test.type);
  constexpr double scale = 2;
  if (segmentCounts(test.collective, ranks, rank == test.root).output == 0)
    return {};
  auto segmentOf = [&](const Bytes &buffer, int segment) -> Bytes {
    auto begin = buffer.begin() + static_cast<ptrdiff_t>(bytes * static_cast<size_t>(segment));
    return {begin, begin + static_cast<ptrdiff_t>(bytes)};
  };
  switch (test.collective) {
  case Collective::Reduce:
  case Collective::AllReduce:
    return combined(test.type, test.op, test.count, inputs, scale);
  case Collective::AllToAll: {
    Bytes all;
    for (const Bytes &input : inputs) {
      Bytes segment = segmentOf(input, rank);
      all.insert(all.end(), segment.begin(), segment.end());
    }
    return all;
  }
  case Collective::Scatter:
    return segmentOf(inputs[static_cast<size_t>(test.root)], rank);
  case Collective::SendRecv:
    return inputs[static_cast<size_t>((rank + ranks - 1) % ranks)];
  case Collective::Gather:
  case Collective::AllGather: {
    Bytes all;
    for (const Bytes &input : inputs)
      all.insert(all.end(), input.begin(), input.end());
    return all;
  }
  case Collective::ReduceScatter: {
    Bytes all =
        combined(test.type, test.op, test.count * static_cast<uint64_t>(ranks), inputs, scale);
    return segmentOf(all, rank);
  }
  default:
    return inputs[static_cast<size_t>(test.root)];
  }
}

/// Runs one case on one rank; every rank computes all ranks' inputs.
void check(const Case &test, coilComm_t comm, int rank, int ranks) {
  SegmentCounts segments = segmentCounts(test.collective, ranks);
  size_t bytes = test.count * sizeOf(test.type);
  size_t inputBytes = bytes * static_cast<size_t>(segments.input);
  size_t outputBytes = bytes * static_cast<size_t>(segments.output);
  std::vector<Bytes> inputs;
  for (int each = 0; each < ranks; ++each)
    inputs.push_back(
        smallValues(test.type, test.count * static_cast<uint64_t>(segments.input), each));
  const Bytes &own = inputs[static_cast<size_t>(rank)];

  coilRedOp_t op = static_cast<coilRedOp_t>(test.op);
  if (test.op == ReduceOp::PreMulSum) {
    std::byte scalar[8];
    cpu::fromDouble(test.type, 2, scalar);
    EXPECT_COIL(comm, coilRedOpCreatePreMulSum(&op, scalar, apiType(test.type), comm));
  }
  std::string name = fmt::format("{} of {} {} {} on rank {} of {}{}", nameOf(test.collective),
                                 test.count, nameOf(test.type), nameOf(test.op), rank, ranks,
                                 test.inPlace ? ", in place" : "");
  Bytes want = expected(test, rank, ranks, inputs);
  size_t rankOffset = static_cast<size_t>(rank) * bytes;
  // Ranks have their buffers at different offsets.
  size_t misalignment = test.misalignment == 0 ? 0 : test.misalignment + static_cast<size_t>(rank);
  bool hasInPlace =
      test.collective != Collective::AllToAll && test.collective != Collective::SendRecv;
  if (test.inPlace && hasInPlace && !hasRoot(test.collective)) {
    Buffer both(test.memory, std::max(inputBytes, outputBytes), misalignment, comm);
    std::byte *send = both.data(), *receive = both.data();
    if (test.collective == Collective::AllGather)
      send += rankOffset;
    else if (test.collective == Collective::ReduceScatter)
      receive += rankOffset;
    if (!own.empty())
      std::memcpy(send, own.data(), own.size());
    coilResult_t result = callCollective(test, send, receive, op, comm);
    ASSERT_EQ(result, coilSuccess) << name << ": " << coilGetLastError(comm);
    EXPECT_TRUE(want.empty() || std::memcmp(receive, want.data(), want.size()) == 0) << name;
  } else {
    Buffer sendBuffer(test.memory, inputBytes, misalignment, comm);
    Buffer receiveBuffer(test.memory, outputBytes, misalignment, comm);
    std::byte *send = sendBuffer.data(), *receive = receiveBuffer.data();
    // With a root, only its own buffers are ever one.
    bool isRoot = rank == test.root, inPlace = test.inPlace && hasRoot(test.collective) && isRoot;
    if (inPlace && test.collective == Collective::Scatter)
      receive = send + rankOffset;
    else if (inPlace)
      send = receive + (test.collective == Collective::Gather ? rankOffset : 0);
    // A buffer that matters on root alone is something or nothing elsewhere.
    SegmentCounts here = segmentCounts(test.collective, ranks, isRoot);
    if (here.input == 0 && test.misalignment == 0)
      send = nullptr;
    if (here.output == 0 && test.misalignment == 0)
      receive = nullptr;
    if (send && !own.empty())
      std::memcpy(send, own.data(), own.size());
    coilResult_t result = callCollective(test, send, receive, op, comm);
    ASSERT_EQ(result, coilSuccess) << name << ": " << coilGetLastError(comm);
    EXPECT_TRUE(want.empty() || std::memcmp(receive, want.data(), want.size()) == 0) << name;
    bool keepsInput = send && !own.empty() && !(inPlace && test.collective == Collective::Reduce);
    EXPECT_TRUE(!keepsInput || std::memcmp(send, own.data(), own.size()) == 0)
        << name << ": the send buffer was written";
  }
  if (test.op == ReduceOp::PreMulSum)
    EXPECT_COIL(comm, coilRedOpDestroy(op, comm));
}

Setting settingFor(int ranks, uint64_t slotBytes = 4096, uint64_t directBytes = 0) {
  auto count = static_cast<uint32_t>(ranks);
  Setting setting;
  setting.ranks = ranks;
  setting.plans = {mixedAllReduce(count), allGather(count), reduceScatter(count),
                   broadcast(count),      reduce(count),    gather(count),
                   scatter(count),        allToAll(count),  sendRecv(count)};
  setting.config.slotBytes = slotBytes;
  setting.config.directBytes = directBytes;
  return setting;
}

constexpr Collective collectives[] = {
    Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter,
    Collective::Broadcast, Collective::Reduce,    Collective::Gather,
    Collective::Scatter,   Collective::AllToAll,  Collective::SendRecv};

class DataTest : public ::testing::TestWithParam<int> {};

TEST_P(DataTest, EveryTypeAndOperatorStagedAndDirect) {
  int ranks = GetParam();
  runThreads(settingFor(ranks), [ranks](coilComm_t comm, int rank) {
    for (int type = 0; type < numDataTypes; ++type)
      for (int op = 0; op < numReduceOps; ++op)
        for (Memory memory : {Memory::Plain, Memory::Registered})
          for (Collective collective :
               {Collective::AllReduce, Collective::ReduceScatter, Collective::Reduce}) {
            Case test{collective, static_cast<DataType>(type), static_cast<ReduceOp>(op)};
            test.root = hasRoot(collective) ? op % ranks : 0;
            test.count = 1000;
            test.memory = memory;
            test.inPlace = (type + op) % 2 == 0;
            check(test, comm, rank, ranks);
          }
  });
}

TEST_P(DataTest, EveryCollectiveCountFormAndMemory) {
  int ranks = GetParam();
  runThreads(settingFor(ranks), [ranks](coilComm_t comm, int rank) {
    for (Collective collective : collectives)
      for (uint64_t count : countsToTry)
        for (bool inPlace : {false, true})
          for (Memory memory : {Memory::Plain, Memory::Guarded, Memory::Registered})
            for (size_t misalignment : {0, 3}) {
              Case test{collective, DataType::F32, ReduceOp::Sum, count};
              test.root = static_cast<int>(count) % ranks;
              test.inPlace = inPlace;
              test.memory = memory;
              test.misalignment = misalignment;
              check(test, comm, rank, ranks);
            }
  });
}

TEST_P(DataTest, BytesOfALargeMessage) {
  int ranks = GetParam();
  runThreads(settingFor(ranks, 64 << 10, 16 << 10), [ranks](coilComm_t comm, int rank) {
    for (Collective collective : collectives)
      for (Memory memory : {Memory::Guarded, Memory::Registered})
        for (bool inPlace : {false, true}) {
          Case test{collective, DataType::I8, ReduceOp::Sum, largeCount};
          test.memory = memory;
          test.inPlace = inPlace;
          check(test, comm, rank, ranks);
        }
  });
}

TEST_P(DataTest, RingWithSlotsOfOneLine) {
  int ranks = GetParam();
  Setting setting;
  setting.ranks = ranks;
  setting.plans = {ringAllReduce(static_cast<uint32_t>(ranks))};
  setting.config.slotBytes = 64;
  runThreads(setting, [ranks](coilComm_t comm, int rank) {
    for (DataType type : {DataType::U8, DataType::BF16, DataType::F64})
      for (uint64_t count : {0, 1, 5, 64, 1000, 5000})
        for (bool inPlace : {false, true}) {
          Case test{Collective::AllReduce, type, ReduceOp::Avg, count};
          test.inPlace = inPlace;
          check(test, comm, rank, ranks);
        }
  });
}

TEST_P(DataTest, ManySmallCallsOfMixedKinds) {
  int ranks = GetParam();
  constexpr int calls = isSanitized ? 1000 : 10000;
  runProcesses(settingFor(ranks, 4096, 16 << 10), [ranks](coilComm_t comm, int rank) {
    uint64_t state = 42;
    for (int i = 0; i < calls; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      uint64_t random = state >> 33;
      Case test{collectives[random % std::size(collectives)], DataType::I32, ReduceOp::Sum,
                random / 4 % 30};
      test.root = static_cast<int>(random / 128 % static_cast<uint64_t>(ranks));
      test.inPlace = random / 512 % 2 != 0;
      check(test, comm, rank, ranks);
      if (::testing::Test::HasFailure())
        return;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, DataTest, ::testing::Values(1, 2, 3, 4));

TEST(DataPlansTest, ScratchAndWorkers) {
  for (const Plan &plan : {scratchAllReduce(), workersAllReduce()}) {
    Setting setting;
    setting.plans = {plan};
    setting.config.slotBytes = 1024;
    setting.config.directBytes = 0;
    for (Ranks kind : {Ranks::Threads, Ranks::Processes})
      runRanks(kind, setting, [](coilComm_t comm, int rank) {
        for (Memory memory : {Memory::Plain, Memory::Registered})
          for (uint64_t count : {0, 1, 17, 1000, 10007})
            for (ReduceOp op : {ReduceOp::Sum, ReduceOp::PreMulSum})
              for (bool inPlace : {false, true}) {
                Case test{Collective::AllReduce, DataType::F32, op, count};
                test.memory = memory;
                test.inPlace = inPlace;
                check(test, comm, rank, 2);
              }
      });
  }
}

/// The first segment that `rank` of three gets where rank r sends r + 1 everywhere,
/// and rank 1 is root.
float firstOnThree(Collective collective, int rank) {
  switch (collective) {
  case Collective::AllGather:
  case Collective::Gather:
  case Collective::AllToAll:
    return 1;
  case Collective::Broadcast:
  case Collective::Scatter:
    return 2;
  case Collective::SendRecv:
    return static_cast<float>((rank + 2) % 3 + 1);
  default:
    return 6;
  }
}

TEST(DataPlansTest, RegisteredOnSomeRanksOnly) {
  runProcesses(settingFor(3), [](coilComm_t comm, int rank) {
    for (Collective collective : collectives)
      for (int plainRank = 0; plainRank < 3; ++plainRank) {
        // Registering is collective: the plain rank registers nothing.
        constexpr size_t bytes = 3 * 5000 * 4;
        void *memory[2] = {};
        coilWindow_t windows[2] = {};
        std::vector<float> plain[2];
        for (int i : {0, 1}) {
          if (rank == plainRank) {
            plain[i].resize(bytes / 4);
            EXPECT_COIL(comm, coilCommRegister(comm, nullptr, 0, &windows[i]));
          } else {
            EXPECT_COIL(nullptr, coilMemAlloc(&memory[i], bytes));
            EXPECT_COIL(comm, coilCommRegister(comm, memory[i], bytes, &windows[i]));
          }
        }
        auto *send = rank == plainRank ? plain[0].data() : static_cast<float *>(memory[0]);
        auto *receive = rank == plainRank ? plain[1].data() : static_cast<float *>(memory[1]);
        for (size_t i = 0; i < bytes / 4; ++i)
          send[i] = static_cast<float>(rank + 1);
        Case test{collective, DataType::F32, ReduceOp::Sum, 5000, 1};
        EXPECT_COIL(comm, callCollective(test, send, receive, coilSum, comm));
        if (segmentCounts(collective, 3, rank == test.root).output > 0) {
          float want = firstOnThree(collective, rank);
          EXPECT_EQ(receive[0], want);
          EXPECT_EQ(receive[4999], want);
        }
        for (int i : {0, 1}) {
          EXPECT_COIL(comm, coilCommDeregister(comm, windows[i]));
          EXPECT_COIL(nullptr, coilMemFree(memory[i]));
        }
      }
  });
}

TEST(DataPlansTest, ManyRanksOnFewProcessors) {
  Setting setting;
  setting.ranks = 8;
  setting.plans = {ringAllReduce(8)};
  runProcesses(setting, [](coilComm_t comm, int rank) {
    for (int i = 0; i < 100; ++i) {
      Case test{Collective::AllReduce, DataType::I32, ReduceOp::Sum, 1000};
      check(test, comm, rank, 8);
    }
  });
}

TEST(DataPlansTest, ThirtyThreeRanks) {
  for (int ranks : {17, 33}) {
    Setting setting;
    setting.ranks = ranks;
    setting.plans = {ringAllReduce(static_cast<uint32_t>(ranks)),
                     directAllReduce(static_cast<uint32_t>(ranks))};
    runThreads(setting, [ranks](coilComm_t comm, int rank) {
      std::vector<int32_t> values(1000, rank);
      EXPECT_COIL(comm, coilAllReduce(values.data(), values.data(), 1000, coilInt32, coilSum, comm,
                                      nullptr));
      EXPECT_EQ(values[0], ranks * (ranks - 1) / 2);
      EXPECT_EQ(values[999], ranks * (ranks - 1) / 2);
    });
  }
}

TEST(DataPlansTest, ReplacedPlansAndWindows) {
  Setting setting;
  setting.config.directBytes = 0;
  runThreads(setting, [](coilComm_t comm, int rank) {
    for (int round = 0; round < 5; ++round) {
      std::vector<uint8_t> file =
          planFile(round % 2 == 0 ? symmetricAllReduce(2) : directAllReduce(2));
      EXPECT_COIL(comm, coilCommLoadPlan(comm, file.data(), file.size()));
      for (int i = 0; i < 100; ++i) {
        Case test{Collective::AllReduce, DataType::I32, ReduceOp::Sum, 100};
        test.memory = Memory::Registered;
        check(test, comm, rank, 2);
      }
    }
  });
}

} // namespace
