//===- SetupExchange.h - What set-up calls exchange -------------*- C++ -*-===//
//
// Set-up calls are collective and must end alike on all ranks: either all
// succeed, or all say why not and the communicator stays as it was. A rank whose
// part has failed takes part in the exchange nonetheless.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CHANNEL_SETUPEXCHANGE_H
#define COIL_RUNTIME_CHANNEL_SETUPEXCHANGE_H

#include "runtime/bootstrap/Bootstrap.h"
#include "runtime/channel/Group.h"
#include "runtime/memory/SharedSegment.h"

#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace coil {

/// Shared memory that a rank offers to all. Without a base it is no memory.
struct SegmentOffer {
  std::byte *base = nullptr; ///< the whole memory, here
  size_t bytes = 0;
  int fd = -1;     ///< the whole memory; not owned
  uint64_t id = 0; ///< never given twice in this process
};

/// A rank's memory as this process sees it.
struct PeerSegment {
  std::byte *data = nullptr;
  size_t bytes = 0;
  uint64_t id = 0;
  /// Keeps `data` alive. Null for memory of users of this process, and for none.
  std::shared_ptr<SharedSegment> holder;
};

class SetupExchange {
public:
  SetupExchange(Bootstrap &bootstrap, const Group &group) : bootstrap(bootstrap), group(group) {}

  /// The set-up call that the following exchanges belong to.
  void begin(uint64_t callSequence) { sequence = callSequence; }

  /// Every rank's value where all have one; else, on all ranks, this rank's own
  /// error or that of the lowest rank that has one, named. If the exchange
  /// itself fails, all ranks have been poisoned with the error.
  template <typename T> Result<std::vector<T>> gather(const char *what, const Result<T> &mine);

  /// The same without values.
  Status agree(const char *what, const Status &mine);

  /// Maps every rank's segment. Ranks of one process share the mapping that its
  /// owner has, for as long as one of them holds it.
  Result<std::vector<PeerSegment>> share(const char *what,
                                         Result<std::shared_ptr<SharedSegment>> mine);

  /// A mapping of a rank's memory that was made before, or null.
  using Reuse = std::function<std::shared_ptr<SharedSegment>(int rank, uint64_t id)>;
  /// Maps every rank's user memory, which outlives all accesses by agreement.
  Result<std::vector<PeerSegment>> shareUserMemory(const char *what, Result<SegmentOffer> mine,
                                                   const Reuse &reuse);

private:
  struct Blob {
    const void *value;
    size_t size;
    std::vector<UniqueFd> fds;
  };
  Result<std::vector<Parcel>> gatherBlobs(const char *what, const Status &mine, Blob blob);
  Result<std::vector<PeerSegment>> mapOffers(
      const char *what, const Result<SegmentOffer> &mine,
      const std::function<Result<PeerSegment>(int rank, const SegmentOffer &offer, UniqueFd fd)>
          &mapOne);
  bool isInThisProcess(int rank) const;

  Bootstrap &bootstrap;
  const Group &group;
  uint64_t sequence = 0;
};

template <typename T>
Result<std::vector<T>> SetupExchange::gather(const char *what, const Result<T> &mine) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);
  T nothing{};
  COIL_ASSIGN_OR_RETURN(
      std::vector<Parcel> blobs,
      gatherBlobs(what, mine.status(), {mine.isOk() ? &*mine : &nothing, sizeof(T), {}}));
  std::vector<T> values(blobs.size());
  for (size_t i = 0; i < blobs.size(); ++i)
    std::memcpy(&values[i], blobs[i].bytes.data(), sizeof(T));
  return values;
}

} // namespace coil

#endif // COIL_RUNTIME_CHANNEL_SETUPEXCHANGE_H
