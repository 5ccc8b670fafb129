//===- KernelCompilerTest.cpp - Kernels compiled by NVRTC -----------------===//

#include "runtime/nvrtc/KernelCompiler.h"
#include "test/unit/nvrtc/TemporaryFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coil::nvrtc {
namespace {

using testing::HasSubstr;

constexpr const char *smallText = R"(#include "runtime/kernels/device/Integers.h"
namespace coil::generated {
template <typename Element>
__global__ void scale(Element *values, Element factor) {
  values[threadIdx.x] *= factor;
}
} // namespace coil::generated
)";

CompileRequest requestFor(std::string_view text, std::vector<std::string> expressions) {
  CompileRequest request;
  request.text = text;
  request.name = "small.cu";
  request.nameExpressions = std::move(expressions);
  request.arch = "sm_90";
  return request;
}

TEST(NvrtcLibrary, ErrorsSayWhatWasTriedAndHowToGetOne) {
  Result<std::shared_ptr<const NvrtcLibrary>> none = NvrtcLibrary::load("/nowhere/libnvrtc.so");
  ASSERT_FALSE(none.isOk());
  EXPECT_EQ(none.status().code(), StatusCode::Unsupported);
  EXPECT_THAT(none.status().message(), HasSubstr("pip install nvidia-cuda-nvrtc"));
  EXPECT_THAT(none.status().message(), HasSubstr("tried:\n  /nowhere/libnvrtc.so: "));
  Result<std::shared_ptr<const NvrtcLibrary>> foreign = NvrtcLibrary::load("libm.so.6");
  ASSERT_FALSE(foreign.isOk());
  EXPECT_THAT(foreign.status().message(), HasSubstr("libm.so.6: has no nvrtcGetErrorString"));
}

/// Tests with the real library, where there is one.
class KernelCompilerTest : public testing::Test {
protected:
  void SetUp() override {
    Result<KernelCompiler> loaded = KernelCompiler::load({}, CubinCache(folder.path));
    if (!loaded.isOk())
      GTEST_SKIP() << loaded.status().message();
    compiler.emplace(*std::move(loaded));
  }

  TemporaryFolder folder;
  std::optional<KernelCompiler> compiler;
};

TEST_F(KernelCompilerTest, MakesCubinsAndPtx) {
  CompileRequest request = requestFor(
      smallText, {"coil::generated::scale<float>", "coil::generated::scale<coil::device::u64>"});
  Result<CompiledKernels> cubin = compiler->compile(request);
  ASSERT_TRUE(cubin.isOk()) << cubin.status().message();
  ASSERT_GT(cubin->bytes.size(), 4u);
  EXPECT_EQ(cubin->bytes[0], 0x7f) << "expected an ELF file";
  ASSERT_EQ(cubin->loweredNames.size(), 2u);
  EXPECT_NE(cubin->loweredNames[0], cubin->loweredNames[1]);
  EXPECT_FALSE(cubin->fromCache);

  request.target = CompileTarget::Ptx;
  request.arch = "compute_90";
  Result<CompiledKernels> ptx = compiler->compile(request);
  ASSERT_TRUE(ptx.isOk()) << ptx.status().message();
  std::string text(ptx->bytes.begin(), ptx->bytes.end());
  EXPECT_THAT(text, HasSubstr(".entry " + ptx->loweredNames[0]));
  EXPECT_NE(text.back(), '\0');
}

TEST_F(KernelCompilerTest, SecondTimeFromTheCache) {
  CompileRequest request = requestFor(smallText, {"coil::generated::scale<float>"});
  Result<CompiledKernels> first = compiler->compile(request), second = compiler->compile(request);
  ASSERT_TRUE(first.isOk() && second.isOk());
  EXPECT_FALSE(first->fromCache);
  EXPECT_TRUE(second->fromCache);
  EXPECT_EQ(first->bytes, second->bytes);
  EXPECT_EQ(first->loweredNames, second->loweredNames);
  request.arch = "sm_80";
  Result<CompiledKernels> other = compiler->compile(request);
  ASSERT_TRUE(other.isOk());
  EXPECT_FALSE(other->fromCache) << "of another architecture";
}

TEST_F(KernelCompilerTest, ErrorsShowTheGeneratedLines) {
  Result<CompiledKernels> wrong =
      compiler->compile(requestFor("// first\nvoid second() {\n  third;\n}\n// fifth\n", {}));
  ASSERT_FALSE(wrong.isOk());
  EXPECT_EQ(wrong.status().code(), StatusCode::InternalError);
  EXPECT_THAT(wrong.status().message(), HasSubstr("cannot compile small.cu for sm_90"));
  EXPECT_THAT(wrong.status().message(),
              HasSubstr("\n      2 | void second() {\n>     3 |   third;\n"
                        "      4 | }\n      5 | // fifth\n"));
}

TEST_F(KernelCompilerTest, UnknownNamesAndGpusAreErrors) {
  EXPECT_FALSE(compiler->compile(requestFor(smallText, {"coil::generated::none<float>"})).isOk());
  for (const char *arch : {"sm_1", "compute_90", "90", "sm_", "sm_90x", ""}) {
    CompileRequest request = requestFor(smallText, {"coil::generated::scale<float>"});
    request.arch = arch;
    Result<CompiledKernels> result = compiler->compile(request);
    ASSERT_FALSE(result.isOk()) << arch;
    EXPECT_EQ(result.status().code(), StatusCode::InvalidArgument) << arch;
  }
}

TEST_F(KernelCompilerTest, NewGpusRunPtxOfOlderOnes) {
  int newest = compiler->supportedArchs().back();
  EXPECT_EQ(compiler->archFor(90), "sm_90");
  EXPECT_EQ(compiler->archFor(newest + 1), "compute_" + std::to_string(newest));
  EXPECT_EQ(compiler->archFor(10), "");
}

TEST_F(KernelCompilerTest, MeasuresKernels) {
  Result<std::vector<KernelResources>> measured = compiler->measure(
      requestFor(smallText, {"coil::generated::scale<float>", "coil::generated::scale<double>"}));
  ASSERT_TRUE(measured.isOk()) << measured.status().message();
  ASSERT_EQ(measured->size(), 2u);
  for (const KernelResources &facts : *measured) {
    EXPECT_GT(facts.registers, 0u);
    EXPECT_EQ(facts.spillStores, 0u);
    EXPECT_FALSE(facts.loweredName.empty());
  }
}

TEST(KernelSource, DependsOnTheText) {
  EXPECT_EQ(kernelSource("a"), kernelSource("a"));
  EXPECT_NE(kernelSource("a"), kernelSource("b"));
}

} // namespace
} // namespace coil::nvrtc
