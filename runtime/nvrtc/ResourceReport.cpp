//===- ResourceReport.cpp - What the assembler says of kernels ------------===//

#include "runtime/nvrtc/ResourceReport.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace coil::nvrtc {

namespace {

/// The number before `unit` in a line such as "Used 8 registers, used 0 barriers".
uint32_t numberBefore(std::string_view line, std::string_view unit) {
  size_t end = line.find(unit);
  if (end == std::string_view::npos)
    return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  uint32_t number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

/// What follows `mark` up to the end of the line or `until`.
std::string_view textAfter(std::string_view line, std::string_view mark, char until) {
  size_t begin = line.find(mark);
  if (begin == std::string_view::npos)
    return {};
  std::string_view rest = line.substr(begin + mark.size());
  return rest.substr(0, rest.find(until));
}

} // namespace

std::vector<KernelResources> parseResourceReport(std::string_view log) {
  std::vector<KernelResources> kernels;
  std::map<std::string, KernelResources, std::less<>> functions;
  std::string subject; // of the lines that follow
  while (!log.empty()) {
    size_t end = log.find('\n');
    std::string_view line = log.substr(0, end);
    log = end == std::string_view::npos ? std::string_view() : log.substr(end + 1);
    if (std::string_view entry = textAfter(line, "Compiling entry function '", '\'');
        !entry.empty()) {
      kernels.push_back({});
      kernels.back().loweredName = entry;
    } else if (std::string_view function = textAfter(line, "Function properties for ", ' ');
               !function.empty()) {
      subject = function;
    } else if (line.find(" bytes stack frame") != std::string_view::npos) {
      KernelResources &facts = functions[subject];
      facts.spillStores = numberBefore(line, " bytes spill stores");
      facts.spillLoads = numberBefore(line, " bytes spill loads");
    } else if (line.find(" registers") != std::string_view::npos && !kernels.empty()) {
      kernels.back().registers = numberBefore(line, " registers");
      kernels.back().barriers = numberBefore(line, " barriers");
      kernels.back().sharedBytes = numberBefore(line, " bytes smem");
      // Of the kernel and what it calls; said only if there is any.
      kernels.back().stackBytes = numberBefore(line, " bytes cumulative stack size");
    }
  }

  auto isKernel = [&](const std::string &name) {
    return std::any_of(kernels.begin(), kernels.end(),
                       [&](const KernelResources &kernel) { return kernel.loweredName == name; });
  };
  for (const auto &[name, facts] : functions)
    for (KernelResources &kernel : kernels)
      if (kernel.loweredName == name || !isKernel(name)) {
        kernel.spillStores += facts.spillStores;
        kernel.spillLoads += facts.spillLoads;
      }
  return kernels;
}

} // namespace coil::nvrtc
