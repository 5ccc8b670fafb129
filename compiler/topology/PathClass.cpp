//===- PathClass.cpp - How far apart two devices are ----------------------===//

#include "compiler/topology/PathClass.h"

#include <array>

namespace coil::topology {

static constexpr std::array<const char *, 8> names = {"X",    "PIX", "PXB", "PHB",
                                                      "NODE", "SYS", "NET", "-"};

const char *nameOf(PathClass path) { return names[static_cast<size_t>(path)]; }

std::optional<PathClass> pathClassNamed(std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (name == names[i])
      return static_cast<PathClass>(i);
  if (name == "SOC")
    return PathClass::Sys;
  return std::nullopt;
}

} // namespace coil::topology
