//===- Settings.cpp - What the environment asks of the stand-in -----------===//

#include "runtime/emulated/Settings.h"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

namespace coil::emulated {

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

namespace {

/// Reads a number from `least` to `most` if the variable is set.
template <typename Number>
std::string readNumber(const char *name, Number least, Number most, Number &number) {
  std::string text = environment(name);
  if (text.empty())
    return {};
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return fmt::format("{}: expected a number from {} to {}, found '{}'", name, least, most, text);
  number = value;
  return {};
}

} // namespace

std::string readSettings(Settings &settings) {
  std::uint64_t megabytes = settings.memoryBytes >> 20;
  int peers = 1, track = 0;
  for (const std::string &error :
       {readNumber("COIL_EMULATED_DEVICES", 1, 64, settings.devices),
        readNumber("COIL_EMULATED_MULTIPROCESSORS", 1, 1024, settings.multiprocessors),
        readNumber<std::uint64_t>("COIL_EMULATED_MEMORY", 1, 1 << 20, megabytes),
        readNumber("COIL_EMULATED_PEERS", 0, 1, peers),
        readNumber("COIL_EMULATED_TRACK", 0, 1, track)})
    if (!error.empty())
      return error;
  settings.memoryBytes = megabytes << 20;
  settings.hasPeers = peers != 0;
  settings.isTracked = track != 0;
  return {};
}

} // namespace coil::emulated
