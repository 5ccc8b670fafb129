//===- BarrierTest.cpp - Ranks that wait for each other -------------------===//

#include "test/unit/api/HandPlans.h"
#include "test/unit/api/Ranks.h"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace coil;
using namespace coil::test;
using ::testing::HasSubstr;

namespace {

TEST(BarrierTest, NobodyLeavesBeforeAllHaveCome) {
  constexpr int ranks = 4, calls = 50;
  for (Plan plan : {directAllReduce(ranks), ringAllReduce(ranks), symmetricAllReduce(ranks)}) {
    plan.collective = Collective::Barrier;
    for (PlanVariant &variant : plan.variants)
      for (PlanProgram &program : variant.programs)
        for (PlanWorker &worker : program.workers)
          for (PlanOp &op : worker.body)
            op.complete = false;
    Setting setting;
    setting.ranks = ranks;
    setting.plans = {plan};
    std::atomic<int> come = 0;
    runThreads(setting, [&](coilComm_t comm, int rank) {
      for (int call = 0; call < calls; ++call) {
        // Another rank is late each time.
        if (call % ranks == rank)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++come;
        EXPECT_COIL(comm, coilBarrier(comm, nullptr));
        EXPECT_GE(come.load(), ranks * (call + 1)) << "rank " << rank << ", call " << call;
      }
    });
    EXPECT_EQ(come.load(), ranks * calls);
  }
}

TEST(BarrierTest, NeedsAPlan) {
  Setting setting;
  runThreads(setting, [](coilComm_t comm, int) {
    EXPECT_EQ(coilBarrier(comm, nullptr), coilInvalidUsage);
    EXPECT_THAT(coilGetLastError(comm), HasSubstr("no plan for barrier is loaded"));
  });
}

} // namespace
