//===- HopperKernelsTest.cpp - What kernels use from sm_90 on -------------===//

#include "runtime/nvrtc/KernelCompiler.h"
#include "test/unit/nvrtc/TemporaryFolder.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace coil::nvrtc {
namespace {

constexpr const char *kernels = R"(#include "runtime/kernels/device/Bulk.h"
#include "runtime/kernels/device/Multimem.h"
using namespace coil::device;
namespace coil::device {
template <typename Element>
COIL_KERNEL void bulkCopy(u8 *destination, const u8 *source, u64 count) {
  bulkCopyMemory<Element, Sum>(destination, source, count, sharedMemory(), {});
}
template <typename Element, typename Operator>
COIL_KERNEL void reduceAndStore(u8 *memory, COIL_GRID_CONSTANT const MulticastPlace place,
                                u64 count) {
  reduceMultimem<Element, Operator>(memory, place, count, {});
  syncBlock();
  storeMultimem<Element, Operator>(place, memory, count, {});
}
/// What reduceMultimem() has of its own.
template <typename Element, typename Operator>
COIL_KERNEL void reduceWords(u8 *memory, COIL_GRID_CONSTANT const MulticastPlace place,
                             u64 count) {
  static_assert(multimemSupports<Element, Operator>);
  if constexpr (forHopper)
    reduceMultimemWords<Element, Operator>(memory, place, 0, count);
}
} // namespace coil::device
)";

std::vector<std::string> instances() {
  std::vector<std::string> names;
  for (const char *name :
       {"bulkCopy<u8>", "bulkCopy<double>", "reduceAndStore<Half, Sum>",
        "reduceAndStore<float, Sum>", "reduceAndStore<u64, Max>", "reduceAndStore<Half, Max>",
        "reduceAndStore<Float8E4M3, Sum>", "reduceWords<BFloat16, Sum>", "reduceWords<double, Sum>",
        "reduceWords<i32, Sum>", "reduceWords<i64, Sum>", "reduceWords<i32, Min>",
        "reduceWords<i32, Max>", "reduceWords<u32, Min>", "reduceWords<u32, Max>",
        "reduceWords<i64, Min>", "reduceWords<i64, Max>", "reduceWords<u64, Min>"})
    names.push_back(std::string("coil::device::") + name);
  return names;
}

class HopperKernelsTest : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    Result<KernelCompiler> loaded = KernelCompiler::load({}, CubinCache(folder.path));
    if (!loaded.isOk())
      GTEST_SKIP() << loaded.status().message();
    compiler.emplace(*std::move(loaded));
    const std::vector<int> &known = compiler->supportedArchs();
    if (std::find(known.begin(), known.end(), GetParam()) == known.end())
      GTEST_SKIP() << compiler->describe() << " does not know sm_" << GetParam();
    request.text = kernels;
    request.name = "hopper.cu";
    request.nameExpressions = instances();
  }

  TemporaryFolder folder;
  std::optional<KernelCompiler> compiler;
  CompileRequest request;
};

TEST_P(HopperKernelsTest, UseWhatTheDeviceHas) {
  request.arch = "compute_" + std::to_string(GetParam());
  request.target = CompileTarget::Ptx;
  Result<CompiledKernels> ptx = compiler->compile(request);
  ASSERT_TRUE(ptx.isOk()) << ptx.status().message();
  std::string text(ptx->bytes.begin(), ptx->bytes.end());
  // Not matchers: those would print all of it.
  auto contains = [&](const std::string &part) { return text.find(part) != std::string::npos; };
  bool isHopper = GetParam() >= 90;
  for (const char *part :
       {"cp.async.bulk.shared::cluster.global", "cp.async.bulk.global.shared::cta",
        "cp.async.bulk.wait_group.read 1;", "mbarrier.", "fence.proxy.async;", "fence.proxy.alias;",
        "multimem.st.relaxed.sys.global.v4.f32 "})
    EXPECT_EQ(contains(part), isHopper) << part;
  for (const char *reduction : {"add.acc::f32.v4.f16x2", "add.acc::f32.v4.bf16x2", "add.v4.f32",
                                "add.f64", "add.u32", "add.u64", "min.s32", "max.s32", "min.u32",
                                "max.u32", "min.s64", "max.s64", "min.u64", "max.u64"})
    EXPECT_EQ(contains(std::string("multimem.ld_reduce.relaxed.sys.global.") + reduction + " "),
              isHopper)
        << reduction;
}

TEST_P(HopperKernelsTest, NoneSpills) {
  request.arch = "sm_" + std::to_string(GetParam());
  Result<std::vector<KernelResources>> measured = compiler->measure(request);
  ASSERT_TRUE(measured.isOk()) << measured.status().message();
  ASSERT_EQ(measured->size(), request.nameExpressions.size());
  for (const KernelResources &facts : *measured) {
    EXPECT_EQ(facts.spillStores, 0u) << facts.loweredName;
    EXPECT_EQ(facts.spillLoads, 0u) << facts.loweredName;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, HopperKernelsTest, testing::Values(75, 80, 90, 100),
                         [](const auto &parameter) {
                           return "sm_" + std::to_string(parameter.param);
                         });

} // namespace
} // namespace coil::nvrtc
