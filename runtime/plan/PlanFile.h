//===- PlanFile.h - Reading plan files --------------------------*- C++ -*-===//
//
// A plan file is data from anywhere: nothing in it is believed before it was
// checked. A damaged, stale or hostile plan gives an InvalidPlan error that says
// where, what was expected and what was found.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_PLAN_PLANFILE_H
#define COIL_RUNTIME_PLAN_PLANFILE_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <span>
#include <string>

namespace coil {

/// The format that this build reads and writes.
inline constexpr uint32_t planFormatVersion = 1;

/// The first bytes of a plan file, little-endian; a FlatBuffer follows.
struct PlanFileHeader {
  char magic[8]; ///< "COILPLAN"
  uint32_t formatVersion;
  uint32_t reserved;    ///< 0
  uint64_t payloadSize; ///< bytes after this header, to the end of the file
  uint64_t checksum;    ///< planChecksum of the payload
};
static_assert(sizeof(PlanFileHeader) == 32);

/// A 64-bit checksum that changes with any changed byte (FNV-1a folded over
/// 8-byte words and finalised by an invertible mix): it finds damage, not forgery.
uint64_t planChecksum(std::span<const uint8_t> payload);

/// The file's bytes for a finished FlatBuffer with a planfb::Plan as its root.
std::vector<uint8_t> wrapPlan(std::span<const uint8_t> flatBuffer);

/// Checks and reads a plan file held in memory; `bytes` need not be aligned and
/// may be released afterwards.
Result<Plan> readPlan(std::span<const uint8_t> bytes);

/// The same from a file; errors begin with its path.
Result<Plan> readPlanFile(const std::string &path);

/// The checks that readPlan makes beyond the FlatBuffers verifier, also for
/// plans made in memory: every index, rank, channel, worker and length in
/// bounds; every transport paired with the operations it has; channels' ends
/// the workers that use them; as many pushes as pops and signals as waits on
/// every channel in each section of the programs.
Status validatePlan(const Plan &plan);

} // namespace coil

#endif // COIL_RUNTIME_PLAN_PLANFILE_H
