//===- CubinBundle.h - Kernels compiled ahead of time -----------*- C++ -*-===//
//
// A file beside a plan (ring.plan.cubins) with the plan's kernels as machine code,
// so that nodes without NVRTC can run it. Machine code cannot be checked as a plan
// is: load a bundle only on its user's word that it can be trusted. The reader
// finds damage and what does not belong to the plan, not malice.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_NVRTC_CUBINBUNDLE_H
#define COIL_RUNTIME_NVRTC_CUBINBUNDLE_H

#include "runtime/base/Status.h"
#include "runtime/base/Types.h"
#include "runtime/kernels/device/Launch.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace coil::nvrtc {

/// The version that this build reads and writes.
inline constexpr uint32_t cubinBundleVersion = 1;

/// One kernel's machine code.
struct BundledCubin {
  uint32_t variant = 0; ///< index in Plan::variants
  DataType type = DataType::F32;
  ReduceOp op = ReduceOp::Sum;
  device::Protocol protocol = device::Protocol::Simple;
  uint32_t arch = 0; ///< 90 for sm_90
  /// kernelSource() of the text that it was compiled from: the runtime runs the
  /// cubin only if its own is the same.
  std::string source;
  std::string loweredName;
  std::vector<uint8_t> bytes;

  bool operator==(const BundledCubin &) const = default;
};

struct CubinBundle {
  uint64_t planDigest = 0; ///< Plan::digest
  std::vector<BundledCubin> cubins;

  /// The cubin for a device of compute capability `capability` (90 for 9.0): of the
  /// same major number and the greatest minor number not above; null if there is
  /// none.
  const BundledCubin *find(uint32_t variant, DataType type, ReduceOp op, device::Protocol protocol,
                           uint32_t capability) const;

  bool operator==(const CubinBundle &) const = default;
};

/// The file's bytes.
std::vector<uint8_t> writeCubinBundle(const CubinBundle &bundle);

/// Errors: InvalidPlan, which says what was expected and found, for a file that is
/// no bundle, of another version, or damaged.
Result<CubinBundle> readCubinBundle(std::span<const uint8_t> bytes);

/// The same from a file; errors begin with its path, and a file that cannot be
/// opened is a SystemError.
Result<CubinBundle> readCubinBundleFile(const std::string &path);

/// Where a plan's bundle lies: the plan's path and ".cubins".
std::string cubinBundlePath(const std::string &planPath);

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_CUBINBUNDLE_H
