//===- Bootstrap.cpp - How the ranks of a machine find each other ---------===//

#include "runtime/bootstrap/Bootstrap.h"

#include "runtime/bootstrap/Exchange.h"
#include "runtime/bootstrap/Meeting.h"

namespace coil {

struct Bootstrap::State {
  Members members;
  uint64_t exchanges = 0;
  Status failure; ///< of the exchange after which none can succeed
  /// Destroyed first: whoever sees a connection end finds this rank lost.
  Presence self;
};

Bootstrap::Bootstrap(std::unique_ptr<State> state) : state(std::move(state)) {}
Bootstrap::~Bootstrap() = default;

Result<std::unique_ptr<Bootstrap>> Bootstrap::connect(const UniqueId &id, int rank, int ranks,
                                                      uint64_t timeoutMs) {
  constexpr int mostRanks = 1 << 16;
  if (ranks < 1 || ranks > mostRanks)
    return Status::error(StatusCode::InvalidArgument, "expected 1 to {} ranks, found {}", mostRanks,
                         ranks);
  if (rank < 0 || rank >= ranks)
    return Status::error(StatusCode::InvalidArgument, "expected a rank of 0 to {}, found {}",
                         ranks - 1, rank);
  COIL_ASSIGN_OR_RETURN(Presence self, Presence::make());
  COIL_ASSIGN_OR_RETURN(Members members, meet(id, rank, ranks, self, timeoutMs));
  self.forgetWatchFd();
  auto state = std::make_unique<State>(State{std::move(members), 0, {}, std::move(self)});
  return std::unique_ptr<Bootstrap>(new Bootstrap(std::move(state)));
}

int Bootstrap::rank() const { return state->members.rank; }
int Bootstrap::ranks() const { return state->members.ranks(); }
const PeerProcess &Bootstrap::peer(int rank) const { return state->members.peers[rank]; }

Result<std::vector<Parcel>> Bootstrap::exchange(const char *what, Parcel mine, uint64_t timeoutMs,
                                                const std::function<Status()> &interrupted) {
  if (!state->failure.isOk())
    return copyOf(state->failure);
  ExchangeCall call{what, ++state->exchanges, Deadline(timeoutMs), interrupted};
  ExchangeResult result = exchangeAmong(state->members, call, std::move(mine));
  if (result.status.isOk())
    return std::move(result.contributions);
  if (!result.mayGoOn)
    state->failure = copyOf(result.status);
  return std::move(result.status);
}

std::optional<int> Bootstrap::findLostPeer(int from) const {
  return state->members.watch.findLost(from);
}

} // namespace coil
