//===- CompileErrorsTest.cpp - NVRTC's messages with their lines ----------===//

#include "runtime/nvrtc/CompileErrors.h"

#include <gtest/gtest.h>

namespace coil::nvrtc {
namespace {

std::optional<std::string_view> fiveLines(std::string_view file) {
  if (file == "ring (1).cu")
    return "one\ntwo\nthree\nfour\nfive\n";
  return std::nullopt;
}

TEST(CompileErrors, ShowTheSourceAround) {
  EXPECT_EQ(explainLog("ring (1).cu(3): error: three is no word\n  three\n  ^\n\n", fiveLines),
            "ring (1).cu(3): error: three is no word\n"
            "      1 | one\n"
            "      2 | two\n"
            ">     3 | three\n"
            "      4 | four\n"
            "      5 | five\n"
            "  three\n"
            "  ^\n");
}

TEST(CompileErrors, LinesThatAreNotThereAreNotShown) {
  EXPECT_EQ(explainLog("ring (1).cu(1): error: x", fiveLines),
            "ring (1).cu(1): error: x\n>     1 | one\n      2 | two\n      3 | three\n");
  for (const char *log : {"ring (1).cu(9): error: x\n", "other.cu(1): error: x\n",
                          "ring (1).cu(x): error: x\n", "ring (1).cu(1): warning: x\n",
                          "): error\n", "ring (1).cu(99999999999999999999999): error: x\n"})
    EXPECT_EQ(explainLog(log, fiveLines), log);
  EXPECT_EQ(explainLog("", fiveLines), "");
}

TEST(CompileErrors, ManyErrorsAreCut) {
  std::string log;
  for (int i = 0; i < 100; ++i)
    log += "other.cu(1): error: x\n";
  std::string text = explainLog(log, fiveLines);
  EXPECT_LT(text.size(), 200u);
  EXPECT_TRUE(text.ends_with("(more errors follow)\n"));
}

} // namespace
} // namespace coil::nvrtc
