//===- CollectivesTest.cpp - What each collective promises ----------------===//

#include "compiler/semantics/Collectives.h"

#include <gtest/gtest.h>

using namespace coil;

namespace {

constexpr int64_t ranks = 3, root = 1, chunks = 2;

CollectiveShape shapeOf(Collective collective) {
  return {collective, ranks, hasRoot(collective) ? root : 0, chunks};
}

std::string promiseOf(Collective collective, int64_t rank, int64_t index) {
  auto promise = shapeOf(collective).promise(rank, index);
  return promise ? promise->describe() : "anything";
}

TEST(CollectivesTest, ChunksOfBuffers) {
  auto counts = [](Collective collective) {
    CollectiveShape shape = shapeOf(collective);
    return std::tuple(shape.inputChunks(), shape.outputChunks(), shape.dataChunks());
  };
  EXPECT_EQ(counts(Collective::AllReduce), std::tuple(2, 2, 2));
  EXPECT_EQ(counts(Collective::AllGather), std::tuple(2, 6, 6));
  EXPECT_EQ(counts(Collective::ReduceScatter), std::tuple(6, 2, 6));
  EXPECT_EQ(counts(Collective::Broadcast), std::tuple(2, 2, 2));
  EXPECT_EQ(counts(Collective::Reduce), std::tuple(2, 2, 2));
  EXPECT_EQ(counts(Collective::Gather), std::tuple(2, 6, 6));
  EXPECT_EQ(counts(Collective::Scatter), std::tuple(6, 2, 6));
  EXPECT_EQ(counts(Collective::SendRecv), std::tuple(2, 2, 2));
  EXPECT_EQ(counts(Collective::AllToAll), std::tuple(6, 6, 6));
}

TEST(CollectivesTest, Promises) {
  EXPECT_EQ(promiseOf(Collective::AllReduce, 2, 1), "input[1] of ranks 0-2");
  EXPECT_EQ(promiseOf(Collective::ReduceScatter, 2, 1), "input[5] of ranks 0-2");
  EXPECT_EQ(promiseOf(Collective::AllGather, 0, 5), "input[1] of rank 2");
  EXPECT_EQ(promiseOf(Collective::Broadcast, 0, 1), "input[1] of rank 1");
  EXPECT_EQ(promiseOf(Collective::Reduce, root, 0), "input[0] of ranks 0-2");
  EXPECT_EQ(promiseOf(Collective::Reduce, 0, 0), "anything");
  EXPECT_EQ(promiseOf(Collective::Gather, root, 4), "input[0] of rank 2");
  EXPECT_EQ(promiseOf(Collective::Gather, 2, 4), "anything");
  EXPECT_EQ(promiseOf(Collective::Scatter, 2, 1), "input[5] of rank 1");
  EXPECT_EQ(promiseOf(Collective::AllToAll, 2, 1), "input[5] of rank 0");
  EXPECT_EQ(promiseOf(Collective::AllToAll, 0, 5), "input[1] of rank 2");
  EXPECT_EQ(promiseOf(Collective::SendRecv, 2, 1), "input[1] of rank 1");
  EXPECT_EQ(promiseOf(Collective::SendRecv, 0, 0), "input[0] of rank 2");
  EXPECT_EQ(promiseOf(Collective::Barrier, 2, 1), "input[1] of ranks 0-2");
}

TEST(CollectivesTest, OwnContractsSayWhatTheyPromise) {
  auto contract = std::make_shared<OwnContract>();
  contract->inputSegments = 2;
  contract->outputSegments = 3;
  contract->sources = {{1, 1}, {0, 0}, {2, 0}};
  contract->promises = {{0, 2, 0, 1}, {2, 0, 1, 2}};
  CollectiveShape shape{Collective::Custom, ranks, 0, chunks, contract};
  EXPECT_EQ(std::tuple(shape.inputChunks(), shape.outputChunks(), shape.dataChunks()),
            std::tuple(4, 6, 6));
  EXPECT_FALSE(shape.hasData() || shape.hasOneForm() || shape.hasCompleteValues());
  EXPECT_TRUE(shape.hasInput(2) && shape.hasOutput(1));
  auto promise = [&](int64_t rank, int64_t index) {
    auto found = shape.promise(rank, index);
    EXPECT_EQ(found.has_value(), shape.mayWrite(rank, index));
    return found ? found->describe() : "anything";
  };
  // Chunk for chunk, whatever a segment is cut into.
  EXPECT_EQ(promise(0, 4), "input[2] of rank 1");
  EXPECT_EQ(promise(0, 5), "input[3] of rank 1");
  EXPECT_EQ(promise(0, 3), "anything");
  EXPECT_EQ(promise(1, 0), "anything");
  EXPECT_EQ(promise(2, 0), "input[0] of ranks 0 and 2");
  EXPECT_EQ(promise(2, 1), "input[1] of ranks 0 and 2");
  EXPECT_EQ(promise(2, 2), "anything");
  EXPECT_TRUE(contract->combines());
}

TEST(CollectivesTest, OnlyTheRootHasSomeBuffers) {
  auto offRoot = [](Collective collective) {
    CollectiveShape shape = shapeOf(collective);
    EXPECT_TRUE(shape.hasInput(root) && shape.hasOutput(root)) << nameOf(collective);
    return std::pair(shape.hasInput(0), shape.hasOutput(0));
  };
  EXPECT_EQ(offRoot(Collective::Broadcast), std::pair(false, true));
  EXPECT_EQ(offRoot(Collective::Scatter), std::pair(false, true));
  EXPECT_EQ(offRoot(Collective::Reduce), std::pair(true, false));
  EXPECT_EQ(offRoot(Collective::Gather), std::pair(true, false));
  EXPECT_TRUE(shapeOf(Collective::AllReduce).hasInput(0));
  EXPECT_TRUE(shapeOf(Collective::AllToAll).hasOutput(2));
}

// In place, one buffer begins as the input and ends as the output: where both are
// given for a data chunk, they share memory.
TEST(CollectivesTest, DataAgreesWithSharedMemory) {
  for (int i = 0; i < numCollectives; ++i) {
    if (static_cast<Collective>(i) == Collective::Custom)
      continue; // has a contract
    CollectiveShape shape = shapeOf(static_cast<Collective>(i));
    for (int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::optional<int64_t>> expected(static_cast<size_t>(shape.inputChunks()));
      for (int64_t data = 0; data < shape.dataChunks(); ++data) {
        auto input = shape.dataToInput(rank, data), output = shape.dataToOutput(rank, data);
        if (output) {
          EXPECT_LT(*output, shape.outputChunks());
          EXPECT_EQ(shape.outputToData(rank, *output), data);
        }
        if (input && shape.hasData())
          expected.at(static_cast<size_t>(*input)) = output;
      }
      for (int64_t input = 0; input < shape.inputChunks(); ++input)
        EXPECT_EQ(shape.inputToOutputInPlace(rank, input), expected[static_cast<size_t>(input)])
            << nameOf(shape.collective) << " rank " << rank << " input " << input;
    }
  }
}

TEST(CollectivesTest, SharedMemoryOfEachCollective) {
  EXPECT_EQ(shapeOf(Collective::AllReduce).inputToOutputInPlace(2, 1), 1);
  EXPECT_EQ(shapeOf(Collective::AllGather).inputToOutputInPlace(2, 1), 5);
  EXPECT_EQ(shapeOf(Collective::ReduceScatter).inputToOutputInPlace(2, 5), 1);
  EXPECT_EQ(shapeOf(Collective::ReduceScatter).inputToOutputInPlace(2, 3), std::nullopt);
  EXPECT_EQ(shapeOf(Collective::Broadcast).inputToOutputInPlace(root, 1), 1);
  EXPECT_EQ(shapeOf(Collective::Broadcast).inputToOutputInPlace(0, 1), std::nullopt);
  EXPECT_EQ(shapeOf(Collective::Reduce).inputToOutputInPlace(root, 1), 1);
  EXPECT_EQ(shapeOf(Collective::Reduce).inputToOutputInPlace(0, 1), std::nullopt);
  EXPECT_EQ(shapeOf(Collective::Gather).inputToOutputInPlace(root, 1), 3);
  EXPECT_EQ(shapeOf(Collective::Gather).inputToOutputInPlace(0, 1), std::nullopt);
  EXPECT_EQ(shapeOf(Collective::Scatter).inputToOutputInPlace(root, 3), 1);
  EXPECT_EQ(shapeOf(Collective::Scatter).inputToOutputInPlace(root, 1), std::nullopt);
  EXPECT_EQ(shapeOf(Collective::Scatter).inputToOutputInPlace(0, 1), std::nullopt);
  EXPECT_EQ(shapeOf(Collective::AllToAll).inputToOutputInPlace(0, 0), std::nullopt);
  EXPECT_EQ(shapeOf(Collective::SendRecv).inputToOutputInPlace(0, 0), std::nullopt);
}

} // namespace
