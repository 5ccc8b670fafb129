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

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace coil {

/// The format that this build reads and writes.
inline constexpr uint32_t planFormatVersion = 2;

/// The first bytes of a plan file, little-endian; a FlatBuffer follows.
struct PlanFileHeader {
  char magic[8]; ///< "COILPLAN"
  uint32_t formatVersion;
  uint32_t reserved;    ///< 0
  uint64_t payloadSize; ///< bytes after this header, to the end of the file
  uint64_t checksum;    ///< planChecksum of the payload
};
static_assert(sizeof(PlanFileHeader) == 32);

/// A 64-bit checksum, the same on every machine: FNV-1a's steps over little-endian
/// 8-byte words, each followed by a shift that brings high bits down, started
/// from the size and finished by a mix. Every step is invertible, so damage within
/// one word always changes it; other damage does but for one case in about 2^64.
/// It finds damage, not forgery.
uint64_t planChecksum(std::span<const uint8_t> payload);

/// The file's bytes for a finished FlatBuffer with a planfb::Plan as its root.
std::vector<uint8_t> wrapPlan(std::span<const uint8_t> flatBuffer);

/// Checks and reads a plan file held in memory; `bytes` need not be aligned and
/// may be released afterwards. Memory used is a small multiple of their size.
Result<Plan> readPlan(std::span<const uint8_t> bytes);

/// The same from a stream, of which no more than one byte past the plan's end is
/// read: only the end of the stream may follow a plan.
Result<Plan> readPlan(std::FILE *stream);

/// The same from a file; errors begin with its path.
Result<Plan> readPlanFile(const std::string &path);

/// The checks that readPlan makes beyond the FlatBuffers verifier, also for
/// plans made in memory: all that plan.fbs says, so that an executor needs no
/// checks of its own. That no rank waits for ever and no two operations race is
/// not checked here: the compiler proves it. Takes time in proportion to the
/// plan's size. Errors name the variant, rank, worker, section and operation.
Status validatePlan(const Plan &plan);

} // namespace coil

#endif // COIL_RUNTIME_PLAN_PLANFILE_H
