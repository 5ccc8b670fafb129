//===- KernelForms.cpp - What coilc makes of a plan's kernels -------------===//

#include "tools/coilc/KernelForms.h"
#include "runtime/codegen/KernelGenerator.h"
#include "runtime/kernels/device/SharedLayout.h"
#include "runtime/nvrtc/CubinBundle.h"
#include "runtime/nvrtc/KernelCompiler.h"
#include "tools/coilc/Output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

namespace coil {

namespace {

constexpr std::array<KernelFormFacts, 4> forms{{
    {KernelForm::Cuda, "cuda", "the plan's kernels as CUDA C++"},
    {KernelForm::Ptx, "ptx", "a kernel as PTX, by NVRTC for --arch"},
    {KernelForm::Cubin, "cubin", "a kernel as machine code, by NVRTC for --arch"},
    {KernelForm::Resources, "resources", "registers, spills and memory of kernels, as a table"},
}};

/// Architectures that --emit=resources shows: one of each generation and kind.
constexpr std::array<int, 8> shownArchs{75, 80, 86, 89, 90, 100, 103, 120};

using nvrtc::CompileRequest;
using nvrtc::CompileTarget;
using nvrtc::KernelCompiler;

/// A kernel's text, and which one it is.
struct Chosen {
  uint32_t variant;
  GeneratedKernel kernel;

  /// For messages and files; a message's form is fixed by the protocol.
  std::string name() const {
    return kernel.transport == Transport::Staged
               ? fmt::format("{}_{}", kernel.name, nameOf(kernel.protocol))
               : kernel.name;
  }
};

/// One kernel to compile.
struct Job {
  const Chosen *chosen;
  KernelInstance instance;
  std::string arch;

  std::string instanceName() const {
    return fmt::format("{}.{}_{}.{}", chosen->name(), nameOf(instance.type), nameOf(instance.op),
                       arch);
  }
  CompileRequest request(CompileTarget target) const {
    const GeneratedKernel &kernel = chosen->kernel;
    CompileRequest request;
    request.text = kernel.text;
    request.name = kernel.name + ".cu";
    request.nameExpressions = {kernelExpression(kernel.name, instance.type, instance.op)};
    request.arch = arch;
    request.target = target;
    return request;
  }
};

std::string describe(const Plan &plan, uint32_t number) {
  const PlanVariant &variant = plan.variants[number];
  std::string text =
      fmt::format("{} ({}, {}", number, variant.inPlace ? "in place" : "out of place",
                  nameOf(variant.transport));
  if (hasRoot(plan.collective))
    text += fmt::format(", root {}", variant.root);
  return text + ")";
}

bool isChosen(const Plan &plan, uint32_t number, const CoilcArguments &arguments) {
  const PlanVariant &variant = plan.variants[number];
  const KernelArguments &wanted = arguments.kernels;
  bool isOfRoot = arguments.root < 0 || !hasRoot(plan.collective) ||
                  variant.root == static_cast<uint64_t>(arguments.root);
  // Without messages there is one kernel, whose protocol is called simple.
  const std::vector<device::Protocol> &protocols = wanted.protocols;
  bool hasProtocol =
      protocols.empty() || variant.transport == Transport::Staged ||
      std::find(protocols.begin(), protocols.end(), device::Protocol::Simple) != protocols.end();
  return isOfRoot && number == wanted.variant.value_or(number) &&
         variant.inPlace == wanted.inPlace.value_or(variant.inPlace) &&
         variant.transport == wanted.transport.value_or(variant.transport) && hasProtocol;
}

/// Generates the kernels asked for: of each variant, and of a staged one for each
/// protocol.
Result<std::vector<Chosen>> choose(const Plan &plan, const CoilcArguments &arguments,
                                   const std::vector<device::Protocol> &protocols) {
  std::vector<Chosen> chosen;
  std::string variants;
  for (uint32_t number = 0; number < plan.variants.size(); ++number) {
    variants += (number == 0 ? "" : ", ") + describe(plan, number);
    if (!isChosen(plan, number, arguments))
      continue;
    bool hasMessages = plan.variants[number].transport == Transport::Staged;
    for (device::Protocol protocol :
         hasMessages ? protocols : std::vector{device::Protocol::Simple}) {
      COIL_ASSIGN_OR_RETURN(GeneratedKernel kernel, generateKernel(plan, number, {protocol, {}}));
      chosen.push_back({number, std::move(kernel)});
    }
  }
  if (chosen.empty())
    return Status::error(StatusCode::InvalidArgument,
                         "the plan has no variant as asked for; it has {}", variants);
  return chosen;
}

/// All combinations, in the order of the lists.
std::vector<Job> makeJobs(const Plan &plan, const std::vector<Chosen> &chosen,
                          const KernelArguments &wanted, const std::vector<std::string> &archs) {
  std::vector<Job> jobs;
  for (const Chosen &one : chosen) {
    std::set<KernelInstance> seen;
    for (DataType type : wanted.types)
      for (ReduceOp op : wanted.ops) {
        KernelInstance instance = kernelInstance(plan.collective, type, op);
        if (!seen.insert(instance).second)
          continue;
        for (const std::string &arch : archs)
          jobs.push_back({&one, instance, arch});
      }
  }
  return jobs;
}

/// Those asked for, else the plan's, else the last argument.
std::vector<device::Protocol> protocolsOr(const Plan &plan, const KernelArguments &wanted,
                                          std::vector<device::Protocol> otherwise) {
  if (!wanted.protocols.empty())
    return wanted.protocols;
  return plan.protocol ? std::vector{deviceProtocol(*plan.protocol)} : otherwise;
}

/// Makes the folder that `output` names. Gives the exit status.
int makeFolder(const std::string &output) {
  std::error_code error;
  std::filesystem::create_directories(output, error);
  return error ? fail(fmt::format("cannot make the folder {}: {}", output, error.message())) : 0;
}

std::string inFolder(const std::string &folder, const std::string &name) {
  return (std::filesystem::path(folder) / name).string();
}

int emitCuda(const std::vector<Chosen> &chosen, const std::string &output) {
  if (namesFolder(output)) {
    if (int status = makeFolder(output))
      return status;
    for (const Chosen &one : chosen)
      if (int status = writeOutput(inFolder(output, one.name() + ".cu"), one.kernel.text))
        return status;
    return 0;
  }
  std::string text;
  for (const Chosen &one : chosen)
    text += (text.empty() ? "" : "\n") + one.kernel.text;
  return writeOutput(output, text);
}

int emitCompiled(const Plan &plan, KernelForm form, std::vector<Chosen> chosen,
                 const CoilcArguments &arguments) {
  const KernelArguments &wanted = arguments.kernels;
  std::string_view formName = forms[static_cast<size_t>(form)].name;
  bool toFolder = namesFolder(arguments.output);
  if (wanted.archs.empty())
    return fail(fmt::format("--emit={} needs an architecture: --arch=sm_90", formName));
  if (!toFolder && form == KernelForm::Cubin && arguments.output == "-" && ::isatty(STDOUT_FILENO))
    return fail("a cubin is binary: name a file with -o, or redirect the output");
  bool asksForNone = !wanted.variant && !wanted.inPlace && !wanted.transport;
  if (!toFolder && asksForNone && chosen.size() > 1) {
    fmt::print(stderr,
               "coilc: note: this is variant {} of {}; --variant chooses, -o FOLDER/ writes all\n",
               describe(plan, chosen.front().variant), plan.variants.size());
    chosen.erase(chosen.begin() + 1, chosen.end());
  }
  std::vector<Job> jobs = makeJobs(plan, chosen, wanted, wanted.archs);
  if (!toFolder && jobs.size() > 1)
    return fail(fmt::format("one file holds one kernel, and {} are asked for: choose one with "
                            "--variant or the like, or name a folder with -o FOLDER/",
                            jobs.size()));
  Result<KernelCompiler> compiler = KernelCompiler::load();
  if (!compiler.isOk())
    return fail(compiler.status().message());
  if (toFolder)
    if (int status = makeFolder(arguments.output))
      return status;
  CompileTarget target = form == KernelForm::Ptx ? CompileTarget::Ptx : CompileTarget::Cubin;
  for (const Job &job : jobs) {
    Result<nvrtc::CompiledKernels> compiled = compiler->compile(job.request(target));
    if (!compiled.isOk())
      return fail(compiled.status().message());
    std::string path =
        toFolder ? inFolder(arguments.output, fmt::format("{}.{}", job.instanceName(), formName))
                 : arguments.output;
    if (int status = writeOutput(path, compiled->bytes))
      return status;
  }
  return 0;
}

int emitResources(const Plan &plan, const std::vector<Chosen> &chosen,
                  const CoilcArguments &arguments) {
  Result<KernelCompiler> compiler = KernelCompiler::load();
  if (!compiler.isOk())
    return fail(compiler.status().message());
  std::vector<std::string> archs = arguments.kernels.archs;
  if (archs.empty())
    for (int arch : shownArchs)
      if (std::find(compiler->supportedArchs().begin(), compiler->supportedArchs().end(), arch) !=
          compiler->supportedArchs().end())
        archs.push_back(fmt::format("sm_{}", arch));

  std::vector<Job> jobs = makeJobs(plan, chosen, arguments.kernels, archs);
  size_t longest = 6;
  for (const Job &job : jobs)
    longest = std::max(longest, job.chosen->name().size());
  std::string table =
      fmt::format("# {}, {} of {} ranks\n", compiler->describe(), plan.name, plan.ranks);
  table += fmt::format("{:<{}}  {:<7} {:<9} {:<8} {:>9} {:>6} {:>12} {:>11} {:>7} {:>8}\n",
                       "kernel", longest, "type", "op", "arch", "registers", "stack",
                       "spill stores", "spill loads", "shared", "seconds");
  for (const Job &job : jobs) {
    auto measured = compiler->measure(job.request(CompileTarget::Cubin));
    if (!measured.isOk())
      return fail(measured.status().message());
    const nvrtc::KernelResources &facts = measured->front();
    const GeneratedKernel &kernel = job.chosen->kernel;
    uint32_t shared =
        facts.sharedBytes + device::sharedBytes(kernel.sendEnds, kernel.receiveEnds,
                                                kernel.peerSlots, device::mostBlockThreads);
    table += fmt::format("{:<{}}  {:<7} {:<9} {:<8} {:>9} {:>6} {:>12} {:>11} {:>7} {:>8.2f}\n",
                         job.chosen->name(), longest, nameOf(job.instance.type),
                         nameOf(job.instance.op), job.arch, facts.registers, facts.stackBytes,
                         facts.spillStores, facts.spillLoads, shared, facts.compileSeconds);
  }
  return writeOutput(arguments.output, table);
}

} // namespace

std::span<const KernelFormFacts> allKernelForms() { return forms; }

std::optional<KernelForm> parseKernelForm(std::string_view name) {
  for (const KernelFormFacts &facts : forms)
    if (facts.name == name)
      return facts.form;
  return std::nullopt;
}

int emitKernels(const Plan &plan, KernelForm form, const CoilcArguments &arguments) {
  Result<std::vector<Chosen>> chosen =
      choose(plan, arguments, protocolsOr(plan, arguments.kernels, {device::Protocol::Simple}));
  if (!chosen.isOk())
    return fail(chosen.status().message());
  switch (form) {
  case KernelForm::Cuda:
    return emitCuda(*chosen, arguments.output);
  case KernelForm::Resources:
    return emitResources(plan, *chosen, arguments);
  default:
    return emitCompiled(plan, form, *std::move(chosen), arguments);
  }
}

Result<std::vector<uint8_t>> makeCubinBundle(const Plan &plan, const CoilcArguments &arguments) {
  std::vector<device::Protocol> all{device::Protocol::Simple, device::Protocol::Ll,
                                    device::Protocol::Ll128};
  COIL_ASSIGN_OR_RETURN(std::vector<Chosen> chosen,
                        choose(plan, arguments, protocolsOr(plan, arguments.kernels, all)));
  COIL_ASSIGN_OR_RETURN(KernelCompiler compiler, KernelCompiler::load());
  nvrtc::CubinBundle bundle;
  bundle.planDigest = plan.digest;
  for (const Job &job : makeJobs(plan, chosen, arguments.kernels, arguments.cubinArchs)) {
    COIL_ASSIGN_OR_RETURN(nvrtc::CompiledKernels compiled,
                          compiler.compile(job.request(CompileTarget::Cubin)));
    nvrtc::BundledCubin cubin;
    cubin.variant = job.chosen->variant;
    cubin.type = job.instance.type;
    cubin.op = job.instance.op;
    cubin.protocol = job.chosen->kernel.protocol;
    // The compiler knew the architecture, so it is "sm_" and a number.
    std::from_chars(job.arch.data() + 3, job.arch.data() + job.arch.size(), cubin.arch);
    cubin.source = nvrtc::kernelSource(job.chosen->kernel.text);
    cubin.loweredName = compiled.loweredNames.front();
    cubin.bytes = std::move(compiled.bytes);
    bundle.cubins.push_back(std::move(cubin));
  }
  return nvrtc::writeCubinBundle(bundle);
}

} // namespace coil
