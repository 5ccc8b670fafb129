//===- Library.cpp - The stand-in for CUDA, loaded as Coil loads it -------===//

#include "test/unit/emulated/Library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace coil::emulated {

namespace {

void *library() {
  static void *handle = [] {
    void *opened = dlopen(COIL_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
      ADD_FAILURE() << dlerror();
      std::abort();
    }
    return opened;
  }();
  return handle;
}

/// Headers of the device library, as the runtime hands them over.
const std::vector<std::pair<std::string, std::string>> &deviceHeaders() {
  static const auto headers = [] {
    std::vector<std::pair<std::string, std::string>> found;
    std::string folder = "runtime/kernels/device/";
    for (const auto &file : std::filesystem::directory_iterator(COIL_SOURCE_FOLDER "/" + folder)) {
      std::ifstream stream(file.path());
      found.emplace_back(folder + file.path().filename().string(),
                         std::string(std::istreambuf_iterator<char>(stream), {}));
    }
    return found;
  }();
  return headers;
}

} // namespace

const cuda::DriverFunctions &driver() {
  static const cuda::DriverFunctions functions = [] {
    cuda::DriverFunctions table;
#define COIL_FIND(name, parameters)                                                                \
  table.name = reinterpret_cast<decltype(table.name)>(dlsym(library(), #name));                    \
  EXPECT_NE(table.name, nullptr) << #name;
    COIL_DRIVER_FUNCTIONS(COIL_FIND)
#undef COIL_FIND
    return table;
  }();
  return functions;
}

const nvrtc::NvrtcFunctions &compiler() {
  static const nvrtc::NvrtcFunctions functions = [] {
    nvrtc::NvrtcFunctions table;
#define COIL_FIND(name, result, parameters)                                                        \
  table.name = reinterpret_cast<decltype(table.name)>(dlsym(library(), #name));                    \
  EXPECT_NE(table.name, nullptr) << #name;
    COIL_NVRTC_FUNCTIONS(COIL_FIND)
#undef COIL_FIND
    return table;
  }();
  return functions;
}

void inProcess(const std::vector<std::pair<std::string, std::string>> &environment,
               const std::function<void()> &body) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (const auto &[name, value] : environment)
      setenv(name.c_str(), value.c_str(), 1);
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

Compiled compile(const std::string &text, const std::vector<std::string> &kernels,
                 const std::string &arch) {
  const nvrtc::NvrtcFunctions &nvrtc = compiler();
  std::vector<const char *> headers, names;
  for (const auto &[name, content] : deviceHeaders()) {
    names.push_back(name.c_str());
    headers.push_back(content.c_str());
  }
  nvrtc::NvrtcProgram *program = nullptr;
  Compiled compiled{};
  compiled.result =
      nvrtc.nvrtcCreateProgram(&program, text.c_str(), "test.cu", static_cast<int>(names.size()),
                               headers.data(), names.data());
  if (compiled.result != NvrtcResult::Success)
    return compiled;
  for (const std::string &kernel : kernels)
    EXPECT_EQ(nvrtc.nvrtcAddNameExpression(program, kernel.c_str()), NvrtcResult::Success);
  std::string option = "--gpu-architecture=" + arch;
  const char *options[] = {"--std=c++20", option.c_str()};
  compiled.result = nvrtc.nvrtcCompileProgram(program, 2, options);
  std::size_t size = 0;
  EXPECT_EQ(nvrtc.nvrtcGetProgramLogSize(program, &size), NvrtcResult::Success);
  compiled.log.resize(size);
  EXPECT_EQ(nvrtc.nvrtcGetProgramLog(program, compiled.log.data()), NvrtcResult::Success);
  compiled.log.resize(size - 1);
  EXPECT_EQ(nvrtc.nvrtcGetCUBINSize(program, &size), NvrtcResult::Success);
  compiled.cubin.resize(size);
  if (size > 0) {
    EXPECT_EQ(nvrtc.nvrtcGetCUBIN(program, compiled.cubin.data()), NvrtcResult::Success);
    for (const std::string &kernel : kernels) {
      const char *name = nullptr;
      EXPECT_EQ(nvrtc.nvrtcGetLoweredName(program, kernel.c_str(), &name), NvrtcResult::Success);
      compiled.names.emplace_back(name ? name : "");
    }
  }
  EXPECT_EQ(nvrtc.nvrtcDestroyProgram(&program), NvrtcResult::Success);
  return compiled;
}

CurrentContext::CurrentContext(int device) : device(device) {
  cuda::DriverContext *context = nullptr;
  EXPECT_EQ(driver().cuInit(0), DriverResult::Success);
  EXPECT_EQ(driver().cuDevicePrimaryCtxRetain(&context, device), DriverResult::Success);
  EXPECT_EQ(driver().cuCtxPushCurrent_v2(context), DriverResult::Success);
}

CurrentContext::~CurrentContext() {
  EXPECT_EQ(driver().cuCtxPopCurrent_v2(nullptr), DriverResult::Success);
  EXPECT_EQ(driver().cuDevicePrimaryCtxRelease_v2(device), DriverResult::Success);
}

LoadedKernel::LoadedKernel(const std::string &text, const std::string &kernel) {
  Compiled compiled = compile(text, {kernel});
  EXPECT_EQ(compiled.result, NvrtcResult::Success) << compiled.log;
  if (compiled.result != NvrtcResult::Success)
    return;
  EXPECT_EQ(driver().cuModuleLoadData(&module, compiled.cubin.data()), DriverResult::Success);
  EXPECT_EQ(driver().cuModuleGetFunction(&function, module, compiled.names[0].c_str()),
            DriverResult::Success);
}

LoadedKernel::~LoadedKernel() {
  if (module)
    (void)driver().cuModuleUnload(module); // it may have failed for ever
}

} // namespace coil::emulated
