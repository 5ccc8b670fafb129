//===- Bootstrap.h - How the ranks of a machine find each other -*- C++ -*-===//
//
// Ranks meet at an abstract Unix socket, which leaves no file behind. The first
// to come is the hub, to which the others connect: it alone sees who is missing
// and tells all of them. Ranks may be processes, threads of one, or a mixture.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BOOTSTRAP_BOOTSTRAP_H
#define COIL_RUNTIME_BOOTSTRAP_BOOTSTRAP_H

#include "runtime/base/Status.h"
#include "runtime/base/UniqueFd.h"
#include "runtime/bootstrap/UniqueId.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace coil {

/// What one rank gives to an exchange.
struct Parcel {
  std::vector<uint8_t> bytes;
  std::vector<UniqueFd> fds;
};

struct PeerProcess {
  int pid;
  /// Equal for two ranks exactly if they are threads of one process.
  uint64_t processCookie;
};

class Bootstrap {
public:
  /// Blocks until all `ranks` ranks of this id came. `timeoutMs` is in
  /// milliseconds, 0 for ever; the first rank to run out of time ends the
  /// attempt for all that came.
  ///
  /// Errors, the same on every rank that came: Timeout, naming the ranks that
  /// did not come; InvalidUsage for a rank given twice or ranks that disagree
  /// on `ranks`; RemoteError, naming a rank that died or failed meanwhile.
  /// InvalidArgument for no or more than 65536 ranks and for a rank outside
  /// 0..ranks-1. SystemError. Others who
  /// connect to the socket are turned away without harm.
  static Result<std::unique_ptr<Bootstrap>> connect(const UniqueId &id, int rank, int ranks,
                                                    uint64_t timeoutMs);

  /// Leaves: every other rank finds this one lost from now on.
  ~Bootstrap();
  Bootstrap(const Bootstrap &) = delete;
  Bootstrap &operator=(const Bootstrap &) = delete;

  int rank() const;
  int ranks() const;
  const PeerProcess &peer(int rank) const;

  /// Collective, one at a time. Gives every rank what all contributed, in the
  /// order of ranks; any number of bytes and descriptors. Descriptors reach
  /// other PROCESSES only: what another rank of the own process contributes
  /// comes with its bytes but without descriptors, as they are open here under
  /// the numbers they have there (send those, or addresses, in the bytes). The
  /// own contribution comes back as it was given.
  ///
  /// `what` names the exchange in errors. `timeoutMs` is in milliseconds, 0 for
  /// ever. `interrupted` may be null; it is asked at least every 50 ms, and its
  /// error ends the exchange.
  ///
  /// Errors: InvalidUsage on every rank if they are in exchanges of different
  /// names; the next exchange may succeed. After any other error all later
  /// exchanges fail with it: RemoteError, naming a rank that died or left
  /// before it contributed, or that failed, and why; Timeout, naming ranks that
  /// did not enter; SystemError, for descriptors above the process's limit too.
  Result<std::vector<Parcel>> exchange(const char *what, Parcel mine, uint64_t timeoutMs,
                                       const std::function<Status()> &interrupted);

  /// The lowest other rank, from rank `from` on, whose process is gone or that has
  /// left, if any. Does not block, allocates nothing, any thread; costs one
  /// poll(2), none if all ranks are threads of this process. A child that a rank's
  /// process forked (without exec) hides that process's death, though not its
  /// leaving.
  std::optional<int> findLostPeer(int from = 0) const;

private:
  struct State;
  explicit Bootstrap(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_BOOTSTRAP_H
