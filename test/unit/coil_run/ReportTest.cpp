//===- ReportTest.cpp - Tests of numbers and text of the table ------------===//

#include "tools/coil-run/Report.h"

#include <gtest/gtest.h>

using namespace coil;
using namespace coil::run;

namespace {

TEST(Report, FactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(busFactor(Collective::AllReduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(busFactor(Collective::AllGather, 4), 0.75);
  EXPECT_DOUBLE_EQ(busFactor(Collective::ReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(busFactor(Collective::Broadcast, 4), 1);
  EXPECT_DOUBLE_EQ(busFactor(Collective::Reduce, 4), 1);
  EXPECT_DOUBLE_EQ(busFactor(Collective::Gather, 4), 0.75);
  EXPECT_DOUBLE_EQ(busFactor(Collective::Scatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(busFactor(Collective::AllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(busFactor(Collective::SendRecv, 4), 1);
  EXPECT_DOUBLE_EQ(busFactor(Collective::AllReduce, 1), 0);
}

TEST(Report, NumbersFitTheirColumns) {
  EXPECT_EQ(shortNumber(0, 7), "0.00");
  EXPECT_EQ(shortNumber(999.999, 7), "1000.0");
  EXPECT_EQ(shortNumber(123.456, 7), "123.46");
  EXPECT_EQ(shortNumber(1234.56, 7), "1234.6");
  EXPECT_EQ(shortNumber(12345.6, 7), "12346");
  EXPECT_EQ(shortNumber(98.765, 6), "98.77");
  EXPECT_EQ(shortNumber(198.765, 6), "198.8");
}

TEST(Report, StringsAreEscaped) { EXPECT_EQ(jsonString("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\""); }

} // namespace
