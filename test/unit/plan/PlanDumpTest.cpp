//===- PlanDumpTest.cpp - Plans as text -----------------------------------===//

#include "test/unit/plan/TestPlans.h"
#include "tools/coil-plan/PlanJson.h"
#include "tools/coil-plan/PlanText.h"

#include <gmock/gmock.h>

namespace coil {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PlanDump, PrintsText) {
  Plan plan = everyOperation();
  plan.digest = 0x1234;
  EXPECT_EQ(planText(plan), R"(plan "every" implements allreduce ranks 2 chunks 2
digest 0x0000000000001234, written by "coil 0.1.0"

variant 0: out of place, p2p
  channel c0 from 0 : 0 to 1 : 0
  channel c1 from 1 : 0 to 0 : 0
  channel c2 from 0 : 0 to 0 : 1
  channel c3 from 1 : 0 to 1 : 1
  scratch 2 chunks on rank 1
  scratch 3 chunks on rank 0
  program 0 of rank 0
    worker 0
      prologue
        meet [1]                                                    // test.coil:3:5
        barrier                                                     // test.coil:3:5
      body
        put input[0] to scratch[0] on 1 length 0                    // test.coil:3:5
        signal c0                                                   // test.coil:3:5
        wait c1                                                     // test.coil:3:5
        reduce input[0], scratch[0] to output[0] length 0 complete  // test.coil:3:5
        signal c2                                                   // test.coil:3:5
      epilogue
        signal c0                                                   // test.coil:3:5
        wait c1                                                     // test.coil:3:5
    worker 1
      prologue
        barrier                                                     // test.coil:3:5
      body
        wait c2                                                     // test.coil:3:5
        get input[1] on 1 to scratch[1] length 1                    // test.coil:3:5
        copy scratch[1] to output[1] length 1                       // test.coil:3:5
        get_reduce input[1], input[1] on 1 to output[1] length 1 complete  // test.coil:3:5
  program 1 of rank 1
    worker 0
      prologue
        meet [0]                                                    // test.coil:3:5
        barrier                                                     // test.coil:3:5
      body
        put input[0] to scratch[0] on 0 length 0                    // test.coil:3:5
        signal c1                                                   // test.coil:3:5
        wait c0                                                     // test.coil:3:5
        reduce input[0], scratch[0] to output[0] length 0 complete  // test.coil:3:5
        signal c3                                                   // test.coil:3:5
      epilogue
        signal c1                                                   // test.coil:3:5
        wait c0                                                     // test.coil:3:5
    worker 1
      prologue
        barrier                                                     // test.coil:3:5
      body
        wait c3                                                     // test.coil:3:5
        get input[1] on 0 to scratch[1] length 1                    // test.coil:3:5
        copy scratch[1] to output[1] length 1                       // test.coil:3:5
        get_reduce input[1] on 0, input[1] to output[1] length 1 complete  // test.coil:3:5

variant 1: out of place, staged
  channel c0 from 0 : 0 to 1 : 0 slots 2
  channel c1 from 1 : 0 to 0 : 0 slots 2
  program 0 of rank 0
    worker 0
      body
        push input[0] via c0 length 0                               // test.coil:3:5
        pop_reduce input[0], head c1 to output[0] length 0          // test.coil:3:5
        push input[1] via c0 length 1                               // test.coil:3:5
        pop via c1 to output[1] length 1                            // test.coil:3:5
  program 1 of rank 1
    worker 0
      body
        push input[0] via c1 length 0                               // test.coil:3:5
        pop_reduce input[0], head c0 to output[0] length 0          // test.coil:3:5
        push input[1] via c1 length 1                               // test.coil:3:5
        pop via c0 to output[1] length 1                            // test.coil:3:5
)");
}

TEST(PlanDump, PrintsOneVariant) {
  Plan plan = chainBroadcast();
  std::string text = planText(plan, 1);
  EXPECT_THAT(text, HasSubstr("variant 1: out of place, staged, root 1"));
  EXPECT_THAT(text, Not(HasSubstr("variant 0")));
  std::string json = planJson(plan, 1);
  EXPECT_THAT(json, HasSubstr("\"number\": 1, \"root\": 1"));
  EXPECT_THAT(json, Not(HasSubstr("\"number\": 0")));
}

TEST(PlanDump, DrawsRanksTogether) {
  Plan plan;
  plan.collective = Collective::Barrier;
  plan.ranks = 6;
  plan.chunks = 1;
  PlanVariant &variant = plan.variants.emplace_back();
  variant.programs.resize(2);
  variant.programOfKind = {0, 0, 0, 1, 0, 0};
  variant.scratchChunks = {0, 1, 1, 2, 0, 1};
  EXPECT_EQ(planText(plan), R"(plan "" implements barrier ranks 6 chunks 1
digest 0x0000000000000000, written by ""

variant 0: out of place, p2p
  scratch 1 chunk on ranks 1-2, 5
  scratch 2 chunks on rank 3
  program 0 of ranks 0-2, 4-5
  program 1 of rank 3
)");
}

TEST(PlanDump, PrintsInfoAndSummary) {
  Plan plan = everyOperation();
  plan.digest = 0x1234;
  EXPECT_EQ(planInfo(plan), R"(name        every
collective  allreduce
ranks       2
chunks      2
producer    coil 0.1.0
digest      0x0000000000001234
variants    2
  0: out of place, p2p
     2 programs, 4 channels; a rank: 2 workers, 14 ops, 2 to 3 scratch chunks
  1: out of place, staged
     2 programs, 2 channels; a rank: 1 worker, 4 ops, 0 scratch chunks
)");
  EXPECT_EQ(planSummary(plan),
            "plan \"every\" for allreduce: 2 ranks, 2 chunks, 2 variants, digest "
            "0x0000000000001234");
}

TEST(PlanDump, EscapesJsonStrings) {
  Plan plan = stagedAllReduce();
  plan.name = "a\"b\\c";
  plan.locations[0].file = "C:\\x";
  EXPECT_THAT(planJson(plan), HasSubstr(R"("name": "a\"b\\c")"));
  EXPECT_THAT(planJson(plan), HasSubstr(R"("file": "C:\\x")"));
}

TEST(PlanDump, ShowsContracts) {
  Plan plan = ownContract();
  EXPECT_THAT(planText(plan), HasSubstr("\ncontract: 2 segments of input, 3 of output\n"
                                        "  output[2] on 0 is input[1] on 1\n"
                                        "  output[0] on 1 is input[0] on 0 + input[0] on 1\n"
                                        "\nvariant 0"));
  EXPECT_THAT(planInfo(plan),
              HasSubstr("\ncontract    2 segments of input, 3 of output, 2 promises\n"));
  EXPECT_THAT(planJson(plan), HasSubstr(R"("contract": {"input_segments": 2, "output_segments": 3,
   "promises": [
     {"rank": 0, "segment": 2, "sources": [{"rank": 1, "segment": 1}]},
     {"rank": 1, "segment": 0, "sources": [{"rank": 0, "segment": 0}, {"rank": 1, "segment": 0}]}
   ]},
)"));
  EXPECT_THAT(planJson(everyOperation()), Not(HasSubstr("contract")));
}

} // namespace
} // namespace coil
