//===- Problems.cpp - What a run has found wrong --------------------------===//

#include "runtime/kernels/emulation/Problems.h"

#include <fmt/format.h>
#include <string_view>

namespace coil::emulation {

namespace {
constexpr std::size_t mostProblems = 32;
}

void Problems::report(ProblemKind kind, const std::string &key, std::string text) {
  std::lock_guard lock(mutex);
  if (found.size() < mostProblems && keys.insert(key).second)
    found.push_back({kind, std::move(text)});
}

void Problems::reportAndStop(ProblemKind kind, std::string text) {
  std::lock_guard lock(mutex);
  // What follows from the first one is not worth reading.
  if (!stop.exchange(true))
    found.push_back({kind, std::move(text)});
}

std::vector<Problem> Problems::take() {
  std::lock_guard lock(mutex);
  return std::move(found);
}

std::string text(Site site) {
  std::string_view file = site.file;
  if (std::size_t folder = file.rfind("runtime/kernels/"); folder != std::string_view::npos)
    file.remove_prefix(folder + std::string_view("runtime/kernels/").size());
  else if (std::size_t slash = file.rfind('/'); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, site.line);
}

} // namespace coil::emulation
