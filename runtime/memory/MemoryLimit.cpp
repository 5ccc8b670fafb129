//===- MemoryLimit.cpp - How much memory can be had at all ----------------===//

#include "runtime/memory/MemoryLimit.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace coil {

static constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

/// MemAvailable and SwapFree, which /proc/meminfo gives in KiB.
static uint64_t availableOnMachine() {
  std::ifstream file("/proc/meminfo");
  uint64_t total = 0;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    size_t colon = line.find(':');
    if (colon == std::string::npos)
      continue;
    std::string key = line.substr(0, colon);
    if (key != "MemAvailable" && key != "SwapFree")
      continue;
    found |= key == "MemAvailable";
    total += std::strtoull(line.c_str() + colon + 1, nullptr, 10) * 1024;
  }
  return found ? total : unlimited;
}

/// The limit in a control group's file; "max", or no such file, is none.
static uint64_t limitInFile(const char *path) {
  std::ifstream file(path);
  uint64_t limit;
  return file >> limit ? limit : unlimited;
}

uint64_t memoryLimit() {
  return std::min({availableOnMachine(), limitInFile("/sys/fs/cgroup/memory.max"),
                   limitInFile("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

} // namespace coil
