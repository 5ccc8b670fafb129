//===- DeviceLayout.h - Where a plan's channels lie on devices --*- C++ -*-===//
//
// Each rank has two pieces of memory a loaded plan that others use: one on its
// device and one in shared host memory. Slots and signal counters lie at the
// receiver, counters of freed slots at the sender, both on the device if the two
// ranks' devices reach each other, and else on the host. All ranks compute the
// same layout.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_DEVICELAYOUT_H
#define COIL_RUNTIME_EXECUTOR_CUDA_DEVICELAYOUT_H

#include "runtime/base/Status.h"
#include "runtime/channel/ChannelSharing.h"
#include "runtime/kernels/device/Launch.h"

#include <array>
#include <vector>

namespace coil::cuda {

using device::Protocol;

/// Which ranks' devices read and write each other's memory.
class Reach {
public:
  /// Every rank reaches every other.
  explicit Reach(uint32_t ranks) : ranks(ranks), matrix(size_t{ranks} * ranks, true) {}
  bool between(uint32_t a, uint32_t b) const { return matrix[size_t{a} * ranks + b]; }
  bool everywhere() const;
  /// All that `rank` reaches are on the device's side of a layout.
  bool fromAll(uint32_t rank) const;
  void remove(uint32_t a, uint32_t b) {
    matrix[size_t{a} * ranks + b] = matrix[size_t{b} * ranks + a] = false;
  }

private:
  uint32_t ranks;
  std::vector<bool> matrix;
};

/// What begins a rank's shared host memory. Zeroed memory is a valid, new one.
struct PlanBoard {
  device::HostBoard board;
  /// Not 0 once the owner has no call in flight and will have none.
  alignas(128) uint64_t released;
};

/// What decides a layout besides the plan.
struct LayoutTerms {
  uint32_t instances = 1;
  uint64_t tileBytes = 0; ///< at most; a multiple of 128
  std::vector<Protocol> protocols;
};

class DeviceLayout {
public:
  /// InvalidPlan if even small tiles would need more memory than a rank may have.
  static Result<DeviceLayout> compute(const Plan &plan, const LayoutTerms &terms,
                                      const Reach &reach);

  struct Place {
    bool onHost = false;
    uint64_t offset = 0;
  };
  const ChannelSharing &channels() const { return sharing; }
  /// Staged: in the destination's memory.
  Place slots(uint32_t shared, Protocol protocol, uint32_t instance) const;
  /// Staged: in the source's memory.
  Place freed(uint32_t shared, Protocol protocol, uint32_t instance) const;
  /// P2p: in the destination's memory.
  Place counter(uint32_t shared, uint32_t instance) const;
  /// `rank`'s entry records of all ranks.
  Place entries(uint32_t rank) const { return ranks[rank].entries; }
  /// Scratch of all instances, on the device.
  uint64_t scratchOffset(uint32_t rank) const { return ranks[rank].scratch; }

  uint64_t tileBytes() const { return terms.tileBytes; }
  uint32_t instances() const { return terms.instances; }
  /// In order; the ends of a staged channel follow it.
  const std::vector<Protocol> &protocols() const { return terms.protocols; }
  uint64_t scratchChunks() const { return chunksOfScratch; }
  /// Never 0.
  uint64_t deviceBytes(uint32_t rank) const { return ranks[rank].deviceBytes; }
  /// Whole pages.
  uint64_t hostBytes(uint32_t rank) const { return ranks[rank].hostBytes; }

  /// The ends of channels that a rank has, as RankState::sendEnds counts them: a
  /// p2p channel has one, a staged one has one a protocol.
  struct End {
    uint32_t shared;
    Protocol protocol; ///< Simple for p2p
  };
  struct RankEnds {
    std::vector<End> sends, receives;
    /// By shared channel: its first end, or ~0u.
    std::vector<uint32_t> firstSend, firstReceive;
  };
  RankEnds endsOf(uint32_t rank) const;
  /// Position of `protocol` in protocols().
  uint32_t indexOf(Protocol protocol) const;

private:
  struct ChannelPlace {
    bool onHost = false;
    uint64_t counters = 0;                                 ///< p2p counters, or freed ones
    std::array<uint64_t, device::numProtocols> slots = {}; ///< by position in protocols
  };
  struct RankPlace {
    uint64_t deviceBytes = 0, hostBytes = 0, scratch = 0;
    Place entries;
  };

  ChannelSharing sharing;
  LayoutTerms terms;
  uint64_t chunksOfScratch = 0;
  std::vector<ChannelPlace> places;
  std::vector<RankPlace> ranks;
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_DEVICELAYOUT_H
