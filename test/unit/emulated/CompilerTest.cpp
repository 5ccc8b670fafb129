//===- CompilerTest.cpp - The stand-in for NVRTC --------------------------===//

#include "test/unit/emulated/Kernels.h"
#include "test/unit/emulated/Library.h"

namespace coil::emulated {
namespace {

using nvrtc::NvrtcProgram;
using testing::HasSubstr;

TEST(CompilerTest, ErrorsNameTheLine) {
  Compiled compiled = compile("void f() {}\nint g() { return nothing; }\n", {"f"});
  EXPECT_EQ(compiled.result, NvrtcResult::Compilation);
  EXPECT_THAT(compiled.log, testing::AllOf(HasSubstr("test.cu(2): error:"), HasSubstr("nothing")));
  EXPECT_TRUE(compiled.cubin.empty());
}

TEST(CompilerTest, UnknownKernelsAreErrors) {
  Compiled compiled = compile("void f() {}\n", {"g"});
  EXPECT_EQ(compiled.result, NvrtcResult::Compilation);
  EXPECT_THAT(compiled.log, HasSubstr("names of kernels(3): error:"));
}

TEST(CompilerTest, MakesNoPtx) {
  Compiled compiled = compile(addText, {"test::add<int>"}, "compute_90");
  EXPECT_EQ(compiled.result, NvrtcResult::Compilation);
  EXPECT_THAT(compiled.log, HasSubstr("makes no PTX"));
}

TEST(CompilerTest, CallsInTheWrongOrderAreErrors) {
  const nvrtc::NvrtcFunctions &nvrtc = compiler();
  NvrtcProgram *program = nullptr;
  const char *name = nullptr;
  std::size_t size = 1;
  ASSERT_EQ(nvrtc.nvrtcCreateProgram(&program, "void f() {}", nullptr, 0, nullptr, nullptr),
            NvrtcResult::Success);
  EXPECT_EQ(nvrtc.nvrtcAddNameExpression(program, "f"), NvrtcResult::Success);
  EXPECT_EQ(nvrtc.nvrtcGetLoweredName(program, "f", &name),
            NvrtcResult::NoLoweredNamesBeforeCompilation);
  EXPECT_EQ(nvrtc.nvrtcGetCUBINSize(program, &size), NvrtcResult::Success);
  EXPECT_EQ(size, 0u);
  const char *bad[] = {"--no-such-option"};
  EXPECT_EQ(nvrtc.nvrtcCompileProgram(program, 1, bad), NvrtcResult::InvalidOption);
  EXPECT_EQ(nvrtc.nvrtcCompileProgram(program, 0, nullptr), NvrtcResult::Success);
  EXPECT_EQ(nvrtc.nvrtcAddNameExpression(program, "g"),
            NvrtcResult::NoNameExpressionsAfterCompilation);
  EXPECT_EQ(nvrtc.nvrtcGetLoweredName(program, "g", &name), NvrtcResult::NameExpressionNotValid);
  EXPECT_EQ(nvrtc.nvrtcDestroyProgram(&program), NvrtcResult::Success);
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(nvrtc.nvrtcDestroyProgram(&program), NvrtcResult::InvalidProgram);
  EXPECT_EQ(nvrtc.nvrtcCreateProgram(nullptr, "", nullptr, 0, nullptr, nullptr),
            NvrtcResult::InvalidInput);
}

TEST(CompilerTest, HeadersStayInsideTheirFolder) {
  const nvrtc::NvrtcFunctions &nvrtc = compiler();
  for (const char *name : {"../evil.h", "/tmp/evil.h"}) {
    NvrtcProgram *program = nullptr;
    const char *headers[] = {"int evil;"}, *names[] = {name};
    ASSERT_EQ(nvrtc.nvrtcCreateProgram(&program, "", "a.cu", 1, headers, names),
              NvrtcResult::Success);
    EXPECT_EQ(nvrtc.nvrtcCompileProgram(program, 0, nullptr), NvrtcResult::Compilation);
    EXPECT_EQ(nvrtc.nvrtcDestroyProgram(&program), NvrtcResult::Success);
  }
}

TEST(CompilerTest, Archs) {
  int count = 0;
  ASSERT_EQ(compiler().nvrtcGetNumSupportedArchs(&count), NvrtcResult::Success);
  std::vector<int> archs(static_cast<std::size_t>(count));
  ASSERT_EQ(compiler().nvrtcGetSupportedArchs(archs.data()), NvrtcResult::Success);
  EXPECT_THAT(archs, testing::Contains(90));
}

} // namespace
} // namespace coil::emulated
