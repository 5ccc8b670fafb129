//===- Settings.h - What the environment asks of the stand-in ---*- C++ -*-===//
//
//   COIL_EMULATED_DEVICES          how many devices there are, 1 to 64; 8
//   COIL_EMULATED_MULTIPROCESSORS  of a device, 1 to 1024; 8
//   COIL_EMULATED_MEMORY           MiB of a device; 16384
//   COIL_EMULATED_PEERS            0: no device reaches another's memory; 1
//   COIL_EMULATED_TRACK            1: accesses are tracked, and races fail launches; 0
//   COIL_EMULATED_FAULTS           calls that fail, see Faults.h
//   COIL_EMULATED_HEADERS          a folder: headers in it replace those of the same
//                                  name that a program is compiled with
//   COIL_EMULATION_CXX             the host compiler, and
//   COIL_EMULATION_CXXFLAGS        more options for it, separated by spaces
//
// Read once, by cuInit(); the compiler's whenever it is used.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EMULATED_SETTINGS_H
#define COIL_RUNTIME_EMULATED_SETTINGS_H

#include <cstdint>
#include <string>

namespace coil::emulated {

struct Settings {
  int devices = 8;
  int multiprocessors = 8;
  std::uint64_t memoryBytes = std::uint64_t(16) << 30;
  bool hasPeers = true;
  bool isTracked = false;
};

/// An environment variable, or "".
std::string environment(const char *name);

/// Reads the environment. Returns an error message, empty if all is well.
std::string readSettings(Settings &settings);

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_SETTINGS_H
