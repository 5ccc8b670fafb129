//===- Emulation.h - Running kernels on an emulated machine -----*- C++ -*-===//
//
// The host's side of the emulation: launches of device code, and the tracking of
// its memory accesses. What is found wrong is returned as a list of problems.
//
// Tracking holds every access against PTX's memory model: a race is two accesses
// of a byte, at least one of them a write and not both atomic at scopes that
// include each other, that no chain of program order, release and acquire, block
// and warp synchronisation orders. It sees this process alone. The start and the
// end of a launch are ordered with everything that the host does.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_EMULATION_H
#define COIL_RUNTIME_KERNELS_EMULATION_EMULATION_H

#include "runtime/kernels/device/Integers.h"

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace coil::emulation {

enum class ProblemKind {
  Race,      ///< two conflicting accesses are not ordered
  Overwrite, ///< a packed word that is being read is replaced without word from the reader
  Misuse,    ///< device code breaks a rule of the seam, such as a divergent barrier
  TimeLimit, ///< the launch took longer than allowed
  NoMemory,  ///< the host has no memory or no threads for the launch
};

struct Problem {
  ProblemKind kind;
  std::string text; ///< one or more lines, without a final line break
};

struct KernelLaunch {
  device::u32 blocks = 1;
  device::u32 threads = 32;    ///< of a block: a multiple of 32, at most 1024
  device::u64 sharedBytes = 0; ///< of a block; filled with 0xa5, as no kernel may expect zeros
  device::u32 device = 0;      ///< which device the blocks are on, for Scope::Device
  std::function<void()> body;  ///< what every thread runs
  device::u32 computeCapability = 90; ///< of the device, as 10 * major + minor
};

/// Runs launches at the same time, all blocks at once, and waits for all of them.
/// The first misuse, or the time limit (0: none), ends all of them where they next
/// synchronise or pause; nothing of their stacks is unwound. A race ends nothing.
std::vector<Problem> run(std::vector<KernelLaunch> launches, double timeLimitSeconds = 0);

/// Switches tracking, for launches to come; not while one runs. Off at first.
void setTracking(bool isOn);
bool isTracking();

/// The body that calls a kernel with copies of the arguments.
template <typename... Parameters>
std::function<void()>
call(void (*kernel)(Parameters...),
     const std::type_identity_t<std::remove_const_t<Parameters>> &...arguments) {
  return [=] { kernel(arguments...); };
}

} // namespace coil::emulation

#endif // COIL_RUNTIME_KERNELS_EMULATION_EMULATION_H
