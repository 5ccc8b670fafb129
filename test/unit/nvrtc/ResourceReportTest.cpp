//===- ResourceReportTest.cpp - What the assembler says of kernels --------===//

#include "runtime/nvrtc/ResourceReport.h"

#include <gtest/gtest.h>

namespace coil::nvrtc {
namespace {

TEST(ResourceReport, OneKernel) {
  std::vector<KernelResources> kernels = parseResourceReport(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1kIiEvPT_' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1kIiEvPT_\n"
      "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 42 registers, used 1 barriers, 16 bytes cumulative stack size, "
      "1024 bytes smem, 400 bytes cmem[0]\n");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].loweredName, "_Z1kIiEvPT_");
  EXPECT_EQ(kernels[0].registers, 42u);
  EXPECT_EQ(kernels[0].barriers, 1u);
  EXPECT_EQ(kernels[0].stackBytes, 16u);
  EXPECT_EQ(kernels[0].spillStores, 4u);
  EXPECT_EQ(kernels[0].spillLoads, 8u);
  EXPECT_EQ(kernels[0].sharedBytes, 1024u);
}

TEST(ResourceReport, CalledFunctionsCountForAll) {
  std::vector<KernelResources> kernels = parseResourceReport(
      "ptxas info    : Compiling entry function 'a' for 'sm_75'\n"
      "ptxas info    : Function properties for a\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_75'\n"
      "ptxas info    : Function properties for b\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 0 barriers\n"
      "ptxas info    : Function properties for outlined\n"
      "    32 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads\n");
  ASSERT_EQ(kernels.size(), 2u);
  for (const KernelResources &kernel : kernels)
    EXPECT_EQ(kernel.spillStores, 12u) << kernel.loweredName;
  EXPECT_EQ(kernels[1].registers, 10u);
}

TEST(ResourceReport, OtherTextGivesNothing) {
  EXPECT_TRUE(parseResourceReport("").empty());
  EXPECT_TRUE(parseResourceReport("ptxas fatal: no registers\n bytes stack frame\n").empty());
}

} // namespace
} // namespace coil::nvrtc
