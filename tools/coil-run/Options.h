//===- Options.h - coil-run's command line ----------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_OPTIONS_H
#define COIL_TOOLS_COIL_RUN_OPTIONS_H

#include "runtime/base/Status.h"
#include "runtime/base/Types.h"
#include "runtime/include/coil/coil.h"
#include "tools/coil-run/CheckData.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coil::run {

/// Where the buffers come from: coilMemAlloc and registered, or ordinary memory.
enum class MemoryKind : uint8_t { Registered, Plain };
const char *nameOf(MemoryKind kind);

/// What the ranks run on. Emulated: kernels of GPUs, run on the host.
enum class Target : uint8_t { Cpu, Cuda, CudaEmulated };
/// "cpu", "cuda" and "cuda-emulated".
const char *nameOf(Target target);

/// The most ranks that are started.
inline constexpr int mostRanks = 4096;

struct Options {
  /// A program or a plan; "-" is standard input.
  std::string file;
  std::optional<int> ranks;
  /// The algorithm of a file with several; empty: the only one.
  std::string algorithm;
  /// Nodes that a program's ranks are said to lie on.
  int64_t nodes = 1;
  /// Values of a program's parameters: "radix=4".
  std::vector<std::string> parameters;
  /// Folders where a program's imports are looked for.
  std::vector<std::string> importFolders;

  /// Bytes, or with `sizesAreCounts` elements as the call takes them.
  std::vector<uint64_t> sizes;
  bool sizesAreCounts = false;
  std::vector<DataType> types;
  /// None: sum, where the collective combines.
  std::vector<ReduceOp> ops;
  bool allRoots = false;
  /// None: the first that the plan has.
  std::optional<int> root;
  std::optional<double> scalar;

  bool outOfPlace = true, inPlace = true;
  /// True if the command line chose one of the above.
  bool placeChosen = false;
  std::vector<MemoryKind> memory;
  /// Bytes by which buffers are moved off their alignment.
  uint64_t offset = 0;

  /// 0: by size.
  uint64_t iterations = 0;
  std::optional<uint64_t> warmup;
  bool check = false;
  DataKind data = DataKind::Exact;

  /// 0: for ever.
  uint64_t timeoutMs = 0;
  std::optional<uint64_t> slotBytes, directBytes;
  bool threads = false;
  bool bind = true;

  Target target = Target::Cpu;
  /// Ranks that share a GPU, as threads of one process.
  int ranksPerGpu = 1;
  coilProtocol_t protocol = coilProtocolAuto;
  std::optional<uint64_t> llBytes;
  /// A file of kernels that were compiled ahead of time; empty: none.
  std::string cubins;
  /// 0: what suits the device.
  unsigned instances = 0, threadsPerBlock = 0;

  /// Empty: none; "-": standard output, in place of the table.
  std::string jsonPath;
  bool quiet = false;
};

/// A parsed command line: options, or a text to print instead of a run.
struct CommandLine {
  std::optional<Options> options;
  std::string text;
};

/// Parses what main was given. Errors say which option, what was expected and
/// what was found.
Result<CommandLine> parseCommandLine(int argc, const char *const *argv);

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_OPTIONS_H
