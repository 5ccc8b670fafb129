//===- BoardTest.cpp - Tests of the memory that processes share -----------===//

#include "tools/coil-run/Board.h"

#include <gtest/gtest.h>

using namespace coil;
using namespace coil::run;

namespace {

TEST(Board, OneRankMeetsItself) {
  auto board = Board::create(1, 1);
  ASSERT_TRUE(board.isOk());
  EXPECT_TRUE((*board)->meet(0, 10).isOk());
  EXPECT_TRUE((*board)->meet(0, 10).isOk());
}

TEST(Board, NamesTheRankThatDoesNotCome) {
  auto board = Board::create(3, 1);
  ASSERT_TRUE(board.isOk());
  Status status = (*board)->meet(0, 10);
  EXPECT_EQ(status.code(), StatusCode::Timeout);
  EXPECT_NE(status.message().find("for rank 1"), std::string::npos);
  (*board)->fail();
  EXPECT_EQ((*board)->meet(1, 0).code(), StatusCode::Aborted);
}

TEST(Board, FinishesRowsWhenEveryRankHas) {
  auto board = Board::create(2, 3);
  ASSERT_TRUE(board.isOk());
  (*board)->finishRow(1);
  EXPECT_FALSE((*board)->isFinished(1));
  (*board)->finishRow(1);
  EXPECT_TRUE((*board)->isFinished(1));
  EXPECT_FALSE((*board)->isFinished(0) || (*board)->isFinished(2));
}

} // namespace
