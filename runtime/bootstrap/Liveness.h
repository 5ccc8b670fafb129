//===- Liveness.h - Which ranks are still there -----------------*- C++ -*-===//
//
// Every rank holds one end of a socket pair, and the ranks of other processes
// hold the other end, which hangs up when the first is closed, by the rank or
// by the end of its process. Ranks of one process die together: a flag in
// memory suffices among them, and 33 ranks that are threads need no 33 * 33
// descriptors.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BOOTSTRAP_LIVENESS_H
#define COIL_RUNTIME_BOOTSTRAP_LIVENESS_H

#include "runtime/base/Status.h"
#include "runtime/base/UniqueFd.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <poll.h>
#include <vector>

namespace coil {

/// A random number of this process; a forked child has another than its parent.
/// Errors: SystemError.
Result<uint64_t> processCookie();

/// One rank's sign of life, which ends with the object.
class Presence {
public:
  /// Errors: SystemError.
  static Result<Presence> make();
  Presence(Presence &&) = default;
  Presence &operator=(Presence &&) = delete;
  ~Presence();

  /// Names this presence to PeerWatch::addLocal().
  uint64_t token() const { return key; }
  /// The end to send to other processes; stays owned by the object.
  int watchFd() const { return watchEnd.get(); }
  /// Closes this rank's copy of that end, once it has been sent.
  void forgetWatchFd() { watchEnd.reset(); }

private:
  Presence(UniqueFd held, UniqueFd watchEnd, uint64_t key,
           std::shared_ptr<std::atomic<bool>> hasLeft)
      : held(std::move(held)), watchEnd(std::move(watchEnd)), key(key),
        hasLeft(std::move(hasLeft)) {}

  UniqueFd held, watchEnd;
  uint64_t key;
  std::shared_ptr<std::atomic<bool>> hasLeft;
};

/// The signs of life of the other ranks.
class PeerWatch {
public:
  /// Watches a rank of another process through its Presence::watchFd().
  void addRemote(int rank, UniqueFd watchFd);
  /// Watches a rank of this process through its Presence::token().
  void addLocal(int rank, uint64_t token);

  /// The lowest rank from `from` on that is gone, if any. Any thread; allocates
  /// nothing.
  std::optional<int> findLost(int from = 0) const;

private:
  struct Local {
    int rank;
    std::shared_ptr<const std::atomic<bool>> hasLeft; ///< null: had left before
  };
  std::vector<Local> locals;
  std::vector<int> remoteRanks; ///< of remoteFds
  std::vector<UniqueFd> remoteFds;
};

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_LIVENESS_H
