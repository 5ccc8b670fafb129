//===- InstanceFactsTest.cpp - Counts of hand-made instances --------------===//

#include "compiler/explain/InstanceFacts.h"

#include <gtest/gtest.h>

using namespace coil;

namespace {

Instance makeInstance(Collective collective, int64_t ranks, int64_t chunks = 1) {
  Instance instance;
  instance.collective = collective;
  instance.ranks = ranks;
  instance.chunks = chunks;
  return instance;
}

void add(Instance &instance, StatementKind kind, const std::vector<Place> &sources,
         Place destination, uint32_t exchange = 0) {
  Statement statement;
  statement.kind = kind;
  statement.destination = destination;
  statement.firstSource = static_cast<uint32_t>(instance.sources.size());
  statement.sourceCount = static_cast<uint32_t>(sources.size());
  statement.exchange = exchange;
  instance.sources.insert(instance.sources.end(), sources.begin(), sources.end());
  instance.statements.push_back(statement);
}

Place data(int32_t rank, int64_t index = 0) { return {InstanceBuffer::Data, rank, index}; }

TEST(InstanceFacts, StepsFollowTheLongestChain) {
  // 0 -> 1 -> 2 is a chain of two; 0 -> 3 is none of it, and the copy no message.
  Instance instance = makeInstance(Collective::Broadcast, 4);
  add(instance, StatementKind::Send, {data(0)}, data(1));
  add(instance, StatementKind::Send, {data(1)}, data(2));
  add(instance, StatementKind::Send, {data(0)}, data(3));
  instance.scratch.push_back({"kept", 0, 1});
  add(instance, StatementKind::Copy, {data(3)}, {InstanceBuffer::Scratch, 3, 0});
  InstanceFacts facts = factsOf(instance);
  EXPECT_EQ(facts.steps, 2);
  EXPECT_EQ(facts.moves, 4);
  EXPECT_EQ(facts.messages, 3);
  EXPECT_EQ(facts.combined, 0);
  EXPECT_EQ(facts.mostPeers, 2);
  EXPECT_EQ(facts.traffic[0].sent, 2);
  EXPECT_EQ(facts.traffic[0].received, 0);
  EXPECT_EQ(facts.traffic[1].sent, 1);
  EXPECT_EQ(facts.traffic[3].received, 1);
}

TEST(InstanceFacts, ExchangesReadTheStateBefore) {
  // Both sums go both ways in one step, and addition of two commutes.
  Instance instance = makeInstance(Collective::AllReduce, 2);
  add(instance, StatementKind::Reduce, {data(1)}, data(0), 1);
  add(instance, StatementKind::Reduce, {data(0)}, data(1), 1);
  InstanceFacts facts = factsOf(instance);
  EXPECT_EQ(facts.steps, 1);
  EXPECT_EQ(facts.combined, 4);
}

TEST(InstanceFacts, AdjacentExchangesAreTwo) {
  Instance instance = makeInstance(Collective::AllReduce, 4);
  for (uint32_t bit : {1u, 2u})
    for (int32_t rank = 0; rank < 4; ++rank)
      add(instance, StatementKind::Reduce, {data(rank ^ static_cast<int32_t>(bit))}, data(rank),
          bit);
  InstanceFacts facts = factsOf(instance);
  EXPECT_EQ(facts.steps, 2);
}

TEST(InstanceFacts, NodesCountWhatLeavesThem) {
  // 0 and 1 on one node, 2 and 3 on the other.
  Instance instance = makeInstance(Collective::Broadcast, 4);
  add(instance, StatementKind::Send, {data(0)}, data(1));
  add(instance, StatementKind::Send, {data(1)}, data(2));
  add(instance, StatementKind::Send, {data(0)}, data(3));
  InstanceFacts facts = factsOf(instance, 2);
  ASSERT_EQ(facts.nodeTraffic.size(), 2u);
  EXPECT_EQ(facts.nodeTraffic[0].sent, 2);
  EXPECT_EQ(facts.nodeTraffic[0].received, 0);
  EXPECT_EQ(facts.nodeTraffic[1].sent, 0);
  EXPECT_EQ(facts.nodeTraffic[1].received, 2);
  EXPECT_EQ(factsOf(instance).nodeTraffic[0].sent, 0);
}

TEST(InstanceFacts, MessageIsTheLargerBuffer) {
  EXPECT_EQ(factsOf(makeInstance(Collective::AllGather, 4, 3)).messageChunks, 12);
  EXPECT_EQ(factsOf(makeInstance(Collective::ReduceScatter, 4, 3)).messageChunks, 12);
  EXPECT_EQ(factsOf(makeInstance(Collective::AllReduce, 4, 3)).messageChunks, 3);
}

TEST(LowerBounds, OfCollectives) {
  for (Collective collective : {Collective::AllReduce, Collective::AllGather, Collective::Broadcast,
                                Collective::AllToAll, Collective::SendRecv}) {
    LowerBounds alone = lowerBounds(collective, 1);
    EXPECT_EQ(alone.steps, 0);
    EXPECT_EQ(alone.traffic, (Fraction{0, 1}));
  }
  EXPECT_EQ(lowerBounds(Collective::AllReduce, 8).steps, 3);
  EXPECT_EQ(lowerBounds(Collective::AllReduce, 9).steps, 4);
  EXPECT_EQ(lowerBounds(Collective::AllReduce, 8).traffic, (Fraction{7, 4}));
  EXPECT_EQ(lowerBounds(Collective::AllGather, 8).traffic, (Fraction{7, 8}));
  EXPECT_EQ(lowerBounds(Collective::Reduce, 5).traffic, (Fraction{1, 1}));
  EXPECT_EQ(lowerBounds(Collective::SendRecv, 5).steps, 1);
}

TEST(LowerBounds, OfOwnContracts) {
  auto contract = [](std::vector<OwnContract::Promise> promises,
                     std::vector<OwnContract::Source> sources) {
    return OwnContract{2, 4, std::move(promises), std::move(sources)};
  };
  // A copy on the same rank needs no message.
  EXPECT_EQ(lowerBounds(contract({{0, 0, 0, 1}}, {{0, 1}})).steps, 0);
  EXPECT_EQ(lowerBounds(contract({{0, 0, 0, 1}}, {{0, 1}})).traffic, (Fraction{0, 1}));
  // Two segments of rank 1 leave it whole; that one is read twice adds nothing.
  LowerBounds copies =
      lowerBounds(contract({{0, 0, 0, 1}, {0, 1, 1, 1}, {0, 2, 2, 1}}, {{1, 0}, {1, 1}, {1, 0}}));
  EXPECT_EQ(copies.steps, 1);
  EXPECT_EQ(copies.traffic, (Fraction{1, 2}));
  // The sum of three others can arrive as one segment, after two steps.
  LowerBounds sum = lowerBounds(contract({{0, 0, 0, 3}}, {{1, 0}, {2, 0}, {3, 1}}));
  EXPECT_EQ(sum.steps, 2);
  EXPECT_EQ(sum.traffic, (Fraction{1, 4}));
  // One rank reaches four others in three steps.
  EXPECT_EQ(lowerBounds(contract({{1, 0, 0, 1}, {2, 0, 1, 1}, {3, 0, 2, 1}, {4, 0, 3, 1}},
                                 {{0, 0}, {0, 0}, {0, 0}, {0, 0}}))
                .steps,
            3);
}

} // namespace
