//===- HostCompiler.cpp - Kernels compiled for the host -------------------===//

#include "runtime/emulated/HostCompiler.h"
#include "runtime/emulated/KernelTable.h"
#include "runtime/emulated/Settings.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <regex>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace coil::emulated {

namespace fs = std::filesystem;

namespace {

/// A folder that is gone at the end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code ignored;
    std::string pattern = (fs::temp_directory_path(ignored) / "coil-emulated-XXXXXX").string();
    if (mkdtemp(pattern.data()))
      path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty())
      fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  fs::path path; ///< empty: it could not be made
};

/// Whether a name stays inside the folder that it is put into.
bool isInside(const fs::path &name) {
  if (name.empty() || name.is_absolute())
    return false;
  for (const fs::path &part : name)
    if (part == "..")
      return false;
  return true;
}

bool write(const fs::path &path, const std::string &text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  return static_cast<bool>(file.flush());
}

std::string read(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> words(const std::string &text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// The compilers to try, best first.
std::vector<std::string> compilers() {
  if (std::string chosen = environment("COIL_EMULATION_CXX"); !chosen.empty())
    return {chosen};
  return {COIL_EMULATION_BUILD_CXX, "c++", "clang++"};
}

/// Runs a program with its output in a file. Returns its exit status, or -1 if it
/// cannot be run.
int runProgram(const std::vector<std::string> &command, const fs::path &output) {
  std::vector<char *> arguments;
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int failure = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// The program with its table of kernels after it.
std::string translationUnit(const HostProgram &program) {
  std::string text = fmt::format("#line 1 \"{}\"\n{}\n#line 1 \"names of kernels\"\n"
                                 "#include \"runtime/emulated/KernelTable.h\"\n"
                                 "static constexpr coil::emulated::KernelEntry "
                                 "coilEmulatedEntries[] = {{\n",
                                 program.name, program.text);
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    std::string_view kernel = program.kernels[i];
    if (kernel.starts_with('&'))
      kernel.remove_prefix(1);
    text += fmt::format("coil::emulated::KernelCall<&{}>::entry(\"{}\"),\n", kernel,
                        program.loweredNames[i]);
  }
  text += fmt::format("{{nullptr, nullptr, nullptr, 0}}}};\n"
                      "extern \"C\" __attribute__((visibility(\"default\"))) const "
                      "coil::emulated::KernelTable {0};\n"
                      "const coil::emulated::KernelTable {0} = {{{1}, {2}, "
                      "coilEmulatedEntries}};\n",
                      kernelTableSymbol, kernelTableVersion, program.kernels.size());
  return text;
}

/// Messages as NVRTC writes them, "ring.cu(12): error: ...", without the folder.
std::string asNvrtcWrites(std::string log, const std::string &folder) {
  for (std::size_t at = 0; (at = log.find(folder, at)) != std::string::npos;)
    log.erase(at, folder.size());
  static const std::regex place("(^|\n)([^\n:]+):([0-9]+)(:[0-9]+)?: (fatal )?error:");
  return std::regex_replace(log, place, "$1$2($3): error:");
}

HostObject failed(std::string why) { return {{}, "error: " + std::move(why) + "\n"}; }

} // namespace

HostObject compileForHost(const HostProgram &program) {
  TemporaryFolder folder;
  if (folder.path.empty())
    return failed("no folder for temporary files can be made");
  const std::string others = environment("COIL_EMULATED_HEADERS");
  auto put = [&](const SourceFile &header) {
    if (!isInside(header.name))
      return false;
    fs::path other = others / fs::path(header.name);
    std::error_code ignored;
    bool isReplaced = !others.empty() && fs::is_regular_file(other, ignored);
    return write(folder.path / header.name, isReplaced ? read(other) : header.text);
  };
  for (const SourceFile &header : emulationHeaders())
    if (!put(header))
      return failed(fmt::format("cannot write {} to {}", header.name, folder.path.string()));
  for (const SourceFile &header : program.headers)
    if (!put(header))
      return failed(fmt::format("cannot write {} to {}", header.name, folder.path.string()));
  fs::path source = folder.path / "program.cpp", object = folder.path / "program.so",
           output = folder.path / "output";
  if (!write(source, translationUnit(program)))
    return failed(fmt::format("cannot write {}", source.string()));

  std::vector<std::string> options = {"-std=c++20", "-O1", "-fPIC", "-shared", "-g1",
                                      "-fvisibility=hidden", "-fno-strict-aliasing",
                                      // As NVRTC is told: the same bits on every device.
                                      "-ffp-contract=off", "-fno-diagnostics-color", "-w"};
  for (const std::string &more :
       {std::string(COIL_EMULATION_BUILD_CXXFLAGS), environment("COIL_EMULATION_CXXFLAGS")})
    for (std::string &word : words(more))
      options.push_back(std::move(word));
  options.insert(options.end(), program.options.begin(), program.options.end());
  options.insert(options.end(),
                 {"-I" + folder.path.string(), "-o", object.string(), source.string()});
  std::string tried;
  for (const std::string &compiler : compilers()) {
    std::vector<std::string> command = {compiler};
    command.insert(command.end(), options.begin(), options.end());
    int status = runProgram(command, output);
    if (status < 0 || status == 127) {
      tried += (tried.empty() ? "" : ", ") + compiler;
      continue;
    }
    HostObject result{status == 0 ? read(object) : std::string(),
                      asNvrtcWrites(read(output), folder.path.string() + "/")};
    if (result.bytes.empty() && result.log.empty())
      result.log = fmt::format("error: {} ended with status {} and no message\n", compiler, status);
    return result;
  }
  return failed("no compiler of the host can be run; tried " + tried);
}

} // namespace coil::emulated
