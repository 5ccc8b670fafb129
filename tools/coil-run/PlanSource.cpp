//===- PlanSource.cpp - A plan from a program or a plan file --------------===//

#include "tools/coil-run/PlanSource.h"

#include "compiler/pipeline/Compile.h"
#include "runtime/base/UniqueFd.h"
#include "runtime/plan/PlanFile.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace coil::run {

namespace {

constexpr std::string_view planMagic = "COILPLAN";

/// Appends what can be read from `fd`, until `limit` bytes are there or it ends.
Status readInto(std::vector<uint8_t> &bytes, int fd, size_t limit) {
  while (bytes.size() < limit) {
    std::array<uint8_t, 65536> block;
    ssize_t got = read(fd, block.data(), std::min(block.size(), limit - bytes.size()));
    if (got == 0)
      break;
    if (got < 0 && errno != EINTR)
      return Status::system(errno, "cannot read");
    if (got > 0)
      bytes.insert(bytes.end(), block.data(), block.data() + got);
  }
  return Status::ok();
}

bool isPlan(std::span<const uint8_t> bytes) {
  return bytes.size() >= planMagic.size() &&
         std::memcmp(bytes.data(), planMagic.data(), planMagic.size()) == 0;
}

/// Makes `bytes` what standard input holds, for a compiler that reads it anew.
Status replayStandardInput(std::span<const uint8_t> bytes) {
  UniqueFd copy(memfd_create("coil-run-input", MFD_CLOEXEC));
  if (!copy)
    return Status::system(errno, "cannot keep standard input");
  for (size_t done = 0; done < bytes.size();) {
    ssize_t put = write(copy.get(), bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno != EINTR)
      return Status::system(errno, "cannot keep standard input");
    done += put > 0 ? static_cast<size_t>(put) : 0;
  }
  if (lseek(copy.get(), 0, SEEK_SET) < 0 || dup2(copy.get(), STDIN_FILENO) < 0)
    return Status::system(errno, "cannot keep standard input");
  return Status::ok();
}

Result<std::optional<Plan>> compile(const Options &options) {
  if (!options.ranks)
    return Status::error(StatusCode::InvalidArgument,
                         "'{}' is no plan but a program: expected --ranks, the number of ranks to "
                         "compile it for",
                         options.file);
  CompileOptions compileOptions;
  compileOptions.ranks = *options.ranks;
  compileOptions.algorithm = options.algorithm;
  compileOptions.nodes = options.nodes;
  compileOptions.parameters = options.parameters;
  compileOptions.importFolders = options.importFolders;
  if (options.root)
    compileOptions.root = *options.root;
  return compileFile(options.file, compileOptions, std::cerr);
}

Result<std::optional<Plan>> fromStandardInput(const Options &options) {
  // No plan or program comes near this; it is there for endless input.
  constexpr size_t limit = size_t{1} << 30;
  std::vector<uint8_t> bytes;
  COIL_RETURN_IF_ERROR(readInto(bytes, STDIN_FILENO, limit + 1));
  if (bytes.size() > limit)
    return Status::error(StatusCode::InvalidArgument, "expected at most {} bytes, found more",
                         limit);
  if (isPlan(bytes)) {
    COIL_ASSIGN_OR_RETURN(Plan plan, readPlan(bytes));
    return std::optional<Plan>(std::move(plan));
  }
  COIL_RETURN_IF_ERROR(replayStandardInput(bytes));
  return compile(options);
}

} // namespace

Result<std::optional<Plan>> obtainPlan(const Options &options) {
  if (options.file == "-") {
    auto plan = fromStandardInput(options);
    if (!plan.isOk())
      return std::move(plan).status().withContext("standard input");
    return plan;
  }
  UniqueFd file(open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return Status::system(errno, "cannot open '{}'", options.file);
  std::vector<uint8_t> start;
  if (Status status = readInto(start, file.get(), planMagic.size()); !status.isOk())
    return std::move(status).withContext(options.file);
  if (!isPlan(start))
    return compile(options);
  COIL_ASSIGN_OR_RETURN(Plan plan, readPlanFile(options.file));
  return std::optional<Plan>(std::move(plan));
}

} // namespace coil::run
