//===- Calls.h - Operations as calls of the device library ------*- C++ -*-===//
//
// The alphabet of generated kernels: each operation of a plan is one call of
// Worker (runtime/kernels/device/Worker.h), a Meet one for each rank. A call has a
// shape, which is what its text says apart from numbers, and numbers.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CODEGEN_CALLS_H
#define COIL_RUNTIME_CODEGEN_CALLS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace coil::codegen {

enum class CallKind : uint8_t {
  Meet,    ///< numbers: rank
  Bind,    ///< slot, rank, segments of its input, of its output that may be used
  Copy,    ///< length; then destination and operand
  Reduce,  ///< length; then destination and operands
  Push,    ///< send end, length; then operand
  Signal,  ///< send end
  Wait,    ///< receive end
  Barrier, ///< none
};

enum class PlaceKind : uint8_t {
  Input,       ///< numbers: chunk in the segment, segment
  Output,      ///< chunk, segment
  Scratch,     ///< index
  PeerInput,   ///< slot, chunk, segment
  PeerOutput,  ///< slot, chunk, segment
  PeerScratch, ///< rank, index
  Head,        ///< receive end
};

struct CallShape {
  CallKind kind = CallKind::Barrier;
  bool complete = false;
  uint32_t location = 0; ///< in Plan::locations
  std::optional<PlaceKind> destination;
  std::vector<PlaceKind> operands;

  bool operator==(const CallShape &) const = default;
};

/// Numbers of a call before those of its places.
constexpr size_t numberCount(CallKind kind) {
  constexpr std::array<uint8_t, 8> counts{1, 4, 1, 1, 2, 1, 1, 0};
  return counts[static_cast<size_t>(kind)];
}

constexpr size_t numberCount(PlaceKind kind) {
  constexpr std::array<uint8_t, 7> counts{2, 2, 1, 3, 3, 2, 1};
  return counts[static_cast<size_t>(kind)];
}

/// All numbers of a call: its own, the destination's, each operand's.
size_t numberCount(const CallShape &shape);

/// The sections of a worker's program.
inline constexpr size_t prologueSection = 0, bodySection = 1, epilogueSection = 2;
inline constexpr size_t numSections = 3;

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_CALLS_H
