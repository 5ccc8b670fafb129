//===- Plan.h - A plan in memory --------------------------------*- C++ -*-===//
//
// The plan as plain structures, which the reader fills after checking
// everything and the executors use without further checks. plan.fbs says what
// each field means.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_PLAN_PLAN_H
#define COIL_RUNTIME_PLAN_PLAN_H

#include "runtime/base/MessageProtocol.h"
#include "runtime/base/OwnContract.h"
#include "runtime/base/Symmetry.h"
#include "runtime/base/Types.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coil {

enum class Transport : uint8_t { P2P, Staged };
enum class OperandKind : uint8_t { Input, Output, Scratch, Slot };
enum class OpKind : uint8_t {
  Copy,
  Reduce,
  Put,
  Get,
  GetReduce,
  Push,
  Pop,
  PopReduce,
  Signal,
  Wait,
  Meet,
  Barrier
};
inline constexpr int numOpKinds = 12;

/// What a plan may have at most.
inline constexpr uint32_t maxPlanRanks = 1u << 20;
inline constexpr uint32_t maxPlanWorkers = 1024;
inline constexpr uint32_t maxPlanSlots = 4096;

/// "p2p" and "staged".
const char *nameOf(Transport transport);
/// As the exec dialect writes them: "copy", "get_reduce", ...
const char *nameOf(OpKind kind);
/// "input", "output", "scratch" and "slot".
const char *nameOf(OperandKind kind);

/// A chunk of memory, or the head slot of a channel; see plan.fbs.
struct PlanOperand {
  OperandKind kind = OperandKind::Input;
  uint32_t rank = 0;
  uint32_t index = 0;

  auto operator<=>(const PlanOperand &) const = default;
};

struct PlanOp {
  OpKind kind = OpKind::Copy;
  bool complete = false;
  uint32_t length = 0;
  PlanOperand destination;
  uint32_t firstOperand = 0;
  uint32_t operandCount = 0;
  uint32_t channel = 0;
  uint32_t location = 0;

  auto operator<=>(const PlanOp &) const = default;
};

struct PlanChannel {
  uint32_t sourceRank = 0;
  uint32_t sourceWorker = 0;
  uint32_t destinationRank = 0;
  uint32_t destinationWorker = 0;
  Transport transport = Transport::P2P;
  uint32_t slots = 0;

  bool operator==(const PlanChannel &) const = default;
};

struct PlanWorker {
  std::vector<PlanOp> prologue, body, epilogue;
  std::vector<PlanOperand> operands;

  auto operator<=>(const PlanWorker &) const = default;
};

struct PlanProgram {
  std::vector<PlanWorker> workers;

  auto operator<=>(const PlanProgram &) const = default;
};

struct PlanVariant {
  uint32_t root = 0;
  bool inPlace = false;
  Transport transport = Transport::P2P;
  std::vector<PlanChannel> channels;
  std::vector<PlanProgram> programs;
  std::vector<uint32_t> programOfKind;
  std::vector<uint32_t> scratchChunks;
  std::vector<SymmetryDigit> digits;

  bool operator==(const PlanVariant &) const = default;
};

struct PlanLocation {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;

  bool operator==(const PlanLocation &) const = default;
};

struct Plan {
  std::string name;
  Collective collective = Collective::AllReduce;
  uint32_t ranks = 0;
  uint32_t chunks = 0;
  std::string producer;
  std::vector<PlanVariant> variants;
  std::vector<PlanLocation> locations;
  /// Of Collective::Custom; empty for others.
  OwnContract contract;
  /// Of staged variants on GPUs; none: the runtime chooses for each call.
  std::optional<MessageProtocol> protocol;
  /// Checksum of the file's contents: ranks compare it to know that they loaded
  /// the same plan. Filled by the reader.
  uint64_t digest = 0;

  /// The variant for a call, or null if the plan has none.
  const PlanVariant *find(uint32_t root, bool inPlace, Transport transport) const;

  /// Segments of a rank's buffers, as segmentCounts() gives them for collectives.
  SegmentCounts segments() const;
  /// The same, 0 for a buffer that a rank other than the root does not have.
  SegmentCounts segments(bool isRoot) const;

  bool operator==(const Plan &) const = default;
};

} // namespace coil

#endif // COIL_RUNTIME_PLAN_PLAN_H
