//===- CallLogTest.cpp - Calls told apart and told in words ---------------===//

#include "runtime/executor/cuda/FailureText.h"
#include "test/unit/api/HandPlans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

namespace coil::test {
namespace {

using namespace cuda;
using device::FailureKind;
using testing::HasSubstr;

CallFacts callOf(uint64_t count) {
  CallFacts facts;
  facts.arguments.kind = callKind(Collective::AllReduce);
  facts.arguments.type = DataType::F32;
  facts.arguments.count = count;
  facts.arguments.planDigest = 7;
  return facts;
}

TEST(CallLogTest, FindsTheLatestCalls) {
  auto log = std::make_unique<CallLog>();
  for (uint64_t count = 1; count <= 200; ++count)
    log->append(fingerprintOf(callOf(count)), callOf(count), count == 200);
  EXPECT_EQ(log->enqueued(), 200u);
  EXPECT_TRUE(log->hasCaptured());
  ASSERT_TRUE(log->at(200));
  EXPECT_EQ(log->at(200)->facts, callOf(200));
  EXPECT_FALSE(log->at(100));
  EXPECT_FALSE(log->at(0));
  EXPECT_FALSE(log->at(201));
  ASSERT_TRUE(log->find(fingerprintOf(callOf(150))));
  EXPECT_EQ(*log->find(fingerprintOf(callOf(150))), callOf(150));
  EXPECT_FALSE(log->find(1));
}

TEST(CallLogTest, GivesAllThatRanksMustAgreeOnAFingerprint) {
  CallFacts facts = callOf(5);
  uint64_t first = fingerprintOf(facts);
  EXPECT_EQ(first, fingerprintOf(callOf(5)));
  facts.protocol = Protocol::Ll;
  EXPECT_NE(first, fingerprintOf(facts));
  facts = callOf(5);
  facts.transport = Transport::P2P;
  EXPECT_NE(first, fingerprintOf(facts));
  facts = callOf(5);
  facts.tileElements = 2;
  EXPECT_NE(first, fingerprintOf(facts));
  facts = callOf(5);
  facts.instances = 2;
  EXPECT_NE(first, fingerprintOf(facts));
}

TEST(CallLogTest, TellsADisagreementAlikeOnBothSides) {
  Status here = disagreement(0, callOf(5), 1, callOf(6));
  Status there = disagreement(1, callOf(6), 0, callOf(5));
  EXPECT_EQ(here.message(), there.message());
  EXPECT_EQ(here.message(), "the ranks disagree on a call: rank 0 called allreduce of 5 f32 (sum), "
                            "rank 1 called allreduce of 6 f32 (sum)");
  CallFacts direct = callOf(5);
  direct.transport = Transport::P2P;
  EXPECT_EQ(disagreement(1, direct, 0, callOf(5)).message(),
            "the ranks disagree on how to run allreduce of 5 f32 (sum): rank 0 runs it through "
            "staged messages, rank 1 between registered buffers; register the buffers of all ranks "
            "or of none");
}

class FailureTextTest : public testing::Test {
protected:
  FailureTextTest() {
    first->append(fingerprintOf(callOf(5)), callOf(5), false);
    second->append(fingerprintOf(callOf(6)), callOf(6), false);
    report.location = 0;
    report.peer = 1;
    report.instance = 2;
  }
  Status tell(FailureKind kind) {
    report.kind = kind;
    return failureOf({plan, 0, 1500, logs}, report);
  }

  Plan plan = directAllReduce(2);
  std::unique_ptr<CallLog> first = std::make_unique<CallLog>(),
                           second = std::make_unique<CallLog>();
  std::vector<const CallLog *> logs{first.get(), second.get()};
  device::FailureReport report{};
};

TEST_F(FailureTextTest, NamesWhatWasWaitedFor) {
  report.expected = 3;
  report.found = 2;
  Status status = tell(FailureKind::TimedOut);
  EXPECT_EQ(status.code(), StatusCode::Timeout);
  EXPECT_EQ(status.message(),
            "rank 0 waited 1.5 s for rank 1 in push (direct.coil:1:3), worker 0, instance 2: "
            "expected number 3, found 2");
}

TEST_F(FailureTextTest, LooksFingerprintsUp) {
  report.expected = fingerprintOf(callOf(5));
  report.found = fingerprintOf(callOf(6));
  Status status = tell(FailureKind::Disagreement);
  EXPECT_EQ(status.code(), StatusCode::InvalidUsage);
  EXPECT_THAT(status.message(), HasSubstr("rank 0 called allreduce of 5 f32 (sum), rank 1 called "
                                          "allreduce of 6 f32 (sum)"));
  report.found = 1;
  EXPECT_THAT(tell(FailureKind::Disagreement).message(),
              HasSubstr("rank 1 is in another call than rank 0"));
}

TEST_F(FailureTextTest, SurvivesDamagedReports) {
  report.location = 1u << 30;
  report.worker = 1u << 30;
  report.peer = 1u << 30;
  for (uint32_t kind = 0; kind < 7; ++kind)
    EXPECT_FALSE(tell(static_cast<FailureKind>(kind)).isOk());
}

} // namespace
} // namespace coil::test
