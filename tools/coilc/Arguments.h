//===- Arguments.h - coilc's command line -----------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COILC_ARGUMENTS_H
#define COIL_TOOLS_COILC_ARGUMENTS_H

#include "runtime/base/Types.h"
#include "runtime/kernels/device/Launch.h"
#include "runtime/plan/Plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coil {

/// Which kernels of a plan, and for which GPUs.
struct KernelArguments {
  std::vector<std::string> archs; ///< "sm_90", ...; empty: the form's default
  std::vector<DataType> types{DataType::F32};
  std::vector<ReduceOp> ops{ReduceOp::Sum};
  std::vector<device::Protocol> protocols; ///< empty: the form's default
  std::optional<uint32_t> variant;
  std::optional<bool> inPlace;
  std::optional<Transport> transport;
};

struct CoilcArguments {
  std::string input;
  std::string output = "-";
  std::string algorithm;
  std::string emit = "plan";
  std::string from;
  int64_t ranks = 0;
  int64_t root = -1;
  int64_t nodes = 1;
  /// A file or a preset; empty: none, and ranks and nodes are as given.
  std::string topology;
  int64_t slots = 4;
  /// "radix=4", ...
  std::vector<std::string> parameters;
  std::vector<std::string> importFolders;
  bool printPasses = false;
  /// "text", or "json" for errors as JSON.
  std::string diagnostics = "text";
  /// "text", "json" or "mapping"; empty: the program is compiled, not explained.
  std::string explain;
  KernelArguments kernels;
  /// The architectures of --cubin; empty: no cubins beside the plan.
  std::vector<std::string> cubinArchs;
};

/// Reads the command line. Gives the program's exit status instead where it is to
/// end: after --help, or with an error, which is printed.
std::optional<int> parseArguments(int argc, char **argv, CoilcArguments &arguments);

} // namespace coil

#endif // COIL_TOOLS_COILC_ARGUMENTS_H
