//===- Job.h - Everything that a run will do --------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_JOB_H
#define COIL_TOOLS_COIL_RUN_JOB_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"
#include "tools/coil-run/Options.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace coil::run {

/// The fewest calls that are timed unless the command line says how many.
inline constexpr uint64_t fewestIterations = 5;

/// How the two buffers of a call lie.
enum class Placement : uint8_t { OutOfPlace, InPlace };
inline constexpr std::array<Placement, 2> bothPlacements{Placement::OutOfPlace, Placement::InPlace};

/// One row of the table.
struct Row {
  MemoryKind memory;
  DataType type;
  ReduceOp op;
  int root;
  /// As the call takes it.
  uint64_t count;
  /// Of the whole vector.
  uint64_t bytes;
  /// Timed calls; at most, if the command line did not say how many.
  uint64_t iterations;
  uint64_t warmup;
};

/// What all ranks do, row by row.
struct Job {
  Options options;
  Plan plan;
  /// The plan's file, which the ranks load.
  std::vector<uint8_t> planBytes;
  /// The file of its kernels, which they then trust; empty: none.
  std::vector<uint8_t> cubinBytes;
  int ranks = 0;
  /// Ranks of one process, its threads; the last process may have fewer.
  int ranksPerProcess = 1;
  /// With Target::CudaEmulated, which must be set by the caller: the library that
  /// stands in for CUDA.
  std::string emulatedLibrary;
  /// The NVRTC to load; empty: the system's.
  std::string nvrtcLibrary;
  std::vector<Row> rows;
  /// The placements that run, by Placement.
  std::array<bool, 2> runs{};
  /// Cores that ranks are pinned to, one a rank; empty: none is pinned.
  std::vector<int> cores;
};

/// Lays out the rows. Errors name the option that does not fit the plan.
Result<Job> makeJob(Options options, Plan plan, std::vector<uint8_t> planBytes);

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_JOB_H
