//===- KernelCompiler.cpp - Kernels compiled by NVRTC ---------------------===//

#include "runtime/nvrtc/KernelCompiler.h"
#include "runtime/nvrtc/CompileErrors.h"
#include "runtime/nvrtc/EmbeddedHeaders.h"
#include "runtime/nvrtc/ResourceReport.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <optional>
#include <sys/stat.h>
#include <time.h>

namespace coil::nvrtc {

namespace {

/// Never contracted to fused multiply-add, so that a reduction has the same bits
/// everywhere; and what bears no mark is for the device, as the headers' constants
/// and layouts are.
constexpr const char *fixedOptions[] = {"--std=c++20", "--fmad=false",
                                        "--device-as-default-execution-space"};
constexpr const char *reportOption = "--ptxas-options=-v";

/// The number in "sm_90" or "compute_90".
std::optional<int> archNumber(std::string_view arch, std::string_view prefix) {
  if (!arch.starts_with(prefix))
    return std::nullopt;
  int number = 0;
  const char *last = arch.data() + arch.size();
  auto [end, error] = std::from_chars(arch.data() + prefix.size(), last, number);
  if (error != std::errc() || end != last)
    return std::nullopt;
  return number;
}

/// A program of NVRTC's, destroyed at the end.
class Program {
public:
  explicit Program(const NvrtcFunctions &nvrtc) : nvrtc(nvrtc) {}
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program() {
    if (program)
      nvrtc.nvrtcDestroyProgram(&program);
  }

  Status create(const CompileRequest &request) {
    const std::string text(request.text);
    std::vector<const char *> texts, names;
    for (const EmbeddedHeader &header : deviceHeaders()) {
      texts.push_back(header.text);
      names.push_back(header.name);
    }
    COIL_RETURN_IF_ERROR(check(
        "nvrtcCreateProgram",
        nvrtc.nvrtcCreateProgram(&program, text.c_str(), request.name.c_str(),
                                 static_cast<int>(texts.size()), texts.data(), names.data())));
    for (const std::string &expression : request.nameExpressions)
      COIL_RETURN_IF_ERROR(check("nvrtcAddNameExpression",
                                 nvrtc.nvrtcAddNameExpression(program, expression.c_str())));
    return Status::ok();
  }

  NvrtcResult compile(const std::vector<const char *> &options) {
    return nvrtc.nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  }

  /// What a pair of functions, for its size and for itself, gives.
  template <typename Size, typename Get>
  Status fetch(const char *what, Size getSize, Get get, std::vector<uint8_t> &bytes) const {
    size_t size = 0;
    COIL_RETURN_IF_ERROR(check(what, getSize(program, &size)));
    bytes.resize(size);
    if (size == 0)
      return Status::ok();
    return check(what, get(program, reinterpret_cast<char *>(bytes.data())));
  }

  /// Empty if there is none.
  std::string log() const {
    std::vector<uint8_t> bytes;
    if (!fetch("the log", nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, bytes).isOk())
      return {};
    return {bytes.begin(), std::find(bytes.begin(), bytes.end(), 0)};
  }

  Status loweredName(const std::string &expression, std::string &name) const {
    const char *lowered = nullptr;
    COIL_RETURN_IF_ERROR(check("nvrtcGetLoweredName",
                               nvrtc.nvrtcGetLoweredName(program, expression.c_str(), &lowered)));
    name = lowered;
    return Status::ok();
  }

  Status check(const char *what, NvrtcResult result) const {
    if (result == NvrtcResult::Success)
      return Status::ok();
    return Status::error(StatusCode::SystemError, "{} failed: {}", what,
                         nvrtc.nvrtcGetErrorString(result));
  }

private:
  const NvrtcFunctions &nvrtc;
  NvrtcProgram *program = nullptr;
};

/// Used by this process so far.
double processorSeconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Which library it is: one of the same version may be another build, or a stand-in.
std::string libraryIdentity(const NvrtcLibrary &library) {
  struct stat facts{};
  ::stat(library.path().c_str(), &facts);
  return fmt::format("{} {}.{} {} {}", library.path(), library.majorVersion(),
                     library.minorVersion(), facts.st_size, facts.st_mtim.tv_sec);
}

std::string cacheKey(const NvrtcLibrary &library, const CompileRequest &request) {
  std::string key = fmt::format("{}\n{}\n{}\n{}\n", libraryIdentity(library), request.arch,
                                request.target == CompileTarget::Ptx ? "ptx" : "cubin",
                                kernelSource(request.text));
  for (const std::string &expression : request.nameExpressions)
    key.append(expression).append("\n");
  return key.append(request.text);
}

} // namespace

std::string kernelSource(std::string_view text) {
  // The library's part is the same for every kernel of this process.
  static const std::string library = [] {
    std::string all;
    for (const char *option : fixedOptions)
      all.append(option).append("\n");
    for (const EmbeddedHeader &header : deviceHeaders())
      all.append(header.name).append("\n").append(header.text);
    return contentHash(all);
  }();
  return contentHash(library + "\n" + std::string(text));
}

KernelCompiler::KernelCompiler(std::shared_ptr<const NvrtcLibrary> library, CubinCache cache)
    : library(std::move(library)), cache(std::move(cache)) {}

Result<KernelCompiler> KernelCompiler::load(const std::string &path, CubinCache cache) {
  COIL_ASSIGN_OR_RETURN(std::shared_ptr<const NvrtcLibrary> library, NvrtcLibrary::load(path));
  KernelCompiler compiler(std::move(library), std::move(cache));
  const NvrtcFunctions &nvrtc = compiler.library->functions();
  int count = 0;
  NvrtcResult result = nvrtc.nvrtcGetNumSupportedArchs(&count);
  if (result == NvrtcResult::Success) {
    compiler.archs.resize(static_cast<size_t>(std::max(count, 0)));
    result = nvrtc.nvrtcGetSupportedArchs(compiler.archs.data());
  }
  if (result != NvrtcResult::Success)
    return Status::error(StatusCode::SystemError, "{} does not say which GPUs it knows: {}",
                         compiler.describe(), nvrtc.nvrtcGetErrorString(result));
  std::sort(compiler.archs.begin(), compiler.archs.end());
  return compiler;
}

std::string KernelCompiler::describe() const {
  return fmt::format("NVRTC {}.{} ({})", library->majorVersion(), library->minorVersion(),
                     library->path());
}

Status KernelCompiler::checkArch(const CompileRequest &request) const {
  std::optional<int> number = archNumber(request.arch, "sm_");
  if (!number && request.target == CompileTarget::Ptx)
    number = archNumber(request.arch, "compute_");
  if (!number)
    return Status::error(StatusCode::InvalidArgument,
                         "expected an architecture such as sm_90, found '{}'", request.arch);
  if (std::binary_search(archs.begin(), archs.end(), *number))
    return Status::ok();
  std::string known;
  for (int arch : archs)
    known += fmt::format("{}sm_{}", known.empty() ? "" : ", ", arch);
  return Status::error(StatusCode::InvalidArgument, "{} does not know {}; it knows {}", describe(),
                       request.arch, known);
}

std::string KernelCompiler::archFor(int computeCapability) const {
  auto above = std::upper_bound(archs.begin(), archs.end(), computeCapability);
  if (above == archs.begin())
    return {};
  int best = *std::prev(above);
  return fmt::format("{}_{}", best == computeCapability ? "sm" : "compute", best);
}

Result<CompiledKernels> KernelCompiler::compile(const CompileRequest &request) const {
  COIL_RETURN_IF_ERROR(checkArch(request));
  const std::string key = cacheKey(*library, request);
  if (std::optional<CachedKernels> cached = cache.find(key)) {
    CompiledKernels kernels;
    kernels.bytes = std::move(cached->bytes);
    kernels.loweredNames = std::move(cached->loweredNames);
    kernels.fromCache = true;
    return kernels;
  }
  COIL_ASSIGN_OR_RETURN(CompiledKernels kernels, compileAfresh(request, false));
  cache.store(key, {kernels.bytes, kernels.loweredNames});
  return kernels;
}

Result<std::vector<KernelResources>> KernelCompiler::measure(const CompileRequest &request) const {
  COIL_RETURN_IF_ERROR(checkArch(request));
  double start = processorSeconds();
  COIL_ASSIGN_OR_RETURN(CompiledKernels kernels, compileAfresh(request, true));
  double seconds = processorSeconds() - start;
  std::vector<KernelResources> resources = parseResourceReport(kernels.log);
  if (resources.size() != request.nameExpressions.size())
    return Status::error(StatusCode::SystemError,
                         "{} reports on {} kernels, expected {}; it said:\n{}", describe(),
                         resources.size(), request.nameExpressions.size(), kernels.log);
  for (KernelResources &facts : resources)
    facts.compileSeconds = seconds;
  return resources;
}

Result<CompiledKernels> KernelCompiler::compileAfresh(const CompileRequest &request,
                                                      bool reports) const {
  auto start = std::chrono::steady_clock::now();
  const NvrtcFunctions &nvrtc = library->functions();
  Program program(nvrtc);
  COIL_RETURN_IF_ERROR(program.create(request));
  const std::string archOption = "--gpu-architecture=" + request.arch;
  std::vector<const char *> options(std::begin(fixedOptions), std::end(fixedOptions));
  options.push_back(archOption.c_str());
  if (reports)
    options.push_back(reportOption);
  NvrtcResult result = program.compile(options);

  CompiledKernels kernels;
  kernels.log = program.log();
  if (result != NvrtcResult::Success) {
    auto sourceOf = [&](std::string_view file) -> std::optional<std::string_view> {
      if (file == request.name)
        return request.text;
      for (const EmbeddedHeader &header : deviceHeaders())
        if (file == header.name)
          return header.text;
      return std::nullopt;
    };
    return Status::error(
        result == NvrtcResult::Compilation ? StatusCode::InternalError : StatusCode::SystemError,
        "{} cannot compile {} for {}: {}\n{}", describe(), request.name, request.arch,
        nvrtc.nvrtcGetErrorString(result), explainLog(kernels.log, sourceOf));
  }
  bool isPtx = request.target == CompileTarget::Ptx;
  COIL_RETURN_IF_ERROR(
      isPtx ? program.fetch("nvrtcGetPTX", nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, kernels.bytes)
            : program.fetch("nvrtcGetCUBIN", nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN,
                            kernels.bytes));
  if (isPtx && !kernels.bytes.empty() && kernels.bytes.back() == 0)
    kernels.bytes.pop_back();
  for (const std::string &expression : request.nameExpressions)
    COIL_RETURN_IF_ERROR(program.loweredName(expression, kernels.loweredNames.emplace_back()));
  kernels.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return kernels;
}

} // namespace coil::nvrtc
