//===- Members.h - The ranks that met ---------------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_BOOTSTRAP_MEMBERS_H
#define COIL_RUNTIME_BOOTSTRAP_MEMBERS_H

#include "runtime/bootstrap/Bootstrap.h"
#include "runtime/bootstrap/Connection.h"
#include "runtime/bootstrap/Deadline.h"
#include "runtime/bootstrap/Liveness.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coil {

/// The ranks that met, as one of them sees them.
struct Members {
  int rank;
  int hub; ///< the rank to which all others are connected
  std::vector<PeerProcess> peers;
  /// By rank. The hub has one to every other rank, the others to the hub only.
  std::vector<std::unique_ptr<Connection>> connections;
  PeerWatch watch;

  int ranks() const { return static_cast<int>(peers.size()); }
  /// "rank 2 (pid 4711)"
  std::string describe(int rank) const;
  /// Whether descriptors of `from` need not be sent to `to`.
  bool inOneProcess(int from, int to) const {
    return peers[from].processCookie == peers[to].processCookie;
  }
};

/// "rank 2 (pid 4711)"
std::string describeRank(int64_t rank, int64_t pid);
/// "rank 3 of 8", "ranks 2, 3 and 5 of 8"; many are cut short.
std::string listRanks(std::span<const int> some, int ranks);
/// "30.0 s"
std::string inSeconds(uint64_t milliseconds);

/// An error as a message's bytes.
std::vector<uint8_t> encodeStatus(const Status &status);
/// What encodeStatus() wrote; an InternalError for other bytes.
Status decodeStatus(std::span<const uint8_t> bytes);

Status copyOf(const Status &status);

/// What the others are told when this rank gives up with `status`: what is said
/// about the meeting as a whole as it is, and a failure of this rank's own as a
/// RemoteError that names `rank`.
Status statusForOthers(const Status &status, const std::string &rank);

/// Polls `connections` (null ones are left out) for at most `timeoutMs`
/// milliseconds, then sends what can be sent. Errors: SystemError.
Status serve(std::span<const std::unique_ptr<Connection>> connections, uint64_t timeoutMs);

/// Tells every connection that this rank gives up, as far as they listen within
/// half a second, and closes them.
void sendFailure(std::vector<std::unique_ptr<Connection>> &connections, const Status &status);

/// How long a rank that ran out of time waits for the hub's word on who is late.
inline constexpr uint64_t hubGraceMs = 500;

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_MEMBERS_H
